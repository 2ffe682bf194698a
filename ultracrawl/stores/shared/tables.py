"""Interface of an engine to the tables that sources share: who runs statements on them knows no engine.

Statements are written as PostgreSQL takes them, with `%s` for values, `= ANY(%s)` for a list, and `moment()` for the
time by the clock of the store; another engine rewrites them. They keep to what SQLite 3.34 knows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
Row = tuple[Any, ...]


class Statements(Protocol):
    """Statements of one transaction."""

    def run(self, statement: str, *values: object) -> None:
        """Run a statement that returns nothing."""

    def rows(self, statement: str, *values: object) -> list[Row]:
        """Return the rows of a query."""


class SharedTables(Protocol):
    """The tables that sources share. Every method raises `StateError`, and is durable when it returns."""

    renewed: str
    """Message about damaged ones that these replace; empty if there were none."""

    def read(self, statement: str, *values: object) -> list[Row]:
        """Run one statement, which may be repeated when its answer is lost, and return its rows."""

    def transact(self, work: Callable[[Statements], T]) -> T:
        """Run a function in a transaction; it may be run again when the answer of the server is lost."""

    def close(self) -> None:
        """Release them."""
