"""The robots.txt of each origin as it came, with its age, durable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import sqlite3

KEPT = 30 * 86_400.0
"""Seconds for which an answer is kept that nobody asks for again."""


@dataclass(frozen=True, slots=True)
class StoredRobots:
    """The answer for one robots.txt, before anything was concluded from it; times are seconds since the epoch."""

    origin: str
    asked: float = 0.0
    """When the answer came."""
    status: int = 0
    """Its status after redirects, 0 if there was none."""
    body: bytes = b""
    error: str = ""
    """Why there was no answer, in a few words."""
    timed_out: bool = False
    failed: float = 0.0
    """When it was asked for last in vain, so that the answer is still the one before; 0 for never."""
    guessed: float = 0.0
    """When there was no sitemap at the usual place of the origin; 0 if that is not known."""


class RobotsStore(Protocol):
    """The part of a `StateStore` that keeps robots.txt. Writes become durable with its `flush`."""

    def get(self, origin: str) -> StoredRobots | None:
        """Return the last answer of an origin (`scheme://host:port`)."""

    def put(self, row: StoredRobots) -> None:
        """Keep an answer in place of the one before."""


_COLUMNS = "origin, asked, status, body, error, timed_out, failed, guessed"


class RobotsTable:
    """The table `robots` of a SQLite store; `read` runs a query of it and returns the rows."""

    def __init__(self, db: sqlite3.Connection, read: Callable[..., list[tuple[Any, ...]]]) -> None:
        self._db = db
        self._read = read
        self._put: dict[str, StoredRobots] = {}

    @property
    def unwritten(self) -> int:
        """The number of writes that wait for the next flush."""
        return len(self._put)

    def get(self, origin: str) -> StoredRobots | None:
        """Return the last answer of an origin."""
        if origin in self._put:
            return self._put[origin]
        rows = self._read(f"SELECT {_COLUMNS} FROM robots WHERE origin=?", origin)  # noqa: S608 - constant column names
        for name, asked, status, body, error, timed_out, failed, guessed in rows:
            return StoredRobots(name, asked, status, body, error, bool(timed_out), failed, guessed)
        return None

    def put(self, row: StoredRobots) -> None:
        """Keep an answer."""
        self._put[row.origin] = row

    def write(self) -> None:
        """Write what waits; called inside a transaction of the store."""
        put = f"INSERT OR REPLACE INTO robots ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?)"  # noqa: S608 - constant column names
        self._db.executemany(put, map(astuple, self._put.values()))

    def written(self) -> None:
        """Take note that the transaction of `write` went well."""
        self._put.clear()

    def begin_run(self, started: float) -> None:
        """Forget the answers of long ago."""
        self._db.execute("DELETE FROM robots WHERE max(asked, failed)<?", (started - KEPT,))
