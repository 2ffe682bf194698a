"""The site store: clocks, leases, robots.txt responses, sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING

from ultracrawl.errors import UserError
from ultracrawl.stores.port.site_store import LeaseHolder, SiteClock, StoredRobots, StoredSession

if TYPE_CHECKING:
    from ultracrawl.stores.shared.tables import Row, SharedTables, Statements

KEPT = 30 * 86_400.0
"""Seconds until an unused site, robots.txt response or session is deleted."""
CLOCK = (
    "site", "next_at", "requested", "delay", "why", "on_hold", "errors", "slowed", "last_error", "error_at",
)  # fmt: skip
"""The columns of a `SiteClock`."""
LOCK_SITES = "SELECT site, crawl FROM site WHERE site = ANY(%s) ORDER BY site FOR UPDATE"
_GET_CLOCKS = f"SELECT {', '.join(CLOCK)} FROM site WHERE site = ANY(%s)"  # noqa: S608 - constant names
_IS_OPEN = "SELECT 1 FROM crawl AS c WHERE c.crawl = %s FOR KEY SHARE"
_ADD_SITES = """
    INSERT INTO site (site) SELECT name FROM unnest(%s::text[]) AS new(name) WHERE true ON CONFLICT DO NOTHING"""
_TAKE_SITES = "UPDATE site SET crawl = %s, since = moment() WHERE site = ANY(%s) AND crawl <> %s"
_WAITING = "SELECT site, crawl FROM waiting WHERE site = ANY(%s) ORDER BY number DESC"
_ADD_WAITING = """
    INSERT INTO waiting (site, crawl) SELECT name, %s::bigint FROM unnest(%s::text[]) AS new(name) WHERE true
    ON CONFLICT DO NOTHING"""
_DELETE_WAITING = "DELETE FROM waiting WHERE crawl = %s AND site = ANY(%s)"
_CONTENDED_SITES = """
    SELECT site FROM site WHERE crawl = %s AND site IN (SELECT site FROM waiting WHERE crawl <> %s)"""
_SELECT_OVER = "SELECT c.crawl FROM crawl AS c WHERE until < moment() ORDER BY c.crawl"
_IS_OVER = "SELECT c.crawl FROM crawl AS c WHERE c.crawl = %s AND until < moment() FOR UPDATE"
_OF_SOURCE = """
    SELECT c.crawl, c.node, pid, until - moment() FROM crawl AS c WHERE source = %s ORDER BY c.crawl FOR UPDATE"""
_ASKED_UNTIL = "SELECT least(moment(), until) FROM crawl AS c WHERE c.crawl = %s FOR UPDATE"
_LOCK_LEASED = "SELECT site FROM site WHERE crawl = %s ORDER BY site FOR UPDATE"
_END_LEASES = """
    UPDATE site SET requested = greatest(requested, %s), next_at = greatest(next_at, %s + delay), crawl = 0
    WHERE crawl = %s AND crawl <> 0"""
_FORGET_OLD = (
    "DELETE FROM site WHERE crawl = 0 AND greatest(next_at, requested) < moment() - %s",
    "DELETE FROM robots WHERE greatest(received, failed) < moment() - %s",
    "DELETE FROM session WHERE since < moment() - %s",
)
_HOLDER = """
    SELECT source, c.node, pid, since, until FROM site AS s JOIN crawl AS c ON c.crawl = s.crawl
    WHERE site = %s AND until >= moment()"""
_WAITING_SOURCES = """
    SELECT source FROM waiting AS w JOIN crawl AS c ON c.crawl = w.crawl WHERE site = %s ORDER BY number"""
_ROBOTS = ("origin", "received", "status", "body", "error", "timed_out", "failed", "guessed")
_GET_ROBOTS = f"SELECT {', '.join(_ROBOTS)} FROM robots WHERE origin = %s AND shown = %s"  # noqa: S608 - constant names
_PUT_ROBOTS = f"""
    INSERT INTO robots AS r (shown, {", ".join(_ROBOTS)}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (origin, shown) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in _ROBOTS[1:])}
    WHERE excluded.received >= r.received"""  # noqa: S608 - the same
_PUT_SESSION = """
    INSERT INTO session AS s (name, since, sealed) VALUES (%s, %s, %s)
    ON CONFLICT (name) DO UPDATE SET since = excluded.since, sealed = excluded.sealed
    WHERE excluded.since >= s.since"""
_RESET_ERRORS = "UPDATE site SET errors = 0, slowed = 0, delay = 0 WHERE site = ANY(%s) AND crawl = 0"

_robots_values = attrgetter(*_ROBOTS)


class SqlSiteStore:
    """The sites of a project; see `SiteStore`. An engine says who a crawl is, and whether its process has ended.

    A transaction locks the rows of crawls before those of sites, and sites by name, so that none waits for another in
    a ring. Who holds the row of a site decides about its lease and its waiting list.
    """

    def __init__(self, tables: SharedTables) -> None:
        self._tables = tables
        self.renewed = tables.renewed

    # ---- leases

    def _end_earlier(self, db: Statements, source: str, has_ended: Callable[[int], bool]) -> None:
        """End the crawls of a source, and forget what is old. Raises `UserError` if one of them may still run."""
        for crawl, node, pid, left in db.rows(_OF_SOURCE, source):
            if left >= 0 and not has_ended(crawl):
                raise UserError(
                    f"the source {source!r} is being crawled by process {pid} on {node}, "
                    f"whose lease lasts {left:.0f} s more; wait for it, or end it with `ultracrawl stop {source}`"
                )
            _end_crawl(db, crawl)
        for statement in _FORGET_OLD:
            db.run(statement, KEPT)

    def lease_sites(self, crawl: int, wanted: Mapping[str, Sequence[str]]) -> dict[str, list[SiteClock]]:
        """Lease sites that no other crawl holds; returns the clocks by name."""
        for (over,) in self._tables.read(_SELECT_OVER):
            self._tables.transact(lambda db, over=over: _end_if_over(db, over))  # type: ignore[misc]  # binds now
        return self._tables.transact(lambda db: _lease(db, crawl, wanted))

    def stop_waiting(self, crawl: int, sites: Iterable[str]) -> None:
        """Remove a crawl from the waiting lists of sites."""
        self._tables.read(_DELETE_WAITING, crawl, list(sites))

    def contended_sites(self, crawl: int) -> frozenset[str]:
        """Return the sites leased by a crawl that other crawls wait for."""
        return frozenset(site for (site,) in self._tables.read(_CONTENDED_SITES, crawl, crawl))

    def close_crawl(self, crawl: int) -> None:
        """Unregister a crawl that has released its sites."""
        self._tables.transact(lambda db: _end_crawl(db, crawl, now=False))

    # ---- inspection

    def get_clock(self, site: str) -> SiteClock | None:
        """Return the clock of a site, None if it is unknown."""
        rows = self._tables.read(_GET_CLOCKS, [site])
        return _clock(rows[0]) if rows else None

    def lease_holder(self, site: str) -> LeaseHolder | None:
        """Return the holder of the lease of a site, None if it is free."""
        for source, node, pid, since, until in self._tables.read(_HOLDER, site):
            waiting = tuple(name for (name,) in self._tables.read(_WAITING_SOURCES, site))
            return LeaseHolder(source, node, pid, since, until, waiting)
        return None

    # ---- robots.txt

    def get_robots(self, origin: str, shown: str) -> StoredRobots | None:
        """Return the last robots.txt response of an origin."""
        for name, received, status, body, error, timed_out, failed, guessed in self._tables.read(
            _GET_ROBOTS, origin, shown
        ):
            return StoredRobots(name, received, status, body, error, bool(timed_out), failed, guessed)
        return None

    def put_robots(self, row: StoredRobots, shown: str) -> None:
        """Store a robots.txt response in place of an older one."""
        self._tables.read(_PUT_ROBOTS, shown, *_robots_values(row))

    # ---- log-ins

    def get_session(self, name: str) -> StoredSession | None:
        """Return the session stored under a name, or None."""
        rows = self._tables.read("SELECT since, sealed FROM session WHERE name = %s", name)
        return StoredSession(*rows[0]) if rows else None

    def put_session(self, name: str, session: StoredSession) -> None:
        """Store a session in place of an older one."""
        self._tables.read(_PUT_SESSION, name, session.since, session.sealed)

    # ---- start of a run

    def reset_site_errors(self, sites: Iterable[str]) -> None:
        """Reset errors and back-off of sites that are not leased."""
        names = sorted(set(sites))

        def reset(db: Statements) -> None:
            db.rows(LOCK_SITES, names)
            db.run(_RESET_ERRORS, names)

        self._tables.transact(reset)

    def close(self) -> None:
        """Release the store."""
        self._tables.close()


def _lease(db: Statements, crawl: int, wanted: Mapping[str, Sequence[str]]) -> dict[str, list[SiteClock]]:
    every = sorted({site for sites in wanted.values() for site in sites})
    if not db.rows(_IS_OPEN, crawl):
        return {}
    db.run(_ADD_SITES, every)
    holders: dict[str, int] = dict(db.rows(LOCK_SITES, every))
    first: dict[str, int] = dict(db.rows(_WAITING, every))  # the last one counts, which has waited longest
    leased = dict[str, Sequence[str]]()
    for name, sites in wanted.items():
        if all(
            holders[site] == crawl or (not holders[site] and first.get(site, crawl) == crawl)
            for site in sites
        ):
            leased[name] = sites
            holders.update(dict.fromkeys(sites, crawl))
    taken = sorted({site for sites in leased.values() for site in sites})
    # Together with what it waits for: a site that one name got and another one needs is not waited for.
    missed = sorted(
        {site for name, sites in wanted.items() if name not in leased for site in sites} - {*taken}
    )
    if missed:
        db.run(_ADD_WAITING, crawl, missed)
    if not taken:
        return {name: [] for name in leased}
    db.run(_TAKE_SITES, crawl, taken, crawl)
    if first:
        db.run(_DELETE_WAITING, crawl, taken)
    clocks = {row[0]: _clock(row) for row in db.rows(_GET_CLOCKS, taken)}
    return {name: [clocks[site] for site in sites] for name, sites in leased.items()}


def _end_if_over(db: Statements, crawl: int) -> None:
    if db.rows(_IS_OVER, crawl):  # else it has renewed its lease meanwhile
        _end_crawl(db, crawl)


def _end_crawl(db: Statements, crawl: int, *, now: bool = True) -> None:
    """End a crawl; its clocks are set as if it had sent requests until its leases ended, or until `now`."""
    for (last,) in db.rows(_ASKED_UNTIL, crawl):
        asked = last if now else 0.0
        db.rows(_LOCK_LEASED, crawl)
        db.run(_END_LEASES, asked, asked, crawl)
        db.run("DELETE FROM waiting WHERE crawl = %s", crawl)
        db.run("DELETE FROM crawl AS c WHERE c.crawl = %s", crawl)


def _clock(row: Row) -> SiteClock:
    site, next_at, requested, delay, why, on_hold, *rest = row
    return SiteClock(site, next_at, requested, delay, why, bool(on_hold), *rest)
