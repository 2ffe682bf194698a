"""The compiled core of the index, a distribution of its own (`ultracrawl-core`), if it is installed.

Without it, or with one of another format, everything is done in Python.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from functools import cache
from importlib import import_module
from typing import Protocol, cast

FORMAT = 2
"""The number of what program and core agree on: functions, terms, and the files of a segment."""
SWITCH = "ULTRACRAWL_CORE"
"""The environment variable that switches the core off if it is 0."""


class CoreState(StrEnum):
    """Whether the core is used."""

    USED = "used"
    MISSING = "missing"
    OTHER_FORMAT = "other format"
    OFF = "off"


class Words(Protocol):
    """The words of a text in order; a list of Python, or numbers in the core's vocabulary."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...


class CoreWords(Words, Protocol):
    """The words of a text as the core keeps them."""

    def joined(self) -> str:
        """Return the words with blanks between them."""


class CoreVocabulary(Protocol):
    """All words that the core has met."""

    def __len__(self) -> int: ...

    def analyse(self, texts: Sequence[str], language: str) -> tuple[list[Words], Words]:
        """Return the words of each text, and the stem terms of all of them in a language (none for an empty one)."""

    def identifiers(self, text: str) -> Words:
        """Return what `identifiers.identifier_terms` returns."""


class CorePostings(Protocol):
    """The postings of a new segment; document numbers never fall."""

    def add_texts(self, field: str, document: int, texts: Sequence[Words]) -> int:
        """Add the words of texts, with a gap between the positions of two texts, and return their number."""

    def add_counted(self, field: str, document: int, words: Words) -> None:
        """Add words with their frequencies only."""

    def add_values(self, field: str, document: int, values: Sequence[bytes]) -> None:
        """Add whole values as terms without frequencies."""

    def fields(self) -> list[str]:
        """Return the names of the fields that have terms, in the order in which they are written."""

    def write(
        self,
        lengths: Sequence[bytes],
        position: int,
        terms: Callable[[bytes], object],
        postings: Callable[[bytes], object],
    ) -> tuple[list[tuple[int, int]], bytes]:
        """Write all terms and postings, and empty the pool.

        `lengths` are the length bytes of the documents in each of `fields`, `position` is where the term file goes on,
        `terms` and `postings` write to the files. Returns position and slots of each hash table of the term file, and
        the position of each entry, 8 bytes in the machine's order.
        """


class Core(Protocol):
    """The module of the core."""

    VERSION: str
    FORMAT: int
    CoreError: type[Exception]
    """Raised for a fault of the core."""

    Vocabulary: Callable[
        [
            Callable[[int], tuple[bytes, str]],
            Callable[[str], str],
            Callable[[str], str],
            Callable[[str, str], str],
        ],
        CoreVocabulary,
    ]
    """Made with what the core asks: a page of characters, lower case, folded form and stem term of a word."""
    Pool: Callable[[CoreVocabulary], CorePostings]
    marks: Callable[[bytes, Callable[[bytes], Sequence[int]]], bytes]
    """Returns the marks of the words of a text in UTF-8 in order, each once, 4 bytes in the machine's order.

    It asks for those of words with other than ASCII characters, which it passes with blanks between them.
    """


def core_state() -> CoreState:
    """Return whether the core is used, and if not, why."""
    core = _installed()
    if core is None:
        return CoreState.MISSING
    if core.FORMAT != FORMAT:
        return CoreState.OTHER_FORMAT
    return CoreState.OFF if os.environ.get(SWITCH) == "0" else CoreState.USED


def usable_core() -> Core | None:
    """Return the core if it is used."""
    return _installed() if core_state() is CoreState.USED else None


def core_version() -> str | None:
    """Return the version of the core that is installed, whether it is used or not."""
    core = _installed()
    return core.VERSION if core else None


@cache
def _installed() -> Core | None:
    try:
        return cast(Core, import_module("ultracrawl_core"))
    except ImportError:
        return None
