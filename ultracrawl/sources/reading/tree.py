"""Where the parts of a definition come from, whatever its format."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ultracrawl.model.finding import FindingCode

Data = dict[str, "Data"] | list["Data"] | str | int | float | bool | None
"""What a definition file holds, whatever its format."""
OptionPath = tuple[str | int, ...]
"""Names of options and numbers of members, from the top of a file."""


class Place(NamedTuple):
    """A place in a file: its line from 1 (0: the file as a whole) and what stands there, as findings name it."""

    file: str
    line: int
    key: str


class PathFinding(NamedTuple):
    """A finding with a path in a tree, before its file and line are looked up; with `fatal` False it is an advice."""

    path: OptionPath
    problem: str
    instead: str
    fatal: bool = True
    code: FindingCode | None = None


class Tree(Protocol):
    """Sources as plain data that know their places."""

    file: str
    """The file that findings about the whole are shown for."""

    def place(self, path: OptionPath) -> Place:
        """Return the place of an option; of the nearest one above it if it is not written down."""

    def get(self, key: str) -> Data:
        """Return the value of an option at the top, or None."""
