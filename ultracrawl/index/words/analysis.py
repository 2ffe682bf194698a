"""Tokenises and folds text; shared by index and query, so that both produce the same terms."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

_CJK = (
    "\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ecd\u1000-\u103f\u1780-\u17d3"
)
"""Scripts that are indexed as bigrams: Han, Kana, Bopomofo, Hangul; Thai, Lao, Burmese and Khmer."""


def _combining_marks() -> str:
    """Return the marks that are part of the surrounding word, as ranges of a character class.

    Combining marks of scripts with spaces, the soft hyphen, and the joiners of Persian and Indic scripts.
    """
    marks = [c for c in range(0x300, 0x1E00) if unicodedata.category(chr(c)) in ("Mn", "Mc", "Me")]
    pieces, start = [], marks[0]
    for this, after in zip(marks, [*marks[1:], 0], strict=True):
        if after != this + 1:
            pieces.append(f"{chr(start)}-{chr(this)}")
            start = after
    return "".join(pieces) + "\xad\u200c\u200d"


_MARKS = _combining_marks()
WORD_CHARACTERS = rf"\w{_MARKS}"
"""Characters that a word may continue with, for use in a character class."""

WORD_PATTERN = rf"\w+(?:[{_MARKS}]+\w*)*"
"""A word is a run of letters, digits and underscores of any script, with their marks."""

_LATIN_WORDS = (
    "".join(c if c.isalnum() or c == "_" else " " for c in map(chr, range(256))).lower().encode("latin-1")
)
"""Translation table for Latin-1: letters in lower case, blanks between words."""
_SOFT_HYPHEN = b"\xad"
_BLANKS_HANDLER = "ultracrawl.blanks"
"""Name of the error handler that replaces characters outside Latin-1 by blanks, unless they can be part of a word."""
PAIRED_RUN = f"[{_CJK}]+"
"""Characters that are indexed in pairs.

This and `WORD_PATTERN` take long to compile, so `re` compiles them when a text needs them.
"""


def words(text: str) -> list[str]:
    """Return the terms of a text in order; the index of a term is its position.

    Terms are in lower case with accents folded. No word is dropped, so that every phrase can be matched. A run of
    Chinese, Japanese, Korean or Thai characters gives all bigrams and its last character: any part of the run is then a
    phrase of bigrams, and a single character is a prefix of a term.
    """
    return tokenise_and_fold(text)[1]


def tokenise_and_fold(text: str) -> tuple[list[str], list[str]]:
    """Return the words of a text as `tokenise` and as `words` return them; the same list if these are equal."""
    data = _latin_words(text)
    if data is None:
        found = _tokenise_any(text)
        return found, fold_all(found)
    found = data.decode("latin-1").split()
    return found, found if data.isascii() else fold_all(found)


def fold_all(found: list[str]) -> list[str]:
    """Return the folded words."""
    return list(map(_FOLDED.__getitem__, found))


def tokenise(text: str) -> list[str]:
    """Return the words of a text in lower case with accents, which stemmers need; otherwise as `words`."""
    return tokenise_and_fold(text)[0]


def _latin_words(text: str) -> bytes | None:
    """Return the words of a text as Latin-1, at their offsets, with blanks between; None if it has other letters.

    This takes a third of the time of a regular expression.
    """
    try:
        data = text.encode("latin-1", _BLANKS_HANDLER)
    except UnicodeEncodeError:
        return None
    return None if _SOFT_HYPHEN in data else data.translate(_LATIN_WORDS)


def register_replacements(handler: str, replacements: Mapping[str, str]) -> None:
    """Register an error handler of `codecs` that replaces runs of characters; an empty replacement is an error."""

    def replacement(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeEncodeError)
        found = replacements[error.object[error.start : error.end]]
        if not found:
            raise error
        return found, error.end

    codecs.register_error(handler, replacement)


def _tokenise_any(text: str) -> list[str]:
    """Return the words of a text with any letters.

    Words are split first and lowered one by one where it makes a difference: lowering the dotted capital I of Turkish
    adds a character, and a capital sigma is lowered depending on its neighbours.
    """
    lowered = text.lower()
    if len(lowered) == len(text) and "Σ" not in text:
        found = re.findall(WORD_PATTERN, lowered)
    else:
        found = [word.lower() for word in re.findall(WORD_PATTERN, text)]
    return list(_bigrams(found)) if _has_cjk(lowered) else found


def fold(word: str) -> str:
    """Return a word in lower case without accents, normalised to NFKC.

    Accents are removed from Latin and Greek letters, vowel points from Hebrew and Arabic ones. In other scripts the
    result would be a different letter.
    """
    if word.isascii():
        return word
    composed = unicodedata.normalize("NFKC", word).lower()
    folded = "".join(map(_fold_character, composed)).translate(_LETTERS)
    return "".join(folded.split()) or word


def folded_letters() -> dict[int, str]:
    """Return the folding of single characters, for `str.translate`."""
    letters = map(chr, (*range(0xC0, 0x250), *range(0x370, 0x400), *range(0x1E00, 0x2000)))
    folded = {ord(letter): fold(letter) for letter in letters if fold(letter) != letter}
    return folded | {ord(letter): text for letter, text in _LETTERS_AND_MARKS.items()}


def is_word(text: str) -> bool:
    """Whether a text is one word, not an operator of an identifier."""
    return re.fullmatch(WORD_PATTERN, text) is not None


def is_bigram(word: str) -> bool:
    """Whether a word is a bigram, or the last character, of a CJK run."""
    return len(word) <= 2 and not word.isascii() and _has_cjk(word)


def replace_surrogates(text: str) -> str:
    """Return the text with lone surrogates, which cannot be encoded, replaced by question marks."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text


