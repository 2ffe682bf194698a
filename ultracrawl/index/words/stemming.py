"""Stemmers by language (Snowball's), and language codes."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache, partial
from threading import Lock

from ultracrawl.index.words.analysis import WordCache, fold

_ALGORITHMS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "st": "sesotho", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip

LANGUAGES = tuple(_ALGORITHMS)
"""Languages (ISO 639-1) with a stemmer."""

CHANGE_BEGINNINGS = frozenset(("ar", "fa", "ga", "id", "nl", "sr", "st", "ta", "yi"))
"""Languages in which forms of a word may begin with other letters (Dutch `werken`, `gewerkt`)."""

_SCRIPTS = (
    ("\u0370", "\u03ff", ("el",)),
    ("\u0400", "\u052f", ("ru", "sr")),
    ("\u0530", "\u058f", ("hy",)),
    ("\u0590", "\u05ff", ("yi",)),
    ("\u0600", "\u06ff", ("ar", "fa")),
    ("\u0900", "\u097f", ("hi", "ne")),
    ("\u0b80", "\u0bff", ("ta",)),
    ("\u1f00", "\u1fff", ("el",)),
)
"""First and last letter of scripts, and the languages that are written in them."""
_OTHERS = {code for *_, codes in _SCRIPTS for code in codes} - {"sr"}  # Serbian has two scripts
_LATIN = tuple(code for code in LANGUAGES if code not in _OTHERS)

_ALIASES = {
    "nb": "no",
    "nn": "no",
    "dan": "da",
    "deu": "de",
    "eng": "en",
    "fra": "fr",
    "rus": "ru",
    "spa": "es",
}
_SHORTEST, _LONGEST = 3, 30
_stemming = Lock()
"""Held while a word is stemmed: a stemmer has a buffer of its own, and searches run in threads."""


def language_code(tag: str) -> str:
    """Return the ISO 639-1 code of a language tag such as `en-GB` or `nb`."""
    code = tag.strip().lower().replace("_", "-").partition("-")[0]
    return _ALIASES.get(code, code)


def language_of(tag: str) -> str:
    """Return the code of a language tag if the language has a stemmer, else an empty string."""
    code = language_code(tag)
    return code if code in _ALGORITHMS else ""


@cache
def stem_terms(language: str) -> WordCache[str, str]:
    """Return a cache of the stem terms of a language's words."""
    return WordCache(partial(stem_term, language))


def stem_term(language: str, word: str) -> str:
    """Return the stem term of a word (lower case, with accents).

    It is empty if the stem is the word itself: then the word, in documents of this language, represents its stem.
    """
    if not _is_stemmed(word):
        return ""
    stem = _stemmer(language)
    with _stemming:
        stemmed = fold(stem(word))
    return f"{language}:{stemmed}" if stemmed and stemmed != fold(word) else ""


@lru_cache(maxsize=1000)
def stems(word: str) -> tuple[tuple[str, str], ...]:
    """Return (language, stem) of a word for every language in which it may have inflected forms."""
    if not _is_stemmed(word):
        return ()
    found = ((language, stem_terms(language)[word]) for language in _written_in(word[0]))
    return tuple((language, term.partition(":")[2] or fold(word)) for language, term in found)


def _is_stemmed(word: str) -> bool:
    """Return whether a word has letters (and marks) only, and a length at which inflection makes sense."""
    return _SHORTEST <= len(word) <= _LONGEST and (
        word.isalpha() or (not word.isascii() and all(map(_is_letter_or_mark, word)))
    )


def _is_letter_or_mark(character: str) -> bool:
    return unicodedata.category(character)[0] in "LM" or character == "\u200c"


def _written_in(letter: str) -> tuple[str, ...]:
    return next((codes for first, last, codes in _SCRIPTS if first <= letter <= last), _LATIN)


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    import Stemmer  # noqa: PLC0415 - loaded for the first stem

    made: Callable[[str], str] = Stemmer.Stemmer(_ALGORITHMS[language], 0).stemWord
    return made
