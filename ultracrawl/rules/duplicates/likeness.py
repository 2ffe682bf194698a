"""Compares the words of two versions of a document, and of documents with each other.

A text is compared as a set of words, each hashed to a mark. A sketch is the smallest marks of a set (bottom-k sketch,
Cohen and Kaplan 2007): a short text is its own sketch, and of a longer one every word has the same chance to be in it.
Words that differ between two responses with the same meaning are left out where texts are compared with each other:
numbers, identifiers, and the words of the URL.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote_to_bytes, urlsplit

from xxhash import xxh3_64_intdigest

MAX_CHARS = 20_000
"""A longer text is no error page; only so much of it is sketched."""
CACHED_CHARS = 24
"""The marks of longer words are not cached: in a text without spaces, sentences are words."""
CACHED_WORDS = 16_384
"""Words whose marks are cached."""
SKETCH_SIZE = 24
"""Marks of the sketch that is stored with a document."""
SIGNATURE_SIZE = 32
"""Marks by which new texts are compared with each other."""
ALIKE = 0.7
"""Share of common words from which texts are alike: five words may differ in one, fifty in eight."""
RESEMBLING = 0.5
"""Share of common words from which two sketches are of one text."""
LEAST_KEPT = 0.1
"""Share of its own words below which a document is lost."""
KEPT_SHARED = 0.5
"""Share of its words that a document without any of its own still has."""
LABEL_CHARS = 80
"""Characters of the title, or of the beginning of a text, by which a group of versions is named."""
WITHOUT_WORDS = b"\0"
"""The sketch of a document without words; an empty one says that its words are not known."""
FEW_WORDS = 4
"""From so many words of a sketch on, one of them may be in any other text by chance."""

_WORD = re.compile(r"\w+")
_VOLATILE = re.compile(r"\d|\A[a-f]{8,}\Z|\A[\x00-\x7f]{25,}\Z")
"""Numbers, hexadecimal and other identifiers. (Languages without spaces have long words.)"""

Marks = frozenset[int]
UNKNOWN: Marks = frozenset([1 << 32])
"""A mark that no word has."""


def _mark(word: str) -> int:
    """Return the 32-bit mark of a word; the lowest bit is set for those that may differ between equal texts."""
    return xxh3_64_intdigest(word.encode("utf-8", "replace")) & 0xFFFF_FFFE | (
        _VOLATILE.search(word) is not None
    )


class _MarkCache(dict[str, int]):
    """The marks of recent words: most words of a page are those of the pages before."""

    def __missing__(self, word: str) -> int:
        mark = _mark(word)
        if len(word) <= CACHED_CHARS:
            if len(self) >= CACHED_WORDS:
                self.clear()
            self[word] = mark
        return mark


_marks = _MarkCache()


def marks_of(text: str) -> Marks:
    """Return the marks of the words of a text."""
    return frozenset(map(_marks.__getitem__, set(_WORD.findall(text[:MAX_CHARS].lower()))))


def marks_of_url(url: str) -> Marks:
    """Return the marks of the words of path and query, which a page may quote in any form."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return frozenset()
    quoted = f"{parts.path} {parts.query}"
    if "%" not in quoted:
        return marks_of(quoted)
    return marks_of(quoted) | marks_of(unquote_to_bytes(quoted).decode("utf-8", "replace"))


def sketch_of(marks: Marks) -> bytes:
    """Return the sketch of a set of marks: the smallest ones, 4 bytes each."""
    bound = (3 * SKETCH_SIZE << 32) // max(
        len(marks), 1
    )  # marks are spread evenly: sorting few of them is enough
    low = [mark for mark in marks if mark < bound]
    smallest = sorted(low if len(low) >= SKETCH_SIZE else marks)[:SKETCH_SIZE]
    return array("I", smallest).tobytes()


