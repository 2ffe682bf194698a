"""Stems of words by language: what the inflected forms of a word have in common."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

from ultracrawl.index.words.analysis import WordCache, fold

LANGUAGES = ("ar", "da", "de", "en", "es", "fi", "fr", "hu", "it", "nl", "no", "pt", "ro", "ru", "sv")
"""The languages (ISO 639-1) whose words are stemmed."""

_OTHER_SCRIPTS = {"ar": ("\u0600", "\u06ff"), "ru": ("\u0400", "\u04ff")}

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
    """Return the language of a tag such as `en-GB` or `nb` by its short code."""
    code = tag.strip().lower().replace("_", "-").partition("-")[0]
    return _ALIASES.get(code, code)


def language_of(tag: str) -> str:
    """Return the language of a tag such as `en-GB` if its words are stemmed, else an empty string."""
    code = language_code(tag)
    return code if code in LANGUAGES else ""


@cache
def stem_terms(language: str) -> WordCache[str, str]:
    """Return the stem terms of a language's words (lower case, accents kept), made and remembered on demand.

    The term of a word is empty when its stem is the word itself: then the word, in documents of
    this language, stands for its stem.
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
    """Return (language, stem) of a word for every language in which it may stand for other forms."""
    if not (_SHORTEST <= len(word) <= _LONGEST and word.isalpha()):
        return ()
    script = [name for name, (first, last) in _OTHER_SCRIPTS.items() if first <= word[0] <= last]
    languages = script or [name for name in LANGUAGES if name not in _OTHER_SCRIPTS]
    found = ((language, stem_terms(language)[word]) for language in languages)
    return tuple((language, term.partition(":")[2] or fold(word)) for language, term in found)


def _stemmer(language: str) -> Callable[[str], str]:
    from whoosh.lang import stemmer_for_language  # noqa: PLC0415 - not loaded until a word is stemmed

    # Porter's first algorithm takes a fourth of the second one's time and differs in few words.
    made: Callable[[str], str] = stemmer_for_language("en_porter" if language == "en" else language)
    return made
