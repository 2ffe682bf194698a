"""The site store in a schema: the clock is that of the server, and crawls are known by random tokens."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from operator import attrgetter
from uuid import uuid4

import psycopg

from ultracrawl.stores.port.site_store import SiteClock
from ultracrawl.stores.postgresql.access.database import Database
from ultracrawl.stores.postgresql.access.fencing import is_over, rows_as_arrays, this_process
from ultracrawl.stores.postgresql.shared.tables import PostgresTables
from ultracrawl.stores.shared.site_store import CLOCK, LOCK_SITES, SqlSiteStore
from ultracrawl.stores.shared.tables import Statements
from ultracrawl.system.process_name import machine_name

_UNUSED_BITS = 65
"""Bits of a random token that do not fit into the number of a crawl."""
_SET_CLOCK = ", ".join(f"{name} = t.{name}" for name in CLOCK[1:])
_CLOCKS = f"""
    unnest(%s::text[], %s::float8[], %s::float8[], %s::float8[], %s::text[], %s::bool[], %s::int[], %s::float8[],
        %s::text[], %s::float8[]) t({", ".join(CLOCK)})"""
_PUT_CLOCKS = f"UPDATE site s SET {_SET_CLOCK} FROM {_CLOCKS} WHERE s.site = t.site AND s.crawl = %s".encode()  # noqa: S608 - constant names
_RELEASE = f"UPDATE site s SET {_SET_CLOCK}, crawl = 0 FROM {_CLOCKS} WHERE s.site = t.site AND s.crawl = %s".encode()  # noqa: S608 - the same
_PROCESSES = "SELECT crawl, token, machine, process FROM crawl WHERE source = %s ORDER BY crawl FOR UPDATE"
_REGISTER = """
    INSERT INTO crawl (crawl, source, token, machine, process, node, pid, until) OVERRIDING SYSTEM VALUE
    VALUES (%s, %s, %s, %s, %s, %s, %s, moment() + %s)"""
_RENEW = b"UPDATE crawl SET until = moment() + %s WHERE crawl = %s RETURNING moment()"
_clock_values = attrgetter(*CLOCK)


class PostgresSiteStore(SqlSiteStore):
    """The sites of a project; see `SiteStore`."""

    def __init__(self, database: Database) -> None:
        super().__init__(PostgresTables(database))
        self._database = database
        self._own: set[int] = set()
        """The crawls that registered here, which do not stand in the way of each other."""
        before = time.monotonic()
        rows = database.read(b"SELECT moment()")
        self._ahead = (float(rows[0][0]) if rows else time.time()) - before
        """Seconds by which the clock of the server is ahead of the monotonic one of this process."""

    def now(self) -> float:
        """Return the time by the clock of the server."""
        return time.monotonic() + self._ahead

    def register_crawl(self, source: str, lease: float) -> int:
        """Register a crawl of a source and return its number."""
        token = uuid4()
        number = token.int >> _UNUSED_BITS

        def register(db: Statements) -> None:
            known = {crawl: process for crawl, *process in db.rows(_PROCESSES, source)}
            if any(own == token for own, *_ in known.values()):
                return  # it was registered before, and the answer was lost
            self._end_earlier(db, source, lambda crawl: crawl in self._own or is_over(*known[crawl][1:]))
            db.run(_REGISTER, number, source, token, *this_process(), machine_name(), os.getpid(), lease)

        self._tables.transact(register)
        self._own.add(number)
        return number

    def renew_leases(self, crawl: int, lease: float) -> bool:
        """Extend all leases of a crawl; returns False if it was closed."""
        before = time.monotonic()
        rows = self._database.read(_RENEW, lease, crawl)
        if rows:
            self._ahead = rows[0][0] - before
        return bool(rows)

    def beside(self) -> PostgresSiteStore:
        """Connect once more."""
        return PostgresSiteStore(self._database.beside())

    def put_clocks(self, crawl: int, clocks: Iterable[SiteClock]) -> None:
        """Store the clocks of sites."""
        self._write_clocks(_PUT_CLOCKS, crawl, clocks)

    def release_sites(self, crawl: int, clocks: Iterable[SiteClock]) -> None:
        """End the leases of sites and store their clocks."""
        self._write_clocks(_RELEASE, crawl, clocks)

    def _write_clocks(self, statement: bytes, crawl: int, clocks: Iterable[SiteClock]) -> None:
        rows = {clock.site: _clock_row(clock) for clock in clocks}
        if not rows:
            return

        def write(db: psycopg.Connection) -> None:
            db.execute(LOCK_SITES.encode(), [sorted(rows)])
            db.execute(statement, [*rows_as_arrays(rows.values(), 0), crawl])

        # Sent together: the crawl stands still meanwhile, with each flush.
        self._database.repeated(lambda: self._database.transact_at_once(write))


def _clock_row(clock: SiteClock) -> tuple[object, ...]:
    site, next_at, requested, delay, why, on_hold, errors, slowed, last_error, error_at = _clock_values(clock)
    return (
        site, float(next_at), float(requested), float(delay), why, on_hold, errors, float(slowed), last_error,
        float(error_at),
    )  # fmt: skip
