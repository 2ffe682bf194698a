"""Stemmers by language, and language codes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

from ultracrawl.index.words.analysis import WordCache, fold

LANGUAGES = ("ar", "da", "de", "en", "es", "fi", "fr", "hu", "it", "nl", "no", "pt", "ro", "ru", "sv")
"""Languages (ISO 639-1) with a stemmer."""

_SCRIPT_RANGES = {"ar": ("\u0600", "\u06ff"), "ru": ("\u0400", "\u04ff")}

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


def language_code(tag: str) -> str:
    """Return the ISO 639-1 code of a language tag such as `en-GB` or `nb`."""
    code = tag.strip().lower().replace("_", "-").partition("-")[0]
    return _ALIASES.get(code, code)


def language_of(tag: str) -> str:
    """Return the code of a language tag if the language has a stemmer, else an empty string."""
    code = language_code(tag)
    return code if code in LANGUAGES else ""


@cache
def stem_terms(language: str) -> WordCache[str, str]:
    """Return a cache of the stem terms of a language's words (lower case, with accents).

    The term is empty if the stem is the word itself: then the word, in documents of this language, represents its stem.
    """
    stem = _stemmer(language)

    def make(word: str) -> str:
        if not (_SHORTEST <= len(word) <= _LONGEST and word.isalpha()):
            return ""
        stemmed = fold(stem(word))
        return f"{language}:{stemmed}" if stemmed and stemmed != fold(word) else ""

    return WordCache(make)


@lru_cache(maxsize=1000)
def stems(word: str) -> tuple[tuple[str, str], ...]:
    """Return (language, stem) of a word for every language in which it may have inflected forms."""
    if not (_SHORTEST <= len(word) <= _LONGEST and word.isalpha()):
        return ()
    script = [name for name, (first, last) in _SCRIPT_RANGES.items() if first <= word[0] <= last]
    languages = script or [name for name in LANGUAGES if name not in _SCRIPT_RANGES]
    found = ((language, stem_terms(language)[word]) for language in languages)
    return tuple((language, term.partition(":")[2] or fold(word)) for language, term in found)


def _stemmer(language: str) -> Callable[[str], str]:
    from whoosh.lang import stemmer_for_language  # noqa: PLC0415 - loaded for the first stem

    # Porter's first algorithm takes a quarter of the time of the second one and differs in few words.
    made: Callable[[str], str] = stemmer_for_language("en_porter" if language == "en" else language)
    return made
