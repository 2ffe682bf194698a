"""Compares the words of two versions of a document, and of documents with each other, by their marks.

Words that differ between two responses with the same meaning are left out where texts are compared with each other:
numbers, identifiers, and the words of the URL.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from typing import NamedTuple

from ultracrawl.dataclass import dataclass
from ultracrawl.rules.duplicates.marks import (
    SKETCH_SIZE,
    WITHOUT_WORDS,
    Marks,
    Words,
    excerpt,
    marks_of,
    marks_of_url,
    read_sketch,
)

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
FEW_WORDS = 4
"""From so many words of a sketch on, one of them may be in any other text by chance."""


def _stable(marks: Iterable[int]) -> Marks:
    return frozenset([mark for mark in marks if not mark & 1])


def _share(one: Marks, other: Marks) -> float:
    """Return the estimated share of common words of two texts, by the smallest marks of both."""
    smallest = sorted(one | other)[:SIGNATURE_SIZE]
    return sum(mark in one and mark in other for mark in smallest) / len(smallest) if smallest else 1.0


def _keeps_too_few(own: Marks, now: Collection[int]) -> bool:
    """Return whether less than a tenth of a document's `own` words are left, or one by chance."""
    kept = len(own.intersection(now))
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


@dataclass(frozen=True, eq=False)
class Version:
    """One version of a document: its words are marked when they are needed, and no more than are."""

    url: str
    title: str
    """May be empty."""
    text: str

    @cached_property
    def _sampled(self) -> Words:
        """Those that are enough for a sketch."""
        return Words(self.title, excerpt(self.text))

    @cached_property
    def _quoted(self) -> Marks:
        """Words of the URL, which any page may quote."""
        return marks_of_url(self.url)

    @property
    def sketch(self) -> bytes:
        """The sketch of its words, from which a later version is judged."""
        return self._sampled.sketch or WITHOUT_WORDS

    def is_lost(self, before: Marks, common: Marks) -> bool:
        """Return whether the words of the document are lost in this version.

        `before` is the sketch of the former version. It is lost if this one has no words, or less than a tenth of those
        that were its own: neither in most documents of its site (`common`), nor in its URL, nor numbers. A document
        without words of its own is lost if less than half of its words and less than a tenth of its numbers are left.
        """
        if not before or self._keeps(before, common, self._sampled.marks):
            return False
        is_whole = excerpt(self.text) is self.text
        return is_whole or not self._keeps(before, common, Words(self.title, self.text).marks)

    def _keeps(self, before: Marks, common: Marks, now: Collection[int]) -> bool:
        """Return whether words that are found in this version are enough of the former ones."""
        if not now:
            return False
        rest = before - self._quoted
        if own := _stable(rest - common):
            return not _keeps_too_few(own, now)
        words = _stable(rest)
        numbers = (rest or before) - words
        keeps_words = bool(words) and len(words.intersection(now)) >= KEPT_SHARED * len(words)
        return keeps_words or len(numbers.intersection(now)) > LEAST_KEPT * len(numbers)

    def look(self, common: Marks) -> Look:
        """Return by what it is compared with other new versions."""
        left_out = self._quoted | common
        text = sorted(_stable(marks_of(self.text)) - left_out)[:SIGNATURE_SIZE]
        label = " ".join((self.title or self.text[: 20 * LABEL_CHARS]).split())[:LABEL_CHARS]
        return Look(label, _stable(marks_of(self.title)) - left_out, frozenset(text))
