"""When descriptions expire, kept in the store of their source."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    import sqlite3


class Expiries(NamedTuple):
    """How many descriptions have expired, and when the next one does (seconds since the epoch; 0: none does)."""

    expired: int
    following: float


class ExpiryStore(Protocol):
    """The part of a `StateStore` that knows expiry dates. Writes become durable with its `flush`."""

    def put(self, key: int, at: float) -> None:
        """Say when the description of a URL expires; 0: it does not."""

    def expired(self, now: float) -> dict[int, float]:
        """Return the URLs (by key) whose descriptions have expired, and when; sees what was flushed."""

    def outlook(self, now: float) -> Expiries:
        """Return how many have expired and when the next one does; sees what was flushed."""


class ExpiryTable:
    """The table `expiry` of a SQLite store; `read` runs a query of it and returns the rows."""

    def __init__(self, db: sqlite3.Connection, read: Callable[..., list[tuple[Any, ...]]]) -> None:
        self._db = db
        self._read = read
        self._changes: dict[int, float] = {}

    @property
    def unwritten(self) -> int:
        """The number of writes that wait for the next flush."""
        return len(self._changes)

    def put(self, key: int, at: float) -> None:
        """Say when the description of a URL expires."""
        self._changes[key] = at

    def expired(self, now: float) -> dict[int, float]:
        """Return the URLs whose descriptions have expired."""
        return dict(self._read("SELECT key, at FROM expiry WHERE at<=?", now))

    def outlook(self, now: float) -> Expiries:
        """Return how many have expired and when the next one does."""
        query = "SELECT sum(at<=?), min(CASE WHEN at>? THEN at END) FROM expiry"
        ((expired, following),) = self._read(query, now, now)
        return Expiries(expired or 0, following or 0.0)

    def write(self) -> None:
        """Write what waits; called inside a transaction of the store."""
        kept = [(key, at) for key, at in self._changes.items() if at]
        gone = [(key,) for key, at in self._changes.items() if not at]
        self._db.executemany("INSERT OR REPLACE INTO expiry (key, at) VALUES (?,?)", kept)
        self._db.executemany("DELETE FROM expiry WHERE key=?", gone)

    def written(self) -> None:
        """Take note that the transaction of `write` went well."""
        self._changes.clear()
