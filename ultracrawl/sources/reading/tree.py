"""The format-independent representation of definition files: plain data with places."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from ultracrawl.dataclass import dataclass, field
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


@dataclass(slots=True)
class SourceTree:
    """Sources converted from another format as a `Tree`, with the lines that their options come from."""

    file: str
    sources: dict[str, Data]
    """The options of each source, as in a YAML file."""
    lines: dict[OptionPath, int] = field(default_factory=dict)
    """Lines of options, by paths that begin with the name of the source."""
    keys: dict[OptionPath, str] = field(default_factory=dict)
    """What findings call an option in place of its path here."""
    project: dict[str, Data] = field(default_factory=dict)
    """Options of the project, as `load_tree` takes them."""

    def place(self, path: OptionPath) -> Place:
        """Return the place of an option of a source, or of the nearest group above it that has a line."""
        inner = path[1:]
        known = next((inner[:end] for end in range(len(inner), 0, -1) if inner[:end] in self.lines), ())
        key = self.keys.get(known) or ".".join(map(str, path)) or "file"
        return Place(self.file, self.lines.get(known, 0), key)

    def get(self, key: str) -> Data:
        """Return the sources, or an option of the project."""
        return self.sources if key == "sources" else self.project.get(key)
