"""Notices about a configuration: findings with codes."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from ultracrawl.model import Finding
from ultracrawl.sources import Place


class Code(StrEnum):
    """Codes of notices; those that begin with E are errors."""

    XML = "E-XML"
    ROOT = "E-ROOT"
    NAME = "E-NAME"
    VALUE = "E-VALUE"
    ALIAS = "N-ALIAS"
    CASE = "N-CASE"
    CLUSTER = "N-CLUSTER"
    CONFLICT = "N-CONFLICT"
    CONTEXT = "N-CONTEXT"
    DUPLICATE = "N-DUPLICATE"
    EMPTY = "N-EMPTY"
    MEMBER = "N-MEMBER"
    MISSING = "N-MISSING"
    RANGE = "N-RANGE"
    SCHEME = "N-SCHEME"
    NO_START = "N-NOSTART"
    PLAIN_PASSWORD = "N-SECRET"  # noqa: S105 - the name of a notice
    TUNING = "N-TUNING"
    TYPE = "N-TYPE"
    UNKNOWN = "N-UNKNOWN"

    @property
    def fatal(self) -> bool:
        """Whether notices with this code are errors."""
        return self.value.startswith("E")


class Notices:
    """Collects the notices about one file; equal texts about the same place are kept once."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._found: dict[Finding, None] = {}
        self._once: set[str] = set()

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._found)

    @property
    def fatal(self) -> bool:
        """Whether one of them is an error."""
        return any(finding.fatal for finding in self._found)

    def place(self, line: int, path: str = "") -> Place:
        """Return a place in the file of these notices, named by its path, as `handbook/storage/datastore`."""
        return Place(self.file, line, path or "file")

    def add(self, code: Code, place: Place, problem: str, instead: str) -> None:
        """Add a notice about a place, which may be in another file (that of the defaults)."""
        self._found.setdefault(Finding(*place, f"{code}: {problem}", instead, code.fatal))

    def add_once(self, topic: str, code: Code, place: Place, problem: str, instead: str) -> None:
        """Add a notice unless there was one about the same topic."""
        if topic not in self._once:
            self._once.add(topic)
            self.add(code, place, problem, instead)

    def add_all(self, others: Notices) -> None:
        """Add the notices about another file."""
        self._found.update(others._found)
