"""What a source remembers of each site between two requests and between two runs, durable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import sqlite3

KEPT = 30 * 86_400.0
"""Seconds for which a site that nothing more is asked of is remembered."""


@dataclass(frozen=True, slots=True)
class StoredSite:
    """The state of one site; times are seconds since the epoch, 0 is never."""

    site: str
    next_at: float = 0.0
    """When the next request may begin."""
    why: str = ""
    """Why not earlier: the delay with its origin, or a server that asked to be left alone."""
    own_delay: float | None = None
    """The delay that robots.txt asks for."""
    errors: int = 0
    """Network errors that were not made good by answers."""
    slowed: float = 0.0
    """The delay of back-off, in seconds."""
    last_error: str = ""
    error_at: float = 0.0
    given_up: int = 0
    """The run in which the site was given up, 0 for none."""
    robots: str = ""
    """What its robots.txt is like, in a few words; empty if it is not known."""
    stand_in: str = ""
    """The copy of the site that is asked instead in this run, since the site itself was given up."""


class SiteStore(Protocol):
    """The part of a `StateStore` that knows about sites."""

    def get(self, site: str) -> StoredSite | None:
        """Return what is remembered of a site."""

    def put(self, row: StoredSite, *, at_once: bool = False) -> None:
        """Remember a site; durable with the next flush of the store, or before this returns."""

    def waiting_at(self, now: float) -> list[StoredSite]:
        """Return the sites that may not be asked yet at a time, or have errors or a delay of their own."""

    def waiting(self, site: str) -> dict[int, int]:
        """Return how many URLs of a site wait, by level."""


_COLUMNS = "site, next_at, why, own_delay, errors, slowed, last_error, error_at, given_up, robots, stand_in"
_PUT = f"INSERT OR REPLACE INTO site ({_COLUMNS}) VALUES (?{',?' * 10})"  # noqa: S608 - constant column names


class SiteTable:
    """The table `site` of a SQLite store; `read` runs a query of it and returns the rows."""

    def __init__(
        self,
        db: sqlite3.Connection,
        read: Callable[..., list[tuple[Any, ...]]],
        before_read: Callable[[], None],
    ) -> None:
        self._db = db
        self._read = read
        self._before_read = before_read
        self._put: dict[str, StoredSite] = {}

    @property
    def unwritten(self) -> int:
        """The number of writes that wait for the next flush."""
        return len(self._put)

    def get(self, site: str) -> StoredSite | None:
        """Return what is remembered of a site."""
        if site in self._put:
            return self._put[site]
        rows = self._read(f"SELECT {_COLUMNS} FROM site WHERE site=?", site)  # noqa: S608 - constant column names
        return StoredSite(*rows[0]) if rows else None

    def put(self, row: StoredSite, *, at_once: bool = False) -> None:
        """Remember a site."""
        if at_once:
            self._put.pop(row.site, None)
            self._read(_PUT, *_values(row))  # a statement of its own is durable when it is done
        else:
            self._put[row.site] = row

    def waiting_at(self, now: float) -> list[StoredSite]:
        """Return the sites that are not as free as an unknown one; sees what was flushed."""
        which = "next_at>? OR errors>0 OR own_delay IS NOT NULL OR given_up<>0 OR stand_in<>''"
        rows = self._read(f"SELECT {_COLUMNS} FROM site WHERE {which}", now)  # noqa: S608 - constant texts
        return [StoredSite(*row) for row in rows]

    def waiting(self, site: str) -> dict[int, int]:
        """Return how many URLs of a site wait, by level."""
        self._before_read()
        return dict(self._read("SELECT level, count(*) FROM queue WHERE site=? GROUP BY level", site))

    def write(self) -> None:
        """Write what waits; called inside a transaction of the store."""
        self._db.executemany(_PUT, map(_values, self._put.values()))

    def written(self) -> None:
        """Take note that the transaction of `write` went well."""
        self._put.clear()

    def begin_run(self, started: float) -> None:
        """Let sites that were given up begin afresh (FAST 5.1 C17), and forget those of long ago."""
        self._db.execute(
            "UPDATE site SET given_up=0, errors=0, slowed=0, stand_in='' WHERE given_up<>0 OR stand_in<>''"
        )
        self._db.execute("DELETE FROM site WHERE next_at<?", (started - KEPT,))


def _values(row: StoredSite) -> tuple[object, ...]:
    return (
        row.site, row.next_at, row.why, row.own_delay, row.errors, row.slowed, row.last_error, row.error_at,
        row.given_up, row.robots, row.stand_in,
    )  # fmt: skip
