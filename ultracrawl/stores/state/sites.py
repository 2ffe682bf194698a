"""Sites, sitemaps and feeds of one source: what changed since the last flush, over the stored rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from ultracrawl.model import UrlOutcome
from ultracrawl.rules.recrawl.feed_links import FeedLink
from ultracrawl.stores.port.sites import StoredSite, StoredSitemap
from ultracrawl.stores.port.texts import storable_row
from ultracrawl.stores.state.part import Access, Part, Writing, put_rows
from ultracrawl.stores.state.queue import Queue
from ultracrawl.stores.state.read_ahead import (
    FEEDS_AHEAD,
    LARGE_VALUE,
    ValuesAhead,
    size_of_feed,
    size_of_sitemap,
)

KEPT = 30 * 86_400.0
"""Seconds after the last request until a site is deleted."""
MOST_SITES = 10_000
"""Maximum number of flushed sites in memory."""
TO_RESET = "given_up <> 0 OR stand_in <> ''"
"""The condition that a new run resets a site (FAST 5.1 C17)."""
_SITE = "site, seen, own_delay, given_up, robots, stand_in"
_SITES = f"SELECT {_SITE} FROM known_site WHERE {{own}}"  # noqa: S608 - constant texts
_FEEDS = "SELECT feed, key, seen, date, place, expired, alone FROM feed_link WHERE {own}"

_site_values = attrgetter(*_SITE.split(", "))
_link_values = attrgetter("key", "seen", "date", "place", "expired", "only")


class Sites(Part):
    """The sites, sitemaps and feeds; see `SitePart`."""

    SELECT_SITE = f"{_SITES} AND site = %s"
    SPECIAL_SITES = f"{_SITES} AND (own_delay IS NOT NULL OR {TO_RESET}) ORDER BY site"
    """Rows of sites with a delay of their own, and of those to be reset."""
    PUT_SITE = put_rows(
        "known_site",
        "site text",
        "seen float8, own_delay float8, given_up int, robots text, stand_in text",
    )
    SITEMAP_KEYS = "SELECT key FROM sitemap WHERE {own}"
    SELECT_SITEMAPS = """
        SELECT key, run, is_index, CASE WHEN key = %s OR length(dates) <= %s THEN dates END FROM sitemap
        WHERE {own} AND key = ANY(%s)"""
    """Takes a key, a size, and keys: larger dates only of the one key."""
    PUT_SITEMAP = put_rows("sitemap", "key bigint", "run int, is_index bool, dates bytea")
    UNUSED_SITEMAPS = """
        SELECT key FROM sitemap m WHERE {m} AND (run < %s OR EXISTS (
            SELECT 1 FROM url u WHERE {u} AND u.key = m.key AND u.outcome = %s))"""
    """Keys of those that were fetched before a run, or whose URLs have an outcome."""
    HAS_ANNOUNCED = "SELECT 1 FROM announced WHERE {own} LIMIT 1"
    SELECT_ANNOUNCED = "SELECT key, lastmod FROM announced WHERE {own} AND key = ANY(%s)"
    ANNOUNCE = """
        INSERT INTO announced (source, part, key, lastmod) SELECT {ids}, * FROM unnest(%s::bigint[], %s::bigint[])
        ON CONFLICT (source, part, key) DO UPDATE SET lastmod = greatest(announced.lastmod, excluded.lastmod)"""
    CLEAR_ANNOUNCED = "DELETE FROM announced WHERE {own}"
    FEED_KEYS = "SELECT DISTINCT feed FROM feed_link WHERE {own}"
    SELECT_FEEDS = f"{_FEEDS} AND feed = ANY(%s) ORDER BY feed, key"
    ALL_FEEDS = f"{_FEEDS} ORDER BY feed, key"
    PUT_LINK = put_rows(
        "feed_link",
        "feed bigint, key bigint",
        "seen float8, date float8, place int, expired bool, alone bool",
    )
    DELETE_FEED = "DELETE FROM feed_link WHERE {own} AND feed = ANY(%s)"
    SELECT_TO_RESET = f"SELECT site, stand_in FROM known_site WHERE {{own}} AND ({TO_RESET}) ORDER BY site"  # noqa: S608 - constant texts
    RESET_SITES = f"UPDATE known_site SET given_up = 0, stand_in = '' WHERE {{own}} AND ({TO_RESET})"  # noqa: S608 - constant texts
    DELETE_SITES = "DELETE FROM known_site WHERE {own} AND seen < %s"

    def __init__(self, access: Access, queue: Queue) -> None:
        super().__init__(access)
        self._written: dict[str, StoredSite] = {}
        """Flushed rows, so that a site that is read repeatedly costs no query."""
        keeps = self._record_cache.keeps
        self._sitemaps_ahead = ValuesAhead(
            queue.keys_from,
            self._has_new_sitemap,
            self._read_sitemaps,
            size_of_sitemap,
            keeps=keeps,
        )
        self._feeds_ahead = ValuesAhead(
            queue.keys_from,
            self._has_new_links,
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
        found = self._read(self.SELECT_SITE, site)
        return StoredSite(*found[0]) if found else None

    def put_site(self, row: StoredSite) -> None:
        """Store a site."""
        self._sites[row.site] = row

    def special_sites(self) -> list[StoredSite]:
        """Return the sites with a delay of their own or a mirror, or that were given up."""
        return [StoredSite(*row) for row in self._read(self.SPECIAL_SITES)]

    # ---- sitemaps

    def sitemap_keys(self) -> frozenset[int]:
        """Return the keys of all URLs that are sitemaps."""
        stored = self._read(self.SITEMAP_KEYS)
        return frozenset((*self._sitemaps, *self.frozen._sitemaps, *(key for (key,) in stored)))

    def get_sitemap(self, key: int) -> StoredSitemap | None:
        """Return a sitemap, None for other URLs."""
        for part in (self, self.frozen):
            if key in part._sitemaps:
                return part._sitemaps[key]
        return self._sitemaps_ahead.get(key)

    def _read_sitemaps(self, keys: list[int]) -> dict[int, StoredSitemap | None]:
        rows = self._read(self.SELECT_SITEMAPS, keys[0], LARGE_VALUE, self._many(keys))
        return {
            key: None if dates is None else StoredSitemap(run, bool(is_index), dates)
            for key, run, is_index, dates in rows
        }

    def _has_new_sitemap(self, key: int) -> bool:
        return key in self._sitemaps or key in self.frozen._sitemaps

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
        found: dict[int, int] = dict(self._read(self.SELECT_ANNOUNCED, self._many(list(keys))))
        for part in self.generations:
            for key in part._announced.keys() & keys:
                found[key] = max(part._announced[key], found.get(key, part._announced[key]))
        return found

    # ---- feeds

    def feed_keys(self) -> frozenset[int]:
        """Return the keys of the feeds with stored links."""
        rows = self._read(self.FEED_KEYS)
        return frozenset((*self._feeds, *self.frozen._feeds, *(key for (key,) in rows)))

    def feed_links(self, feed: int) -> list[FeedLink]:
        """Return the links of a feed."""
        for part in (self, self.frozen):
            if feed in part._feeds:
                return part._feeds[feed]
        return self._feeds_ahead.get(feed) or []

    def _read_feeds(self, feeds: list[int]) -> dict[int, list[FeedLink]]:
        found = dict[int, list[FeedLink]]()
        for feed, *row in self._read(self.SELECT_FEEDS, self._many(feeds)):
            found.setdefault(feed, []).append(_link(row))
        return found

    def _has_new_links(self, feed: int) -> bool:
        return feed in self._feeds or feed in self.frozen._feeds

    def put_feed_links(self, feed: int, links: Iterable[FeedLink]) -> None:
        """Replace the links of a feed."""
        self._feeds[feed] = list(links)
        self._feeds_ahead.drop((feed,))

    def all_feed_links(self) -> Iterator[tuple[int, FeedLink]]:
        """Yield all links of feeds, each with its feed."""
        for feed, *row in self._read(self.ALL_FEEDS):
            yield feed, _link(row)

    # ---- writing, inside a transaction of the store

    def unused_sitemaps(self, before: int) -> list[int]:
        """Return the keys of sitemaps that are gone or were not fetched by the run `before`."""
        rows = self._read(self.UNUSED_SITEMAPS, before, self._access.stored_outcome(UrlOutcome.GONE))
        return [key for (key,) in rows]

    def begin_run(self, to: Writing, started: float) -> tuple[str, ...]:
        """Delete dates and old sites, and reset the sites that were given up (FAST 5.1 C17); returns those."""
        to.execute(self.CLEAR_ANNOUNCED)
        rows = to.execute(self.SELECT_TO_RESET).fetchall()
        to.execute(self.RESET_SITES)
        to.execute(self.DELETE_SITES, (started - KEPT,))
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
        self.dates_announced = bool(self._read(self.HAS_ANNOUNCED))

    def write_changes(self, to: Writing) -> None:
        """Write the unflushed changes."""
        to.run(self.PUT_SITE, [storable_row(_site_values(site)) for site in self._sites.values()])
        sitemaps = [(key, one.run, one.is_index, one.dates) for key, one in self._sitemaps.items()]
        to.run(self.PUT_SITEMAP, sitemaps)
        to.run(self.ANNOUNCE, list(self._announced.items()))
        to.run(self.DELETE_FEED, [(feed,) for feed in self._feeds])
        links = {(feed, link.key): link for feed, own in self._feeds.items() for link in own}
        to.run(self.PUT_LINK, [(feed, *_link_values(link)) for (feed, _), link in links.items()])

    def forget_frozen(self) -> None:
        """Keep the flushed sites in memory, and forget the other changes."""
        if len(self._written) > MOST_SITES:
            self._written.clear()
        self._written.update(self.frozen._sites)
        super().forget_frozen()


def _link(row: Iterable[Any]) -> FeedLink:
    key, seen, date, place, expired, only = row
    return FeedLink(key, seen, date, place, bool(expired), bool(only))
