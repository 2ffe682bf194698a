"""Sites, sitemaps and feeds of one source, and how far runs have listed it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter

import psycopg

from ultracrawl.model import UrlOutcome
from ultracrawl.rules.recrawl.feed_links import FeedLink
from ultracrawl.stores.caching.read_ahead import (
    FEEDS_AHEAD,
    LARGE_VALUE,
    ValuesAhead,
    size_of_feed,
    size_of_sitemap,
)
from ultracrawl.stores.port.sites import StoredSite, StoredSitemap
from ultracrawl.stores.postgresql.access.fencing import run_for
from ultracrawl.stores.postgresql.codes import OUTCOME_NUMBERS
from ultracrawl.stores.postgresql.part_base import PostgresPart, StoreAccess
from ultracrawl.stores.postgresql.queue import PostgresQueue

KEPT = 30 * 86_400.0
"""Seconds after the last request until a site is deleted."""
MOST_SITES = 10_000
"""Maximum number of flushed sites in memory."""
MAX_LISTINGS = 100
"""Number of runs whose listing state is kept."""

_SITE = "site, seen, own_delay, given_up, robots, stand_in"
_SELECT_SITE = f"SELECT {_SITE} FROM known_site WHERE {{own}}"  # noqa: S608 - constant names
_PUT_SITES = f"""
    INSERT INTO known_site (source, part, {_SITE})
    SELECT {{ids}}, * FROM unnest(%s::text[], %s::float8[], %s::float8[], %s::int[], %s::text[], %s::text[])
    ON CONFLICT (source, part, site) DO UPDATE SET seen = excluded.seen, own_delay = excluded.own_delay,
    given_up = excluded.given_up, robots = excluded.robots, stand_in = excluded.stand_in"""  # noqa: S608 - constant names
_SELECT_SITEMAPS = """
    SELECT key, run, is_index, CASE WHEN key = %s OR octet_length(dates) <= %s THEN dates END FROM sitemap
    WHERE {own} AND key = ANY(%s)"""
_PUT_SITEMAPS = """
    INSERT INTO sitemap (source, part, key, run, is_index, dates)
    SELECT {ids}, * FROM unnest(%s::bigint[], %s::int[], %s::bool[], %s::bytea[])
    ON CONFLICT (source, part, key) DO UPDATE SET run = excluded.run, is_index = excluded.is_index,
    dates = excluded.dates"""
_ANNOUNCE = """
    INSERT INTO announced (source, part, key, lastmod) SELECT {ids}, * FROM unnest(%s::bigint[], %s::bigint[])
    ON CONFLICT (source, part, key) DO UPDATE SET lastmod = greatest(announced.lastmod, excluded.lastmod)"""
_FEED_LINK = "key, seen, date, place, expired, alone"
_PUT_FEED_LINKS = f"""
    INSERT INTO feed_link (source, part, feed, {_FEED_LINK}) SELECT {{ids}}, * FROM unnest(
        %s::bigint[], %s::bigint[], %s::float8[], %s::float8[], %s::int[], %s::bool[], %s::bool[])
    ON CONFLICT (source, part, feed, key) DO UPDATE SET seen = excluded.seen, date = excluded.date,
    place = excluded.place, expired = excluded.expired, alone = excluded.alone"""  # noqa: S608 - constant names
_UNUSED_SITEMAPS = f"""
    SELECT key FROM sitemap m WHERE {{m}} AND (run < %s OR EXISTS (
        SELECT FROM url u WHERE {{u}} AND u.key = m.key AND u.outcome = {OUTCOME_NUMBERS[UrlOutcome.GONE]}))"""  # noqa: S608 - constant texts
_PUT_LISTINGS = """
    INSERT INTO listing (source, part, run, state) SELECT {ids}, * FROM unnest(%s::int[], %s::text[])
    ON CONFLICT (source, part, run) DO UPDATE SET state = excluded.state"""
_TO_RESET = "given_up <> 0 OR stand_in <> ''"

_site_values = attrgetter(*_SITE.split(", "))


class PostgresSites(PostgresPart):
    """The tables `known_site`, `sitemap`, `announced` and `feed_link`; see `SitePart`."""

    def __init__(self, access: StoreAccess, queue: PostgresQueue) -> None:
        super().__init__(access)
        self._written: dict[str, StoredSite] = {}
        """Flushed rows, so that a site that is read repeatedly costs no query."""
        keeps = self._record_cache.keeps
        self._sitemaps_ahead = ValuesAhead(
            queue.keys_from,
            lambda key: any(key in part._sitemaps for part in self.generations),
            self._read_sitemaps,
            size_of_sitemap,
            keeps=keeps,
        )
        self._feeds_ahead = ValuesAhead(
            queue.keys_from,
            lambda key: any(key in part._feeds for part in self.generations),
            self._read_feeds,
            size_of_feed,
            keeps=keeps,
            ahead=FEEDS_AHEAD,
        )
        self.dates_announced = False
        self.renewed: tuple[str, ...] = ()

    def begin_generation(self) -> None:
        """Begin without sites, sitemaps and feeds."""
        self._sites: dict[str, StoredSite] = {}
        self._sitemaps: dict[int, StoredSitemap] = {}
        self._announced: dict[int, int] = {}
        self._feeds: dict[int, list[FeedLink]] = {}
        self.changes = (self._sites, self._sitemaps, self._announced, self._feeds)

    # ---- sites

    def get_site(self, site: str) -> StoredSite | None:
        """Return what is stored of a site."""
        for rows in (self._sites, self.frozen._sites, self._written):
            if site in rows:
                return rows[site]
        found = self._read(f"{_SELECT_SITE} AND site = %s", site)
        return StoredSite(*found[0]) if found else None

    def put_site(self, row: StoredSite) -> None:
        """Store a site."""
        self._sites[row.site] = row

    def special_sites(self) -> list[StoredSite]:
        """Return the sites with a delay of their own or a mirror, or that were given up."""
        rows = self._read(f"{_SELECT_SITE} AND (own_delay IS NOT NULL OR {_TO_RESET}) ORDER BY site")
        return [StoredSite(*row) for row in rows]

    # ---- sitemaps

    def sitemap_keys(self) -> frozenset[int]:
        """Return the keys of all URLs that are sitemaps."""
        stored = self._read("SELECT key FROM sitemap WHERE {own}")
        return frozenset((*self._sitemaps, *self.frozen._sitemaps, *(key for (key,) in stored)))

    def get_sitemap(self, key: int) -> StoredSitemap | None:
        """Return a sitemap, None for other URLs."""
        for part in reversed(self.generations):
            if key in part._sitemaps:
                return part._sitemaps[key]
        return self._sitemaps_ahead.get(key)

    def _read_sitemaps(self, keys: list[int]) -> dict[int, StoredSitemap | None]:
        rows = self._read(_SELECT_SITEMAPS, keys[0], LARGE_VALUE, keys)
        return {
            key: None if dates is None else StoredSitemap(run, is_index, dates)
            for key, run, is_index, dates in rows
        }

    def put_sitemap(self, key: int, sitemap: StoredSitemap) -> None:
        """Store a sitemap."""
        self._sitemaps[key] = sitemap
        self._sitemaps_ahead.drop((key,))

    def announce_dates(self, dates: Iterable[tuple[int, int]]) -> None:
        """Store the `lastmod` dates of sitemap entries."""
        for key, date in dates:
            self._announced[key] = max(date, self._announced.get(key, date))
        self.dates_announced = self.dates_announced or bool(self._announced)

    def announced_dates(self, keys: Sequence[int]) -> dict[int, int]:
        """Return the `lastmod` dates by key."""
        query = "SELECT key, lastmod FROM announced WHERE {own} AND key = ANY(%s)"
        found: dict[int, int] = dict(self._read(query, list(keys)))
        for part in self.generations:
            for key in part._announced.keys() & keys:
                found[key] = max(part._announced[key], found.get(key, part._announced[key]))
        return found

    # ---- feeds

    def feed_keys(self) -> frozenset[int]:
        """Return the keys of the feeds with stored links."""
        rows = self._read("SELECT DISTINCT feed FROM feed_link WHERE {own}")
        return frozenset((*self._feeds, *self.frozen._feeds, *(key for (key,) in rows)))

    def feed_links(self, feed: int) -> list[FeedLink]:
        """Return the links of a feed."""
        for part in reversed(self.generations):
            if feed in part._feeds:
                return part._feeds[feed]
        return self._feeds_ahead.get(feed) or []

    def _read_feeds(self, feeds: list[int]) -> dict[int, list[FeedLink]]:
        query = (
            f"SELECT feed, {_FEED_LINK} FROM feed_link WHERE {{own}} AND feed = ANY(%s) ORDER BY feed, key"  # noqa: S608 - constant names
        )
        found = dict[int, list[FeedLink]]()
        for feed, *row in self._read(query, feeds):
            found.setdefault(feed, []).append(FeedLink(*row))
        return found

    def put_feed_links(self, feed: int, links: Iterable[FeedLink]) -> None:
        """Replace the links of a feed."""
        self._feeds[feed] = list(links)
        self._feeds_ahead.drop((feed,))

    def all_feed_links(self) -> Iterator[tuple[int, FeedLink]]:
        """Yield all links of feeds, each with its feed."""
        query = f"SELECT feed, {_FEED_LINK} FROM feed_link WHERE {{own}} ORDER BY feed, key"  # noqa: S608 - constant names
        for feed, *row in self._read(query):
            yield feed, FeedLink(*row)

    # ---- writing, inside a transaction of the store

    def unused_sitemaps(self, before: int) -> list[int]:
        """Return the keys of sitemaps that are gone or were not fetched by the run `before`."""
        return [key for (key,) in self._read(_UNUSED_SITEMAPS, before)]

    def begin_run(self, db: psycopg.Connection, started: float) -> tuple[str, ...]:
        """Delete dates and old sites, and reset the sites that were given up (FAST 5.1 C17); returns those."""
        db.execute(self._sql("DELETE FROM announced WHERE {own}"))
        to_reset = f"SELECT site, stand_in FROM known_site WHERE {{own}} AND ({_TO_RESET}) ORDER BY site"  # noqa: S608 - constant texts
        rows = db.execute(self._sql(to_reset)).fetchall()
        reset = f"UPDATE known_site SET given_up = 0, stand_in = '' WHERE {{own}} AND ({_TO_RESET})"  # noqa: S608 - constant texts
        db.execute(self._sql(reset))
        db.execute(self._sql("DELETE FROM known_site WHERE {own} AND seen < %s"), [started - KEPT])
        return tuple(name for row in rows for name in row if name)

    def forget_read(self) -> None:
        """Forget what was read of sitemaps and feeds, some of which may have left the document table."""
        self._sitemaps_ahead.forget()
        self._feeds_ahead.forget()

    def run_began(self, renewed: tuple[str, ...]) -> None:
        """Forget what belongs to the previous run; `renewed` are the sites that were reset."""
        self.dates_announced = False
        self._written.clear()
        self.renewed = renewed

    def resume_run(self) -> None:
        """Restore `dates_announced` of an interrupted run."""
        self.dates_announced = bool(self._read("SELECT 1 FROM announced WHERE {own} LIMIT 1"))

    def write_changes(self, db: psycopg.Connection) -> None:
        """Write the unflushed changes."""
        run_for(db, self._sql(_PUT_SITES), [_site_row(site) for site in self._sites.values()])
        sitemaps = [(key, one.run, one.is_index, one.dates) for key, one in self._sitemaps.items()]
        run_for(db, self._sql(_PUT_SITEMAPS), sitemaps)
        run_for(db, self._sql(_ANNOUNCE), list(self._announced.items()))
        if self._feeds:
            db.execute(
                self._sql("DELETE FROM feed_link WHERE {own} AND feed = ANY(%s)"), [sorted(self._feeds)]
            )
        links = {(feed, link.key): _link_row(feed, link) for feed, own in self._feeds.items() for link in own}
        run_for(db, self._sql(_PUT_FEED_LINKS), list(links.values()))

    def forget_frozen(self) -> None:
        """Keep the flushed sites in memory, and forget the other changes."""
        if len(self._written) > MOST_SITES:
            self._written.clear()
        self._written.update(self.frozen._sites)
        super().forget_frozen()


class PostgresListings(PostgresPart):
    """The table `listing`; see `Store.listings`."""

    def begin_generation(self) -> None:
        """Begin without states."""
        self._states: dict[int, str] = {}
        self.changes = (self._states,)

    def all(self) -> list[tuple[int, str]]:
        """Return (run number, listing state), newest first."""
        stored: dict[int, str] = dict(self._read("SELECT run, state FROM listing WHERE {own}"))
        return sorted((stored | self.frozen._states | self._states).items(), reverse=True)

    def note(self, run: int, state: str) -> None:
        """Store how far a run has listed its source."""
        self._states[run] = state

    def forget_all(self) -> None:
        """Delete all states, durably."""
        self._database.write(lambda db: db.execute(self._sql("DELETE FROM listing WHERE {own}")))
        for part in (self, self.frozen):
            part.begin_generation()

    def write_changes(self, db: psycopg.Connection) -> None:
        """Write the states, and delete those of runs long ago."""
        run_for(db, self._sql(_PUT_LISTINGS), list(self._states.items()))
        if self._states:
            query = self._sql("DELETE FROM listing WHERE {own} AND run < %s")
            db.execute(query, [max(self._states) - MAX_LISTINGS])


def _site_row(site: StoredSite) -> tuple[object, ...]:
    name, seen, own_delay, *rest = _site_values(site)
    return name, float(seen), None if own_delay is None else float(own_delay), *rest


def _link_row(feed: int, link: FeedLink) -> tuple[object, ...]:
    return feed, link.key, float(link.seen), float(link.date), link.place, link.expired, link.only