def read_sketch(sketch: bytes) -> Marks:
    """Return the marks of a sketch; none for bytes of another form."""
    marks = array("I")
    marks.frombytes(sketch[: len(sketch) // marks.itemsize * marks.itemsize])
    return frozenset(marks)


def former_words(sketch: bytes) -> Marks:
    """Return the marks by which a new version of a document is judged: one that no version has if none are known."""
    return read_sketch(sketch) if sketch else UNKNOWN


def _stable(marks: Iterable[int]) -> Marks:
    return frozenset([mark for mark in marks if not mark & 1])


def _share(one: Marks, other: Marks) -> float:
    """Return the estimated share of common words of two texts, by the smallest marks of both."""
    smallest = sorted(one | other)[:SIGNATURE_SIZE]
    return sum(mark in one and mark in other for mark in smallest) / len(smallest) if smallest else 1.0


def _keeps_too_few(own: Marks, now: Marks) -> bool:
    """Return whether less than a tenth of a document's `own` words are left, or one by chance."""
    kept = len(own & now)
    return kept < LEAST_KEPT * len(own) or (kept == 1 and len(own) >= FEW_WORDS)


def is_lost_in(before: bytes, now: bytes, left_out: Marks) -> bool:
    """Return whether the words of a document are lost in another one, as far as their sketches tell.

    Words that are `left_out` do not count, nor do numbers. A sketch tells nothing about marks above its largest one.
    """
    if not now:
        return False
    other = read_sketch(now)
    own = _stable(read_sketch(before) - left_out)
    if len(other) >= SKETCH_SIZE:
        own = frozenset(mark for mark in own if mark <= max(other))
    return bool(own) and _keeps_too_few(own, other)


class Look(NamedTuple):
    """By what new versions are compared with each other: words that equal answers to several URLs have in common."""

    label: str
    """The title, or the beginning of the text."""
    title: Marks
    text: Marks
    """The smallest marks of the text."""

    def is_like(self, other: Look) -> bool:
        """Return whether two texts have most words in common; texts without words are alike."""
        return _share(self.text, other.text) >= ALIKE

    def was_like(self, sketch: Marks, left_out: Marks) -> bool:
        """Return whether this is the look of the version that a sketch is of.

        `left_out` are words that say nothing beside its own: those that most documents of the site share.
        """
        words, own = _stable(sketch), self._within(self.title | self.text, sketch)
        others = words - own - left_out
        return bool(own) and len(own & words) >= RESEMBLING * (len(own) + len(others))

    def may_have_titled(self, sketch: Marks) -> bool:
        """Return whether the version that a sketch is of may have this title: the words of it that the sketch has."""
        own = self._within(self.title, sketch)
        return bool(own) and own <= sketch

    @staticmethod
    def _within(marks: Marks, sketch: Marks) -> Marks:
        """Return those of some marks about which a sketch tells: a full one says nothing about larger ones."""
        if len(sketch) < SKETCH_SIZE:
            return marks
        end = max(sketch)
        return frozenset([mark for mark in marks if mark <= end])


@dataclass(frozen=True, slots=True)
class Version:
    """The words of one version of a document."""

    title: str
    text: str
    titled: Marks
    written: Marks
    words: Marks
    """Those of title and text."""
    quoted: Marks
    """Words of the URL, which any page may quote."""

    @classmethod
    def of(cls, url: str, title: str, text: str) -> Version:
        """Return the words of a version; its title may be empty."""
        titled, written = marks_of(title), marks_of(text)
        return cls(title, text, titled, written, titled | written, marks_of_url(url))

    @property
    def sketch(self) -> bytes:
        """The sketch of its words, from which a later version is judged."""
        return sketch_of(self.words) or WITHOUT_WORDS

    def is_lost(self, before: Marks, common: Marks) -> bool:
        """Return whether the words of the document are lost in this version.

        `before` is the sketch of the former version. It is lost if this one has no words, or less than a tenth of those
        that were its own: neither in most documents of its site (`common`), nor in its URL, nor numbers. A document
        without words of its own is lost if less than half of its words and less than a tenth of its numbers are left.
        """
        if not before:
            return False
        now = self.words
        if not now:
            return True
        rest = before - self.quoted
        if own := _stable(rest - common):
            return _keeps_too_few(own, now)
        words = _stable(rest)
        numbers = (rest or before) - words
        keeps_words = bool(words) and len(words & now) >= KEPT_SHARED * len(words)
        return not keeps_words and len(numbers & now) <= LEAST_KEPT * len(numbers)

    def look(self, common: Marks) -> Look:
        """Return by what it is compared with other new versions."""
        left_out = self.quoted | common
        text = sorted(_stable(self.written) - left_out)[:SIGNATURE_SIZE]
        label = " ".join((self.title or self.text[: 20 * LABEL_CHARS]).split())[:LABEL_CHARS]
        return Look(label, _stable(self.titled) - left_out, frozenset(text))
