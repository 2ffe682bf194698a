"""How often a URL failed by each rule that deletes after several errors, kept in the store of its source."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import sqlite3


class FailureStore(Protocol):
    """The part of a `StateStore` that counts errors. Writes become durable with its `flush`."""

    def count(self, key: int, rule: str) -> int:
        """Count one more error of a URL under a rule; returns how many there are now."""

    def forget(self, key: int) -> None:
        """Begin anew with a URL: it answered well."""


class FailureTable:
    """The table `failure` of a SQLite store; `read` runs a query of it and returns the rows."""

    def __init__(self, db: sqlite3.Connection, read: Callable[..., list[tuple[Any, ...]]]) -> None:
        self._db = db
        self._read = read
        self._counted: dict[tuple[int, str], int] = {}
        self._forgotten: set[int] = set()
        self._failing: set[int] | None = None

    @property
    def unwritten(self) -> int:
        """The number of writes that wait for the next flush."""
        return len(self._counted) + len(self._forgotten)

    def _known(self) -> set[int]:
        """Return the keys of all URLs that have errors; read once, so that good answers cost no query."""
        if self._failing is None:
            self._failing = {key for (key,) in self._read("SELECT DISTINCT key FROM failure")}
        return self._failing

    def count(self, key: int, rule: str) -> int:
        """Count one more error of a URL under a rule."""
        known = self._counted.get((key, rule))
        if known is None:
            known = 0
            if key in self._known() and key not in self._forgotten:
                rows = self._read("SELECT errors FROM failure WHERE key=? AND rule=?", key, rule)
                known = rows[0][0] if rows else 0
        self._counted[(key, rule)] = known + 1
        self._known().add(key)
        return known + 1

    def forget(self, key: int) -> None:
        """Begin anew with a URL."""
        if key in self._known():
            self._known().discard(key)
            self._forgotten.add(key)
            for counted in [one for one in self._counted if one[0] == key]:
                del self._counted[counted]

    def write(self) -> None:
        """Write what waits; called inside a transaction of the store."""
        self._db.executemany("DELETE FROM failure WHERE key=?", [(key,) for key in self._forgotten])
        self._db.executemany(
            "INSERT OR REPLACE INTO failure (key, rule, errors) VALUES (?,?,?)",
            [(key, rule, errors) for (key, rule), errors in self._counted.items()],
        )

    def written(self) -> None:
        """Take note that the transaction of `write` went well."""
        self._counted.clear()
        self._forgotten.clear()

    def forget_dropped(self) -> None:
        """Forget the errors of URLs that left the document table."""
        self._db.execute("DELETE FROM failure WHERE key NOT IN (SELECT key FROM url)")
        self._failing = None