_MAX_CACHED_LENGTH = 60
"""Characters of the longest word that is cached."""
_Word = TypeVar("_Word")
_Result = TypeVar("_Result")


class WordCache(dict[_Word, _Result]):
    """A cache of a function of words; cleared when it reaches its limit.

    Long words, which few documents share, are not cached.
    """

    def __init__(self, function: Callable[[_Word], _Result], limit: int = 200_000) -> None:
        super().__init__()
        self._function = function
        self._limit = limit

    def __missing__(self, word: _Word) -> _Result:
        if isinstance(word, str | bytes) and len(word) > _MAX_CACHED_LENGTH:
            return self._function(word)
        if len(self) >= self._limit:
            self.clear()
        result = self[word] = self._function(word)
        return result


_FOLDED = WordCache(fold)
_BLANKS_FOR_RUN = WordCache[str, str](
    lambda run: "" if re.search(f"[{WORD_CHARACTERS}]", run) else " " * len(run)
)
"""Blanks for a run of characters outside Latin-1; empty if one can be part of a word."""
register_replacements(_BLANKS_HANDLER, _BLANKS_FOR_RUN)


def _has_cjk(text: str) -> bool:
    return re.search(PAIRED_RUN, text) is not None


def _bigrams(found: Iterable[str]) -> Iterator[str]:
    for word in found:
        if word.isascii() or not _has_cjk(word):
            yield word
            continue
        at = 0
        for run in re.finditer(PAIRED_RUN, word):
            if run.start() > at:
                yield word[at : run.start()]
            characters = run.group()
            yield from (characters[i : i + 2] for i in range(len(characters)))
            at = run.end()
        if at < len(word):
            yield word[at:]


def _fold_character(character: str) -> str:
    if character < "\u0400" or "\u1e00" <= character <= "\u1fff":
        plain = unicodedata.normalize("NFD", character)
        return plain if len(plain) == 1 else plain[0]
    return character


_LETTERS_AND_MARKS = (
    {
        "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ς": "σ",
        "ё": "е", "أ": "ا", "إ": "ا", "آ": "ا", "ى": "ي", "ة": "ه", "ـ": "",
    }
    | dict.fromkeys(map(chr, (*range(0x300, 0x370), *range(0x591, 0x5C8), *range(0x64B, 0x660), 0x670)), "")
    | dict.fromkeys("\xad\u200c\u200d", "")
)  # fmt: skip
_LETTERS = str.maketrans(_LETTERS_AND_MARKS)
