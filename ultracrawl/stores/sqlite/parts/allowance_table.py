"""How many new URLs of each site may still be fetched in the present minor cycle, durable."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import sqlite3


class AllowanceStore(Protocol):
    """The part of a `StateStore` about the shares of new URLs (FAST 5.23). Writes become durable with its `flush`.

    A new run begins without any; one that is resumed finds what the run before left.
    """

    def put(self, site: str, left: int) -> None:
        """Note what is left for a site."""

    def all(self) -> dict[str, int]:
        """Return what is left, by site; sees what was flushed."""


class AllowanceTable:
    """The table `allowance` of a SQLite store; `read` runs a query of it and returns the rows."""

    def __init__(self, db: sqlite3.Connection, read: Callable[..., list[tuple[Any, ...]]]) -> None:
        self._db = db
        self._read = read
        self._put: dict[str, int] = {}

    @property
    def unwritten(self) -> int:
        """The number of writes that wait for the next flush."""
        return len(self._put)

    def put(self, site: str, left: int) -> None:
        """Note what is left for a site."""
        self._put[site] = left

    def all(self) -> dict[str, int]:
        """Return what is left, by site."""
        return dict(self._read("SELECT site, remaining FROM allowance"))

    def begin_run(self) -> None:
        """Forget what the run before left; called inside a transaction of the store, before the run chooses."""
        self._db.execute("DELETE FROM allowance")

    def write(self) -> None:
        """Write what waits; called inside a transaction of the store."""
        self._db.executemany(
            "INSERT OR REPLACE INTO allowance (site, remaining) VALUES (?,?)", self._put.items()
        )

    def written(self) -> None:
        """Take note that the transaction of `write` went well."""
        self._put.clear()
