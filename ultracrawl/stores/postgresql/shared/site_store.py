"""The site store: clocks, leases, robots.txt responses, sessions."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from uuid import uuid4

import psycopg

from ultracrawl.errors import UserError
from ultracrawl.stores.port.site_store import LeaseHolder, SiteClock, StoredRobots, StoredSession
from ultracrawl.stores.postgresql.access.database import Database
from ultracrawl.stores.postgresql.access.fencing import is_over, rows_as_arrays, this_process
from ultracrawl.system.process_name import machine_name

KEPT = 30 * 86_400.0
"""Seconds until an unused site, robots.txt response or session is deleted."""
_UNUSED_BITS = 65
"""Bits of a random token that do not fit into the number of a crawl."""
_CLOCK = "site, next_at, requested, delay, why, on_hold, errors, slowed, last_error, error_at"
_CLOCKS = f"""
    unnest(%s::text[], %s::float8[], %s::float8[], %s::float8[], %s::text[], %s::bool[], %s::int[], %s::float8[],
        %s::text[], %s::float8[]) t({_CLOCK})"""
_SET_CLOCK = ", ".join(f"{name} = t.{name}" for name in _CLOCK.split(", ")[1:])
_LOCK_SITES = b"SELECT site, crawl FROM site WHERE site = ANY(%s) ORDER BY site FOR UPDATE"
_PUT_CLOCKS = f"UPDATE site s SET {_SET_CLOCK} FROM {_CLOCKS} WHERE s.site = t.site AND s.crawl = %s".encode()  # noqa: S608 - constant names
_RELEASE = f"UPDATE site s SET {_SET_CLOCK}, crawl = 0 FROM {_CLOCKS} WHERE s.site = t.site AND s.crawl = %s".encode()  # noqa: S608 - the same
_GET_CLOCKS = f"SELECT {_CLOCK} FROM site WHERE site = ANY(%s)".encode()  # noqa: S608 - the same
_ADD_SITES = b"INSERT INTO site (site) SELECT * FROM unnest(%s::text[]) ON CONFLICT DO NOTHING"
_TAKE_SITES = b"UPDATE site SET crawl = %s, since = moment() WHERE site = ANY(%s) AND crawl <> %s"
_FIRST_WAITING = b"""
    SELECT DISTINCT ON (site) site, crawl FROM waiting WHERE site = ANY(%s) ORDER BY site, number"""
_ADD_WAITING = (
    b"INSERT INTO waiting (site, crawl) SELECT t, %s::bigint FROM unnest(%s::text[]) t ON CONFLICT DO NOTHING"
)
_DELETE_WAITING = b"DELETE FROM waiting WHERE crawl = %s AND site = ANY(%s)"
_CONTENDED_SITES = b"""
    SELECT DISTINCT s.site FROM waiting w JOIN site s ON s.site = w.site WHERE s.crawl = %s AND w.crawl <> %s"""
_SELECT_OVER = b"SELECT crawl FROM crawl WHERE until < moment() ORDER BY crawl"
_OF_SOURCE = b"""
    SELECT crawl, token, machine, process, node, pid, until - moment() FROM crawl WHERE source = %s
    ORDER BY crawl FOR UPDATE"""
_END_CRAWL = b"DELETE FROM crawl WHERE crawl = %s RETURNING least(moment(), until)"
_LOCK_LEASED = b"SELECT site FROM site WHERE crawl = %s ORDER BY site FOR UPDATE"
_END_LEASES = b"""
    UPDATE site SET requested = greatest(requested, %s), next_at = greatest(next_at, %s + delay), crawl = 0
    WHERE crawl = %s"""
_FORGET_OLD = (
    b"DELETE FROM site WHERE crawl = 0 AND greatest(next_at, requested) < moment() - %s",
    b"DELETE FROM robots WHERE greatest(received, failed) < moment() - %s",
    b"DELETE FROM session WHERE since < moment() - %s",
)
_REGISTER = b"""
    INSERT INTO crawl (crawl, source, token, machine, process, node, pid, until) OVERRIDING SYSTEM VALUE
    VALUES (%s, %s, %s, %s, %s, %s, %s, moment() + %s)"""
_HOLDER = b"""
    SELECT c.source, c.node, c.pid, s.since, c.until, c.crawl FROM site s JOIN crawl c ON c.crawl = s.crawl
    WHERE s.site = %s AND c.until >= moment()"""
_WAITING = (
    b"SELECT c.source FROM waiting w JOIN crawl c ON c.crawl = w.crawl WHERE w.site = %s ORDER BY w.number"
)
_ROBOTS = "origin, received, status, body, error, timed_out, failed, guessed"
_GET_ROBOTS = f"SELECT {_ROBOTS} FROM robots WHERE origin = %s AND shown = %s".encode()  # noqa: S608 - constant names
_PUT_ROBOTS = f"""
    INSERT INTO robots AS r (shown, {_ROBOTS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (origin, shown) DO UPDATE SET received = excluded.received, status = excluded.status,
    body = excluded.body, error = excluded.error, timed_out = excluded.timed_out, failed = excluded.failed,
    guessed = excluded.guessed WHERE excluded.received >= r.received""".encode()  # noqa: S608 - the same
_PUT_SESSION = b"""
    INSERT INTO session AS s (name, since, sealed) VALUES (%s, %s, %s)
    ON CONFLICT (name) DO UPDATE SET since = excluded.since, sealed = excluded.sealed
    WHERE excluded.since >= s.since"""
_RESET_ERRORS = b"UPDATE site SET errors = 0, slowed = 0, delay = 0 WHERE site = ANY(%s) AND crawl = 0"

_clock_values = attrgetter(*_CLOCK.split(", "))
_robots_values = attrgetter(*_ROBOTS.split(", "))


class PostgresSiteStore:
    """The sites of a project; see `SiteStore`. The clock is that of the server.

    A transaction locks the rows of crawls before those of sites, and sites by name, so that none waits for another in
    a ring. Who holds the row of a site decides about its lease and its waiting list.
    """

    renewed = ""
    """PostgreSQL repairs itself: nothing is ever set aside."""

    def __init__(self, database: Database) -> None:
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

    # ---- leases

    def register_crawl(self, source: str, lease: float) -> int:
        """Register a crawl of a source and return its number."""
        token = uuid4()
        number = token.int >> _UNUSED_BITS

        def register(db: psycopg.Connection) -> None:
            for crawl, own, machine, process, node, pid, left in db.execute(_OF_SOURCE, [source]).fetchall():
                if own == token:
                    return  # it was registered before, and the answer was lost
                if left >= 0 and crawl not in self._own and not is_over(machine, process):
                    raise UserError(
                        f"the source {source!r} is being crawled by process {pid} on {node}, "
                        f"whose lease lasts {left:.0f} s more; wait for it or stop it"
                    )
                _end_crawl(db, crawl)
            for statement in _FORGET_OLD:
                db.execute(statement, [KEPT])
            row = (number, source, token, *this_process(), machine_name(), os.getpid(), lease)
            db.execute(_REGISTER, row)

        self._database.transact(register)
        self._own.add(number)
        return number

    def renew_leases(self, crawl: int, lease: float) -> bool:
        """Extend all leases of a crawl; returns False if it was closed."""
        query = b"UPDATE crawl SET until = moment() + %s WHERE crawl = %s RETURNING moment()"
        before = time.monotonic()
        rows = self._database.read(query, lease, crawl)
        if rows:
            self._ahead = rows[0][0] - before
        return bool(rows)

    def beside(self) -> PostgresSiteStore:
        """Connect once more."""
        return PostgresSiteStore(self._database.beside())

    def lease_sites(self, crawl: int, wanted: Mapping[str, Sequence[str]]) -> dict[str, list[SiteClock]]:
        """Lease sites that no other crawl holds; returns the clocks by name."""
        for (over,) in self._database.read(_SELECT_OVER):
            self._database.transact(lambda db, over=over: _end_crawl(db, over))  # type: ignore[misc]  # binds now
        every = sorted({site for sites in wanted.values() for site in sites})

        def lease(db: psycopg.Connection) -> dict[str, list[SiteClock]]:
            if not db.execute(b"SELECT 1 FROM crawl WHERE crawl = %s FOR KEY SHARE", [crawl]).fetchall():
                return {}
            db.execute(_ADD_SITES, [every])
            holders: dict[str, int] = dict(db.execute(_LOCK_SITES, [every]).fetchall())
            first: dict[str, int] = dict(db.execute(_FIRST_WAITING, [every]).fetchall())
            leased: dict[str, Sequence[str]] = {}
            for name, sites in wanted.items():
                if all(
                    holders[site] == crawl or (not holders[site] and first.get(site, crawl) == crawl)
                    for site in sites
                ):
                    leased[name] = sites
                    holders.update(dict.fromkeys(sites, crawl))
            taken = sorted({site for sites in leased.values() for site in sites})
            # Together with what it waits for: a site that one name got and another one needs is not waited for.
            missed = [site for name, sites in wanted.items() if name not in leased for site in sites]
            db.execute(_TAKE_SITES, [crawl, taken, crawl])
            db.execute(_DELETE_WAITING, [crawl, taken])
            db.execute(_ADD_WAITING, [crawl, sorted({*missed} - {*taken})])
            clocks = {row[0]: SiteClock(*row) for row in db.execute(_GET_CLOCKS, [taken]).fetchall()}
            return {name: [clocks[site] for site in sites] for name, sites in leased.items()}

        return self._database.transact(lease)

    def stop_waiting(self, crawl: int, sites: Iterable[str]) -> None:
        """Remove a crawl from the waiting lists of sites."""
        self._database.read(_DELETE_WAITING, crawl, list(sites))

    def contended_sites(self, crawl: int) -> frozenset[str]:
        """Return the sites leased by a crawl that other crawls wait for."""
        return frozenset(site for (site,) in self._database.read(_CONTENDED_SITES, crawl, crawl))

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
            db.execute(_LOCK_SITES, [sorted(rows)])
            db.execute(statement, [*rows_as_arrays(rows.values(), 0), crawl])

        # Sent together: the crawl stands still meanwhile, with each flush.
        self._database.repeated(lambda: self._database.transact_at_once(write))

    def close_crawl(self, crawl: int) -> None:
        """Unregister a crawl that has released its sites."""
        self._database.transact(lambda db: _end_crawl(db, crawl, now=False))

    # ---- inspection

    def get_clock(self, site: str) -> SiteClock | None:
        """Return the clock of a site, None if it is unknown."""
        rows = self._database.read(_GET_CLOCKS, [site])
        return SiteClock(*rows[0]) if rows else None

    def lease_holder(self, site: str) -> LeaseHolder | None:
        """Return the holder of the lease of a site, None if it is free."""
        for source, node, pid, since, until, _ in self._database.read(_HOLDER, site):
            waiting = tuple(name for (name,) in self._database.read(_WAITING, site))
            return LeaseHolder(source, node, pid, since, until, waiting)
        return None

    # ---- robots.txt

    def get_robots(self, origin: str, shown: str) -> StoredRobots | None:
        """Return the last robots.txt response of an origin."""
        rows = self._database.read(_GET_ROBOTS, origin, shown)
        return StoredRobots(*rows[0]) if rows else None

    def put_robots(self, row: StoredRobots, shown: str) -> None:
        """Store a robots.txt response in place of an older one."""
        self._database.read(_PUT_ROBOTS, shown, *_robots_values(row))

    # ---- log-ins

    def get_session(self, name: str) -> StoredSession | None:
        """Return the session stored under a name, or None."""
        rows = self._database.read(b"SELECT since, sealed FROM session WHERE name = %s", name)
        return StoredSession(*rows[0]) if rows else None

    def put_session(self, name: str, session: StoredSession) -> None:
        """Store a session in place of an older one."""
        self._database.read(_PUT_SESSION, name, session.since, session.sealed)

    # ---- start of a run

    def reset_site_errors(self, sites: Iterable[str]) -> None:
        """Reset errors and back-off of sites that are not leased."""
        names = sorted(set(sites))

        def reset(db: psycopg.Connection) -> None:
            db.execute(_LOCK_SITES, [names])
            db.execute(_RESET_ERRORS, [names])

        self._database.transact(reset)

    def close(self) -> None:
        """Release the store."""
        self._database.close()


def _end_crawl(db: psycopg.Connection, crawl: int, *, now: bool = True) -> None:
    """End a crawl; its clocks are set as if it had sent requests until its leases ended, or until `now`."""
    for (last,) in db.execute(_END_CRAWL, [crawl]).fetchall():
        asked = last if now else 0.0
        db.execute(_LOCK_LEASED, [crawl])
        db.execute(_END_LEASES, [asked, asked, crawl])
        db.execute(b"DELETE FROM waiting WHERE crawl = %s", [crawl])


def _clock_row(clock: SiteClock) -> tuple[object, ...]:
    site, next_at, requested, delay, why, on_hold, errors, slowed, last_error, error_at = _clock_values(clock)
    return (
        site, float(next_at), float(requested), float(delay), why, on_hold, errors, float(slowed), last_error,
        float(error_at),
    )  # fmt: skip
