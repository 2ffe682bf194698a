"""Marks and sketches of texts: what the words of a document are known by when its text is not at hand any more.

A text is compared as a set of words, each hashed to a mark. A sketch is the smallest marks of a set (bottom-k sketch,
Cohen and Kaplan 2007): a short text is its own sketch, and of a longer one every word has the same chance to be in it.
With the compiled core both are made by it. They are the same without it.
"""

from __future__ import annotations

import logging
import re
from array import array
from collections.abc import Collection, Iterable, Iterator
from urllib.parse import unquote_to_bytes, urlsplit

from xxhash import xxh3_64_intdigest

from ultracrawl.system.compiled_core import usable_core

logger = logging.getLogger(__name__)

MAX_CHARS = 20_000
"""A longer text is no error page; only the words of so much of it count."""
BEGINNING, PIECE = 3_000, 1_000
"""Characters of a longer text that are sketched: its beginning, a piece in the middle and one at the end."""
SKETCH_SIZE = 24
"""Marks of the sketch that is stored with a document."""
WITHOUT_WORDS = b"\0"
"""The sketch of a document without words; an empty one says that its words are not known."""
_BLANK, _UNDERSCORE = ord(" "), ord("_")
_BLANKED = bytes(
    code if code > 127 or code == _UNDERSCORE or chr(code).isalnum() else _BLANK
    for code in bytes(range(256)).lower()
)
"""Makes ASCII lower case, and blank what no word consists of."""
_WORD = re.compile(r"\w+")
_VOLATILE = re.compile(r"^(?:[^\n\d]*\d.*|[a-f]{8,}|[\x00-\x09\x0b-\x7f]{25,})$", re.MULTILINE)
"""Numbers, hexadecimal and other identifiers in lines of a word. (Languages without spaces have long words.)"""
_MASK = 0xFFFF_FFFE
_LIKELY = 2 * SKETCH_SIZE << 32
"""Divided by the number of words of a text, a bound: hashes are spread evenly, and nearly always enough are below."""
_ITEM = array("I").itemsize

Marks = frozenset[int]
UNKNOWN: Marks = frozenset([1 << 32])
"""A mark that no word has."""


class Words:
    """The words of some texts.

    A mark is 32 bits of the hash of a word in lower case. Its lowest bit is set for words that may differ between equal
    texts.
    """

    def __init__(self, *texts: str) -> None:
        data = " ".join([text[:MAX_CHARS] for text in texts]).encode("utf-8", "replace")
        self._packed = _by_core(data)
        self._words = _words_of(data) if self._packed is None else set[bytes]()

    @property
    def marks(self) -> Collection[int]:
        """The marks of all words, in any order."""
        return _marks_of(self._words) if self._packed is None else self._packed

    @property
    def sketch(self) -> bytes:
        """The smallest marks, 4 bytes each; empty if there are no words."""
        return (_smallest(self._words) if self._packed is None else self._packed[:SKETCH_SIZE]).tobytes()


def _words_of(data: bytes) -> set[bytes]:
    """Return the words of a text in lower case."""
    words = set(data.translate(_BLANKED).split())
    if not data.isascii():
        others = b" ".join([word for word in words if not word.isascii()])
        words.difference_update(others.split())
        words.update(_other_words(others))
    return words


def _other_words(data: bytes) -> set[bytes]:
    """Return the words in a text between whose blanks are other characters than ASCII."""
    return {word.encode() for word in _WORD.findall(data.decode().lower())}


def _marks_of(words: Collection[bytes]) -> list[int]:
    volatile = {word.encode() for word in _VOLATILE.findall(b"\n".join(words).decode())}
    return [mark & _MASK | (word in volatile) for word, mark in zip(words, _hashes(words), strict=True)]


def _hashes(words: Iterable[bytes]) -> Iterator[int]:
    # A cache of words takes longer than their hashes: between two pages it is forgotten by the processor.
    return map(xxh3_64_intdigest, words)


def _smallest(words: Collection[bytes]) -> array[int]:
    """Return the smallest marks of words in order; only those that may be among them are looked at."""
    bound = _LIKELY // max(len(words), 1)
    low = {
        mark: word
        for word, hashed in zip(words, _hashes(words), strict=True)
        if (mark := hashed & _MASK) < bound
    }
    if len(low) < min(SKETCH_SIZE, len(words)):
        return array("I", sorted(set(_marks_of(words)))[:SKETCH_SIZE])
    return array("I", _marks_of([low[mark] for mark in sorted(low)[:SKETCH_SIZE]]))


def _by_core(data: bytes) -> array[int] | None:
    """Return the marks of the words in a text in order; None without a core, or after a fault of it."""
    core = usable_core()
    if core is None:
        return None
    try:
        return _unpacked(core.marks(data, lambda others: _marks_of(_other_words(others))))
    except core.CoreError as error:
        logger.warning("the compiled core has a fault, the words of a text are marked without it: %s", error)
        return None


def marks_of(*texts: str) -> Marks:
    """Return the set of the marks of the words of some texts."""
    return frozenset(Words(*texts).marks)


def excerpt(text: str) -> str:
    """Return what is sketched of a text: what all pages of a site begin and end with, and something of its own."""
    if len(text) <= BEGINNING + 2 * PIECE:
        return text
    end = min(len(text), MAX_CHARS)
    middle = (BEGINNING + end - 2 * PIECE) // 2
    return f"{text[:BEGINNING]} {text[middle : middle + PIECE]} {text[end - PIECE : end]}"


def marks_of_url(url: str) -> Marks:
    """Return the marks of the words of path and query, which a page may quote in any form."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return frozenset()
    quoted = f"{parts.path} {parts.query}"
    if "%" not in quoted:
        return marks_of(quoted)
    return marks_of(quoted, unquote_to_bytes(quoted).decode("utf-8", "replace"))


def _unpacked(packed: bytes) -> array[int]:
    return array("I", packed)


def read_sketch(sketch: bytes) -> Marks:
    """Return the marks of a sketch; none for bytes of another form."""
    return frozenset(_unpacked(sketch[: len(sketch) // _ITEM * _ITEM]))


def former_words(sketch: bytes) -> Marks:
    """Return the marks by which a new version of a document is judged: one that no version has if none are known."""
    return read_sketch(sketch) if sketch else UNKNOWN
