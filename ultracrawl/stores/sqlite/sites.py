"""Sites, sitemaps and feeds of one source: tables of the SQLite store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

from ultracrawl.rules.recrawl.feed_links import FeedLink
from ultracrawl.stores.caching.read_ahead import (
    FEEDS_AHEAD,
    LARGE_VALUE,
    ValuesAhead,
    size_of_feed,
    size_of_sitemap,
)
from ultracrawl.stores.port.sites import StoredSite, StoredSitemap
from ultracrawl.stores.port.texts import storable_row
from ultracrawl.stores.sqlite.database import SqliteAccess, SqlitePart
from ultracrawl.stores.sqlite.queue import SqliteQueue

KEPT = 30 * 86_400.0
"""Seconds after the last request until a site is deleted."""
MOST_SITES = 10_000
"""Maximum number of flushed sites in memory."""

_SITE = "site, seen, own_delay, given_up, robots, stand_in"
_PUT_SITE = f"INSERT OR REPLACE INTO site ({_SITE}) VALUES (?,?,?,?,?,?)"  # noqa: S608 - constant column names
_PUT_SITEMAP = "INSERT OR REPLACE INTO sitemap (key, run, is_index, dates) VALUES (?,?,?,?)"
_ANNOUNCE = """
    INSERT INTO announced (key, lastmod) VALUES (?,?)
    ON CONFLICT (key) DO UPDATE SET lastmod=max(lastmod, excluded.lastmod)"""
_SELECT_SITEMAPS = """
    SELECT key, run, is_index, CASE WHEN key=? OR length(dates)<=? THEN dates END FROM sitemap
    WHERE key IN (SELECT value FROM json_each(?))"""
_FEED_LINK = "key, seen, date, place, expired, only"
_SELECT_FEEDS = f"SELECT feed, {_FEED_LINK} FROM feed_link WHERE feed IN (SELECT value FROM json_each(?))"  # noqa: S608 - the same
_PUT_FEED_LINK = f"INSERT OR REPLACE INTO feed_link (feed, {_FEED_LINK}) VALUES (?,?,?,?,?,?,?)"  # noqa: S608 - the same

_site_values = attrgetter(*_SITE.split(", "))
_feed_link_values = attrgetter(*_FEED_LINK.split(", "))


class SqliteSites(SqlitePart):
    """The tables `site`, `sitemap`, `announced` and `feed_link`; see `SitePart`."""

    def __init__(self, access: SqliteAccess, queue: SqliteQueue) -> None:
        super().__init__(access)
        self._sites: dict[str, StoredSite] = {}
        self._written: dict[str, StoredSite] = {}
        """Flushed rows, so that a site that is read repeatedly costs no query."""
        self._sitemaps: dict[int, StoredSitemap] = {}
        self._announced: dict[int, int] = {}
        self._feeds: dict[int, list[FeedLink]] = {}
        keeps = access.record_cache.keeps
        self._sitemaps_ahead = ValuesAhead(
            queue.keys_from, self._sitemaps.__contains__, self._read_sitemaps, size_of_sitemap, keeps=keeps
        )
        self._feeds_ahead = ValuesAhead(
            queue.keys_from,
            self._feeds.__contains__,
            self._read_feeds,
            size_of_feed,
            keeps=keeps,
            ahead=FEEDS_AHEAD,
        )
        self.dates_announced = False
        self.renewed: tuple[str, ...] = ()
        self.changes = (self._sites, self._sitemaps, self._announced, self._feeds)

    # ---- sites

    def get_site(self, site: str) -> StoredSite | None:
        """Return what is stored of a site."""
        if site in self._sites:
            return self._sites[site]
        if site in self._written:
            return self._written[site]
        rows = self._read(f"SELECT {_SITE} FROM site WHERE site=?", site)  # noqa: S608 - constant column names
        return StoredSite(*rows[0]) if rows else None

    def put_site(self, row: StoredSite) -> None:
        """Store a site."""
        self._sites[row.site] = row

    def special_sites(self) -> list[StoredSite]:
        """Return the sites with a delay of their own or a mirror, or that were given up."""
        which = "own_delay IS NOT NULL OR given_up<>0 OR stand_in<>''"
        rows = self._read(f"SELECT {_SITE} FROM site WHERE {which}")  # noqa: S608 - constant texts
        return [StoredSite(*row) for row in rows]

    # ---- sitemaps

    def sitemap_keys(self) -> frozenset[int]:
        """Return the keys of all URLs that are sitemaps."""
        return frozenset((*self._sitemaps, *(key for (key,) in self._read("SELECT key FROM sitemap"))))

    def get_sitemap(self, key: int) -> StoredSitemap | None:
        """Return a sitemap, None for other URLs."""
        if key in self._sitemaps:
            return self._sitemaps[key]
        return self._sitemaps_ahead.get(key)

    def _read_sitemaps(self, keys: list[int]) -> dict[int, StoredSitemap | None]:
        rows = self._read(_SELECT_SITEMAPS, keys[0], LARGE_VALUE, json.dumps(keys))
        return {
            key: None if dates is None else StoredSitemap(run, bool(is_index), dates)
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
        query = "SELECT key, lastmod FROM announced WHERE key IN (SELECT value FROM json_each(?))"
        found: dict[int, int] = dict(self._read(query, json.dumps(keys)))
        for key in keys:
            if key in self._announced:
                found[key] = max(self._announced[key], found.get(key, self._announced[key]))
        return found

    # ---- feeds

    def feed_keys(self) -> frozenset[int]:
        """Return the keys of the feeds with stored links."""
        rows = self._read("SELECT DISTINCT feed FROM feed_link")
        return frozenset((*self._feeds, *(key for (key,) in rows)))

    def feed_links(self, feed: int) -> list[FeedLink]:
        """Return the links of a feed."""
        if feed in self._feeds:
            return self._feeds[feed]
        return self._feeds_ahead.get(feed) or []

    def _read_feeds(self, feeds: list[int]) -> dict[int, list[FeedLink]]:
        found = dict[int, list[FeedLink]]()
        for feed, *row in self._read(_SELECT_FEEDS, json.dumps(feeds)):
            found.setdefault(feed, []).append(_link(row))
        return found

    def put_feed_links(self, feed: int, links: Iterable[FeedLink]) -> None:
        """Replace the links of a feed."""
        self._feeds[feed] = list(links)
        self._feeds_ahead.drop((feed,))

    def all_feed_links(self) -> Iterator[tuple[int, FeedLink]]:
        """Yield all links of feeds, each with its feed."""
        for feed, *row in self._read(f"SELECT feed, {_FEED_LINK} FROM feed_link"):  # noqa: S608 - constant column names
            yield feed, _link(row)

    # ---- writing, inside a transaction of the store

    def begin_run(self, started: float, before: int) -> None:
        """Delete dates, old sites, and sitemaps that are gone or were not fetched by the run `before`.

        Sites that were given up are reset (FAST 5.1 C17).
        """
        run = self._db.execute
        run("DELETE FROM announced")
        run(
            "DELETE FROM url WHERE key IN (SELECT key FROM sitemap WHERE run<?) "
            "OR (outcome='GONE' AND key IN (SELECT key FROM sitemap))",
            (before,),
        )
        run("DELETE FROM sitemap WHERE key NOT IN (SELECT key FROM url)")
        self.dates_announced = False
        self._written.clear()
        self._forget_ahead()
        to_reset = "given_up<>0 OR stand_in<>''"
        rows = run(f"SELECT site, stand_in FROM site WHERE {to_reset}").fetchall()  # noqa: S608 - constant texts
        self.renewed = tuple(name for row in rows for name in row if name)
        run(f"UPDATE site SET given_up=0, stand_in='' WHERE {to_reset}")  # noqa: S608 - constant texts
        run("DELETE FROM site WHERE seen<?", (started - KEPT,))

    def resume_run(self) -> None:
        """Restore `dates_announced` of an interrupted run."""
        self.dates_announced = bool(self._read("SELECT 1 FROM announced LIMIT 1"))

    def write_changes(self) -> None:
        """Write the unflushed changes."""
        run = self._db.executemany
        run(_PUT_SITE, [storable_row(_site_values(site)) for site in self._sites.values()])
        run(_PUT_SITEMAP, [(key, sm.run, sm.is_index, sm.dates) for key, sm in self._sitemaps.items()])
        run(_ANNOUNCE, self._announced.items())
        run("DELETE FROM feed_link WHERE feed=?", [(feed,) for feed in self._feeds])
        rows = ((feed, *_feed_link_values(link)) for feed, links in self._feeds.items() for link in links)
        run(_PUT_FEED_LINK, rows)

    def forget_changes(self) -> None:
        """Keep the flushed sites in memory, and clear the changes."""
        if len(self._written) > MOST_SITES:
            self._written.clear()
        self._written.update(self._sites)
        super().forget_changes()

    def forget_dropped(self) -> None:
        """Delete sitemaps and feeds that left the document table; their entries stay, because they may have expired."""
        self._forget_ahead()
        self._db.execute("DELETE FROM sitemap WHERE key NOT IN (SELECT key FROM url)")
        self._db.execute("DELETE FROM feed_link WHERE feed NOT IN (SELECT key FROM url)")

    def _forget_ahead(self) -> None:
        self._sitemaps_ahead.forget()
        self._feeds_ahead.forget()


def _link(row: Iterable[Any]) -> FeedLink:
    key, seen, date, place, expired, only = row
    return FeedLink(key, seen, date, place, bool(expired), bool(only))
