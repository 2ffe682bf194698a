"""The format-independent representation of definition files: plain data with places."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ultracrawl.model.finding import FindingCode

Data = dict[str, "Data"] | list["Data"] | str | int | float | bool | None
"""The data of a definition file."""
OptionPath = tuple[str | int, ...]
"""Path of an option from the top of a file: option names and list indexes."""


class Place(NamedTuple):
    """A place in a file: its line from 1 (0: the whole file), and the name of the option there for findings."""

    file: str
    line: int
    key: str


class PathFinding(NamedTuple):
    """A finding with a path in a tree, before its file and line are looked up; not `fatal`: a warning."""

    path: OptionPath
    problem: str
    instead: str
    fatal: bool = True
    code: FindingCode | None = None


class Tree(Protocol):
    """A definition as plain data, with the place of each option."""

    file: str
    """The file name for findings about the whole definition."""

    def place(self, path: OptionPath) -> Place:
        """Return the place of an option, or of the nearest group above it if it is not written."""

    def get(self, key: str) -> Data:
        """Return the value of a top-level option, or None."""
