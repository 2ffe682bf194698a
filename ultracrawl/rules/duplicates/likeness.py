"""Finds changes that make documents alike, as a log-in page does that a server returns for every URL.

A text is compared as a set of words, each hashed to a mark. A sketch is the smallest marks of a set (bottom-k sketch,
Cohen and Kaplan 2007): a short text is its own sketch, and of a longer one every word has the same chance to be in it.
Words that differ between two responses with the same meaning are left out where texts are compared with each other:
numbers, identifiers, and the words of the URL.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from urllib.parse import unquote_to_bytes, urlsplit

from xxhash import xxh3_64_intdigest

MAX_CHARS = 20_000
"""A longer text is no error page; only so much of it is sketched."""
CACHED_CHARS = 24
"""The marks of longer words are not cached: in a text without spaces, sentences are words."""
SKETCH_SIZE = 24
"""Marks of the sketch that is stored with a document."""
SIGNATURE_SIZE = 64
"""Marks by which the texts of a run are compared with each other."""
ALIKE = 0.7
"""Share of common words from which texts are alike: five words may differ in one, fifty in eight."""
ALIKE_TITLES = 0.5
KEPT = 0.5
"""Share of its own words from which a document still has its text."""
SAMPLES = 200
"""Members of a group whose former words are remembered."""
MIN_GROUP = 3
"""Fewer alike documents are no group."""

_WORD = re.compile(r"\w+")
_VOLATILE = re.compile(r"\d|\A[a-f]{8,}\Z|\A[\x00-\x7f]{25,}\Z")
"""Numbers, hexadecimal and other identifiers. (Languages without spaces have long words.)"""

Marks = frozenset[int]


def _mark(word: str) -> int:
    """Return the 32-bit mark of a word; the lowest bit is set for those that may differ between equal texts."""
    return xxh3_64_intdigest(word.encode("utf-8", "replace")) & 0xFFFF_FFFE | (
        _VOLATILE.search(word) is not None
    )


_cached_mark = lru_cache(maxsize=16_384)(_mark)
"""Most words of a page are those of the pages before."""


def marks_of(text: str) -> Marks:
    """Return the marks of the words of a text."""
    words = set(_WORD.findall(text[:MAX_CHARS].lower()))
    return frozenset([_cached_mark(word) if len(word) <= CACHED_CHARS else _mark(word) for word in words])


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
    smallest = array("I", sorted(marks)[:SKETCH_SIZE])
    return smallest.tobytes()


def read_sketch(sketch: bytes) -> Marks:
    """Return the marks of a sketch; none for bytes of another form."""
    marks = array("I")
    marks.frombytes(sketch[: len(sketch) // marks.itemsize * marks.itemsize])
    return frozenset(marks)


def _stable(marks: Iterable[int]) -> Marks:
    return frozenset([mark for mark in marks if not mark & 1])


def _share(one: Marks, other: Marks) -> float:
    """Return the estimated share of common words of two texts, by the smallest marks of both."""
    smallest = sorted(one | other)[:SIGNATURE_SIZE]
    return sum(mark in one and mark in other for mark in smallest) / len(smallest) if smallest else 1.0


def resemble(one: bytes, other: bytes) -> bool:
    """Return whether the sketches of two documents have at least half of their words in common."""
    return _share(_stable(read_sketch(one)), _stable(read_sketch(other))) >= KEPT


@dataclass(frozen=True, slots=True)
class Change:
    """A document that replaces another version, as far as it is compared."""

    key: int
    label: str
    """The new title, or the beginning of the text."""
    title: Marks
    """Marks of the new title that may be equal in other documents."""
    signature: Marks
    """The smallest marks of the new text that may be equal in other documents."""
    before: Marks
    """Marks of the former version, as far as known."""
    kept: Marks
    """Those of them that the new version has, too."""
    is_suspect: bool
    """Whether the change may be that to a page that stands for all."""

    @classmethod
    def of(cls, key: int, url: str, title: str, text: str, before: bytes) -> tuple[Change, bytes]:
        """Compare a new version with the sketch of the `before` version; returns the change and the new sketch."""
        titled, written, quoted = marks_of(title), marks_of(text), marks_of_url(url)
        marks, former = titled | written, read_sketch(before) if before else Marks()
        common_title = _stable(titled) - quoted
        lost = (_stable(former) or former) - marks if former else former
        has_own_title = bool(titled) and not common_title
        change = cls(
            key,
            " ".join((title or text).split())[:80],
            common_title,
            frozenset(sorted(_stable(written) - quoted)[:SIGNATURE_SIZE]),
            former - quoted,
            (former & marks) - quoted,
            bool(lost or (not former and marks)) and not has_own_title and len(text) <= MAX_CHARS,
        )
        return change, sketch_of(marks)

    def is_like(self, title: Marks, signature: Marks) -> bool:
        """Return whether title and text are alike others."""
        return _share(self.title, title) >= ALIKE_TITLES and _share(self.signature, signature) >= ALIKE


class Verdict(Enum):
    """What becomes of the changes of a group."""

    OPEN = "open"
    HOLD = "hold"
    HARMLESS = "harmless"
    """The documents keep what distinguishes them."""


@dataclass(slots=True, eq=False)
class Group:
    """Changes to alike documents, by the title and text of the first."""

    label: str
    title: Marks
    signature: Marks
    members: dict[int, None] = field(default_factory=dict)
    """Keys of the documents, in order."""
    samples: list[tuple[Marks, Marks]] = field(default_factory=list)
    """Former words of some members, and which of them they keep."""
    verdict: Verdict = Verdict.OPEN

    @classmethod
    def of(cls, change: Change) -> Group:
        """Return a group with one member."""
        group = cls(change.label, change.title, change.signature)
        group.add(change)
        return group

    def add(self, change: Change) -> None:
        """Add a member."""
        if change.key not in self.members and len(self.samples) < SAMPLES:
            self.samples.append((change.before, change.kept))
        self.members[change.key] = None

    @property
    def overwrites(self) -> bool:
        """Whether most members lose the words that distinguished them from the others."""
        number = Counter(mark for before, _ in self.samples for mark in before)
        common = frozenset(mark for mark, count in number.items() if 2 * count > len(self.samples))
        return 2 * sum(_is_overwritten(*sample, common) for sample in self.samples) > len(self.samples)


def _is_overwritten(before: Marks, kept: Marks, common: Marks) -> bool:
    own = before - common
    # Numbers distinguish documents only where words do not; without either, the whole text counts.
    distinct = _stable(own) or own or before
    return not distinct or len(distinct & kept) < KEPT * len(distinct)
