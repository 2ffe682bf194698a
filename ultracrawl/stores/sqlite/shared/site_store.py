"""The site store on SQLite: clocks, leases, robots.txt responses, sessions."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from operator import attrgetter
from pathlib import Path
from typing import IO, Any

from ultracrawl.errors import UserError
from ultracrawl.stores.port.site_store import LeaseHolder, SiteClock, StoredRobots, StoredSession
from ultracrawl.stores.port.texts import storable_row
from ultracrawl.stores.sqlite.database import MEMORY, lock_file, transaction, translated
from ultracrawl.stores.sqlite.shared.tables import SharedDatabase, open_tables
from ultracrawl.system.process_name import machine_name

_TABLES = (
    # AUTOINCREMENT: no id is reused, so that a crawl whose leases ended can never write under a later one (fencing).
    """
    CREATE TABLE crawl (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        source TEXT NOT NULL,
        machine TEXT NOT NULL,
        pid INTEGER NOT NULL,
        until REAL NOT NULL
    )""",
    """
    CREATE TABLE site (
        site TEXT PRIMARY KEY,
        next_at REAL NOT NULL DEFAULT 0,
        requested REAL NOT NULL DEFAULT 0,
        delay REAL NOT NULL DEFAULT 0,
        why TEXT NOT NULL DEFAULT '',
        on_hold INTEGER NOT NULL DEFAULT 0,
        errors INTEGER NOT NULL DEFAULT 0,
        slowed REAL NOT NULL DEFAULT 0,
        last_error TEXT NOT NULL DEFAULT '',
        error_at REAL NOT NULL DEFAULT 0,
        crawl INTEGER NOT NULL DEFAULT 0,
        since REAL NOT NULL DEFAULT 0
    ) WITHOUT ROWID""",
    "CREATE INDEX site_leased ON site (crawl) WHERE crawl<>0",
    """
    CREATE TABLE waiting (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        site TEXT NOT NULL,
        crawl INTEGER NOT NULL,
        UNIQUE (site, crawl)
    )""",
    """
    CREATE TABLE robots (
        origin TEXT NOT NULL,
        shown TEXT NOT NULL,
        received REAL NOT NULL,
        status INTEGER NOT NULL,
        body BLOB NOT NULL,
        error TEXT NOT NULL,
        timed_out INTEGER NOT NULL,
        failed REAL NOT NULL,
        guessed REAL NOT NULL,
        PRIMARY KEY (origin, shown)
    )""",
    "CREATE TABLE session (name TEXT PRIMARY KEY, since REAL NOT NULL, sealed BLOB NOT NULL)",
)
SITES = SharedDatabase(
    what="the sites of the project",
    remedy="the next crawl creates it again, and fetches every robots.txt again",
    lost="every robots.txt is fetched again",
    version=1,
    tables=_TABLES,
    every_table="SELECT until, requested, number, received, sealed FROM crawl, site, waiting, robots, session LIMIT 0",
)


KEPT = 30 * 86_400.0
"""Seconds until an unused site, robots.txt response or session is deleted."""

_CLOCK = "site, next_at, requested, delay, why, on_hold, errors, slowed, last_error, error_at"
_SET_CLOCK = ", ".join(f"{name}=?" for name in _CLOCK.split(", ")[1:])
_GET_CLOCK = f"SELECT {_CLOCK} FROM site WHERE site=?"  # noqa: S608 - constant column names
_PUT_CLOCK = f"UPDATE site SET {_SET_CLOCK} WHERE site=? AND crawl=?"  # noqa: S608 - constant column names
_RELEASE = f"UPDATE site SET {_SET_CLOCK}, crawl=0 WHERE site=? AND crawl=?"  # noqa: S608 - constant column names
_PUT_LEASE = """
    INSERT INTO site (site, crawl, since) VALUES (?1, ?2, ?3)
    ON CONFLICT (site) DO UPDATE SET crawl=?2, since=?3 WHERE crawl<>?2"""
_FIRST_WAITING = "SELECT crawl FROM waiting WHERE site=? ORDER BY number LIMIT 1"
_CONTENDED_SITES = """
    SELECT DISTINCT site.site FROM waiting CROSS JOIN site ON site.site=waiting.site
    WHERE site.crawl=?1 AND waiting.crawl<>?1"""
_END_LEASES = """
    UPDATE site SET requested=max(requested, :last), next_at=max(next_at, :last + delay), crawl=0
    WHERE crawl=:crawl AND crawl<>0"""
_RESET_ERRORS = "UPDATE site SET errors=0, slowed=0, delay=0 WHERE site=? AND crawl=0"
_ROBOTS = "origin, received, status, body, error, timed_out, failed, guessed"
_GET_ROBOTS = f"SELECT {_ROBOTS} FROM robots WHERE origin=? AND shown=?"  # noqa: S608 - constant column names
_PUT_ROBOTS = f"""
    INSERT INTO robots (shown, {_ROBOTS}) VALUES (?,?,?,?,?,?,?,?,?)
    ON CONFLICT (origin, shown) DO UPDATE SET received=excluded.received, status=excluded.status, body=excluded.body,
        error=excluded.error, timed_out=excluded.timed_out, failed=excluded.failed, guessed=excluded.guessed
    WHERE excluded.received>=received"""  # noqa: S608 - constant column names

_PUT_SESSION = """
    INSERT INTO session (name, since, sealed) VALUES (?,?,?)
    ON CONFLICT (name) DO UPDATE SET since=excluded.since, sealed=excluded.sealed WHERE excluded.since>=since"""

_clock_values = attrgetter(*_CLOCK.split(", ")[1:], "site")
_robots_values = attrgetter(*_ROBOTS.split(", "))


class SqliteSiteStore:
    """The sites of a project in one SQLite file in WAL mode, or in memory (`path=":memory:"`); see `SiteStore`."""

    def __init__(
        self,
        path: Path | str,
        *,
        read_only: bool = False,
        renew: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """With `renew`, a damaged file is set aside and a new one created; `renewed` then has a message."""
        self._db, self.renewed = open_tables(SITES, path, read_only=read_only, renew=renew)
        self._translated = translated(self._db, SITES.remedy)
        self._path = None if path == MEMORY else Path(path)
        self._locks: dict[str, IO[str]] = {}
        """Locks by source; the system releases them when a process ends, however it does."""
        self.now = clock
        """The clock of the machine, which all processes with this file share."""

    # ---- leases

    def register_crawl(self, source: str, lease: float) -> int:
        """Register a crawl of a source and return its number."""
        others_ended, now = self._lock(source), self.now()
        with self._transaction():
            if not others_ended:
                self._refuse_second(source, now)
            self._end_crawls("source=?", now, source)
            self._db.execute("DELETE FROM site WHERE crawl=0 AND max(next_at, requested)<?", (now - KEPT,))
            self._db.execute("DELETE FROM robots WHERE max(received, failed)<?", (now - KEPT,))
            self._db.execute("DELETE FROM session WHERE since<?", (now - KEPT,))
            who = (source, machine_name(), os.getpid(), now + lease)
            return int(
                self._db.execute(
                    "INSERT INTO crawl (source, machine, pid, until) VALUES (?,?,?,?)", who
                ).lastrowid
                or 0
            )

    def _lock(self, source: str) -> bool:
        """Take the lock of a source; returns whether no other process can run a crawl of it."""
        if self._path is not None and source not in self._locks:
            with suppress(UserError):
                self._locks[source] = lock_file(self._path.parent / source, source)
        return source in self._locks

    def _refuse_second(self, source: str, now: float) -> None:
        query = "SELECT machine, pid, until FROM crawl WHERE source=? AND until>=?"
        for machine, pid, until in self._db.execute(query, (source, now)):
            raise UserError(
                f"the source {source!r} is being crawled by process {pid} on {machine}, "
                f"whose lease lasts {until - now:.0f} s more; wait for it or stop it"
            )

    def renew_leases(self, crawl: int, lease: float) -> bool:
        """Extend all leases of a crawl; returns False if it was closed."""
        until = self.now() + lease
        with self._translated:
            return self._db.execute("UPDATE crawl SET until=? WHERE id=?", (until, crawl)).rowcount == 1

    def beside(self) -> SqliteSiteStore | None:
        """Open the file once more; what is in memory is seen by nobody else."""
        return None if self._path is None else SqliteSiteStore(self._path, clock=self.now)

    def lease_sites(self, crawl: int, wanted: Mapping[str, Sequence[str]]) -> dict[str, list[SiteClock]]:
        """Lease sites that no other crawl holds; returns the clocks by name."""
        now = self.now()
        with self._transaction():
            self._end_crawls("until<?", now, now)
            if not self._db.execute("SELECT 1 FROM crawl WHERE id=?", (crawl,)).fetchone():
                return {}
            leased = {name: sites for name, sites in wanted.items() if self._lease(crawl, sites, now)}
            return {name: [self._clock(site) for site in sites] for name, sites in leased.items()}

    def _lease(self, crawl: int, sites: Sequence[str], now: float) -> bool:
        if not all(self._is_free(crawl, site) for site in sites):
            self._db.executemany(
                "INSERT OR IGNORE INTO waiting (site, crawl) VALUES (?,?)", [(site, crawl) for site in sites]
            )
            return False
        self._db.executemany(_PUT_LEASE, [(site, crawl, now) for site in sites])
        self._delete_waiting(crawl, sites)
        return True

    def _is_free(self, crawl: int, site: str) -> bool:
        lease = self._db.execute("SELECT crawl FROM site WHERE site=?", (site,)).fetchone()
        if lease and lease[0]:
            return bool(lease[0] == crawl)
        first = self._db.execute(_FIRST_WAITING, (site,)).fetchone()
        return first is None or first[0] == crawl

    def stop_waiting(self, crawl: int, sites: Iterable[str]) -> None:
        """Remove a crawl from the waiting lists of sites."""
        with self._transaction():
            self._delete_waiting(crawl, sites)

    def _delete_waiting(self, crawl: int, sites: Iterable[str]) -> None:
        self._db.executemany(
            "DELETE FROM waiting WHERE site=? AND crawl=?", [(site, crawl) for site in sites]
        )

    def contended_sites(self, crawl: int) -> frozenset[str]:
        """Return the sites leased by a crawl that other crawls wait for."""
        return frozenset(site for (site,) in self._read(_CONTENDED_SITES, crawl))

    def put_clocks(self, crawl: int, clocks: Iterable[SiteClock]) -> None:
        """Store the clocks of sites."""
        with self._transaction():
            self._db.executemany(
                _PUT_CLOCK, [(*storable_row(_clock_values(clock)), crawl) for clock in clocks]
            )

    def release_sites(self, crawl: int, clocks: Iterable[SiteClock]) -> None:
        """End the leases of sites and store their clocks."""
        with self._transaction():
            self._db.executemany(_RELEASE, [(*storable_row(_clock_values(clock)), crawl) for clock in clocks])

    def close_crawl(self, crawl: int) -> None:
        """Unregister a crawl that has released its sites."""
        with self._transaction():
            sources = self._db.execute("SELECT source FROM crawl WHERE id=?", (crawl,)).fetchall()
            self._end_crawls("id=?", 0.0, crawl)
        for (source,) in sources:
            if source in self._locks:
                self._locks.pop(source).close()

    def _end_crawls(self, condition: str, now: float, *values: object) -> None:
        """End crawls; their clocks are set as if each had sent requests until its leases ended, or until now."""
        crawls = self._db.execute(f"SELECT id, until FROM crawl WHERE {condition}", values).fetchall()  # noqa: S608 - constant texts
        for crawl, until in crawls:
            self._db.execute(_END_LEASES, {"crawl": crawl, "last": min(now, until)})
            self._db.execute("DELETE FROM waiting WHERE crawl=?", (crawl,))
            self._db.execute("DELETE FROM crawl WHERE id=?", (crawl,))

    # ---- inspection

    def get_clock(self, site: str) -> SiteClock | None:
        """Return the clock of a site, None if it is unknown."""
        rows = self._read(_GET_CLOCK, site)
        return _clock(rows[0]) if rows else None

    def lease_holder(self, site: str) -> LeaseHolder | None:
        """Return the holder of the lease of a site, None if it is free."""
        query = (
            "SELECT source, machine, pid, since, until FROM site JOIN crawl ON crawl.id=site.crawl "
            "WHERE site=? AND until>=?"
        )
        waiting = (
            "SELECT source FROM waiting JOIN crawl ON crawl.id=waiting.crawl WHERE site=? ORDER BY number"
        )
        for row in self._read(query, site, self.now()):
            name, machine, pid, since, until = row
            sources = tuple(source for (source,) in self._read(waiting, site))
            return LeaseHolder(name, machine, pid, since, until, sources)
        return None

    # ---- robots.txt

    def get_robots(self, origin: str, shown: str) -> StoredRobots | None:
        """Return the last robots.txt response of an origin."""
        for name, received, status, body, error, timed_out, failed, guessed in self._read(
            _GET_ROBOTS, origin, shown
        ):
            return StoredRobots(name, received, status, body, error, bool(timed_out), failed, guessed)
        return None

    def put_robots(self, row: StoredRobots, shown: str) -> None:
        """Store a robots.txt response in place of an older one."""
        self._read(_PUT_ROBOTS, shown, *storable_row(_robots_values(row)))  # durable: in autocommit mode

    # ---- log-ins

    def get_session(self, name: str) -> StoredSession | None:
        """Return the session stored under a name, or None."""
        rows = self._read("SELECT since, sealed FROM session WHERE name=?", name)
        return StoredSession(*rows[0]) if rows else None

    def put_session(self, name: str, session: StoredSession) -> None:
        """Store a session in place of an older one."""
        self._read(_PUT_SESSION, name, session.since, session.sealed)

    # ---- start of a run

    def reset_site_errors(self, sites: Iterable[str]) -> None:
        """Reset errors and back-off of sites that are not leased."""
        with self._transaction():
            self._db.executemany(_RESET_ERRORS, [(site,) for site in sites])

    def close(self) -> None:
        """Release the store."""
        for lock in self._locks.values():
            lock.close()
        self._db.close()

    # ---- the connection

    def _read(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._translated:
            return self._db.execute(query, values).fetchall()

    def _clock(self, site: str) -> SiteClock:
        return _clock(self._db.execute(_GET_CLOCK, (site,)).fetchone())

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._translated, transaction(self._db):
            yield


def _clock(row: Sequence[Any]) -> SiteClock:
    site, next_at, requested, delay, why, on_hold, *rest = row
    return SiteClock(site, next_at, requested, delay, why, bool(on_hold), *rest)
