"""When each URL was seen last and how often it changed, durable: the table `revisit` of a store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ultracrawl.rules.recrawl import ChangeHistory, KnownPage, Observation, SiteSize

if TYPE_CHECKING:
    import sqlite3


class KnownUrl(NamedTuple):
    """A known URL that something led to for the first time in a cycle."""

    key: int
    url: str
    site: str
    depth: int
    display_url: str


class UnseenUrl(NamedTuple):
    """A known URL that nothing led to for a while, and that was not fetched either."""

    key: int
    url: str
    shown_url: str
    has_document: bool
    is_gone: bool


class Advice(NamedTuple):
    """What a sitemap says about a URL."""

    key: int
    changefreq: str = ""
    priority: float | None = None
    changed: float = 0.0
    """When it changed last, seconds since the epoch; 0 if it does not say, or is not believed."""


class RevisitStore(Protocol):
    """The part of a `StateStore` about visits over time. Writes become durable with its `flush`."""

    @property
    def cycle(self) -> int:
        """The number of the present cycle."""

    def saw(self, keys: Iterable[int]) -> None:
        """Note that URLs were seen in this cycle: fetched, or led to."""

    def first_met(self, keys: Iterable[int]) -> list[KnownUrl]:
        """Note that URLs were seen; returns, in order, the known ones that were not, in this cycle.

        Sitemaps are not among them, nor what somebody removed.
        """

    def observe(self, observation: Observation) -> None:
        """Note what a visit says about the life of a page."""

    def history(self, key: int) -> ChangeHistory:
        """Return what the visits to a page say together; sees what was flushed."""

    def unseen(self, cycles: int) -> list[UnseenUrl]:
        """Return the known URLs, sitemaps apart, not seen for at least so many cycles; sees what was flushed."""

    def links(self) -> Iterator[tuple[int, bytes]]:
        """Yield every page that has links: its key and their keys; sees what was flushed."""

    def advise(self, advice: Iterable[Advice]) -> None:
        """Note what a sitemap says about URLs."""

    def site_sizes(self) -> dict[str, SiteSize]:
        """Return how many URLs of each site are known, sitemaps and removed ones apart; sees what was flushed."""

    def fetched_since(self, at: float) -> dict[str, int]:
        """Return how many pages of each site were fetched since a time, sitemaps apart; sees what was flushed."""

    def path_sizes(self, limit: int) -> dict[str, int]:
        """Return how many URLs with a query are known of each path (the URL up to the `?`); sees what was flushed.

        At most `limit` paths, those with most URLs.
        """

    def known_pages(self, keys: Sequence[int] | None = None) -> Iterator[KnownPage]:
        """Yield all known URLs, sitemaps and removed ones apart, or those of some keys; sees what was flushed."""


_ID = "(SELECT id FROM url WHERE key={})"
_UNKNOWN = "INSERT OR IGNORE INTO revisit (id) SELECT id FROM url WHERE key=?"
_SAW = """
    INSERT INTO revisit (id, seen) SELECT id, ? FROM url WHERE key=?
    ON CONFLICT (id) DO UPDATE SET seen=excluded.seen WHERE seen<>excluded.seen"""
_SAW_NEW = "INSERT INTO revisit (id, seen) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET seen=excluded.seen"
_OBSERVE = f"""
    UPDATE revisit SET checks=checks+(first>0), changes=changes+(first>0 AND :changed),
    quiet=quiet+CASE WHEN first>0
        THEN max(0, min(:at-last,
            CASE WHEN coalesce(:modified, modified)>0 THEN :at-coalesce(:modified, modified) ELSE :at-last END))
        ELSE 0 END,
    first=CASE WHEN first>0 THEN first ELSE :at END, last=:at,
    modified=coalesce(:modified, modified), markup=coalesce(:markup, markup)
    WHERE id={_ID.format(":key")}"""  # noqa: S608 - constant texts
_FIRST_MET = """
    SELECT u.key, u.url, u.site, u.depth, u.display_url FROM url u LEFT JOIN revisit r ON r.id=u.id
    WHERE u.key IN (SELECT value FROM json_each(?)) AND coalesce(r.seen, 0)<>?
    AND u.outcome<>'REMOVED' AND u.key NOT IN (SELECT key FROM sitemap)"""
_UNSEEN = """
    SELECT u.key, u.url, CASE u.display_url WHEN '' THEN u.url ELSE u.display_url END,
    u.indexed OR u.handed, u.outcome='GONE' FROM url u JOIN revisit r ON r.id=u.id
    WHERE r.seen<=? AND u.leaving='' AND u.outcome<>'REMOVED' AND u.key NOT IN (SELECT key FROM sitemap)
    AND u.key NOT IN (SELECT key FROM pending) ORDER BY u.url"""


_SIZES = """
    SELECT site, sum(last_fetched>0), sum(last_fetched=0) FROM url
    WHERE outcome<>'REMOVED' AND key NOT IN (SELECT key FROM sitemap) GROUP BY site"""
_FETCHED = """
    SELECT site, count(*) FROM url WHERE last_fetched>=? AND outcome IN
    ('NEW', 'MODIFIED', 'UNMODIFIED', 'NOT_MODIFIED', 'NOT_INDEXED', 'DUPLICATE', 'FAILED', 'PENDING')
    AND key NOT IN (SELECT key FROM sitemap) GROUP BY site"""
_PATH_SIZES = """
    SELECT substr(url, 1, instr(url, '?') - 1) AS path, count(*) FROM url WHERE instr(url, '?')
    GROUP BY path ORDER BY count(*) DESC LIMIT ?"""
_PAGES = """
    SELECT u.key, u.url, u.site, u.depth, u.last_fetched, coalesce(r.markup, 0), coalesce(r.changefreq, ''),
    r.priority, coalesce(r.told, 0), coalesce(r.first, 0), coalesce(r.last, 0), coalesce(r.checks, 0),
    coalesce(r.changes, 0), coalesce(r.quiet, 0), coalesce(r.modified, 0)
    FROM url u LEFT JOIN revisit r ON r.id=u.id
    WHERE u.outcome<>'REMOVED' AND u.key NOT IN (SELECT key FROM sitemap)"""
_SOME_PAGES = f"{_PAGES} AND u.key IN (SELECT value FROM json_each(?))"  # noqa: S608 - constant texts
_HISTORY = """
    SELECT r.first, r.last, r.checks, r.changes, r.quiet, r.modified
    FROM url u JOIN revisit r ON r.id=u.id WHERE u.key=?"""
_ADVISE = f"""
    UPDATE revisit SET changefreq=?, priority=?, told=? WHERE id={_ID.format("?")}"""  # noqa: S608 - constant texts


class RevisitTable:
    """The table `revisit` of a SQLite store; `read` runs a query of it and returns the rows."""

    def __init__(self, db: sqlite3.Connection, read: Callable[..., list[tuple[Any, ...]]]) -> None:
        self._db = db
        self._read = read
        self._saw: set[int] = set()
        self._observed: list[Observation] = []
        self._advice: dict[int, Advice] = {}
        self.cycle = 0

    @property
    def unwritten(self) -> int:
        """The number of writes that wait for the next flush."""
        return len(self._saw) + len(self._observed) + len(self._advice)

    def saw(self, keys: Iterable[int]) -> None:
        """Note that URLs were seen in this cycle."""
        self._saw.update(keys)

    def first_met(self, keys: Iterable[int]) -> list[KnownUrl]:
        """Note that URLs were seen; returns the known ones that were not, yet."""
        unmet = [key for key in keys if key not in self._saw]
        self._saw.update(unmet)
        rows = self._read(_FIRST_MET, json.dumps(unmet), self.cycle) if unmet else []
        found = {row[0]: KnownUrl(*row) for row in rows}
        return [found[key] for key in unmet if key in found]

    def observe(self, observation: Observation) -> None:
        """Note what a visit says."""
        self._observed.append(observation)

    def history(self, key: int) -> ChangeHistory:
        """Return what the visits to a page say together."""
        return next((ChangeHistory(*row) for row in self._read(_HISTORY, key)), ChangeHistory())

    def unseen(self, cycles: int) -> list[UnseenUrl]:
        """Return the known URLs that were last seen at least so many cycles ago."""
        rows = self._read(_UNSEEN, self.cycle - cycles)
        return [UnseenUrl(key, url, shown, bool(has), bool(gone)) for key, url, shown, has, gone in rows]

    def links(self) -> Iterator[tuple[int, bytes]]:
        """Yield every page that has links, with them."""
        yield from self._db.execute("SELECT key, links FROM url WHERE links<>x''")

    def advise(self, advice: Iterable[Advice]) -> None:
        """Note what a sitemap says about URLs."""
        self._advice.update((one.key, one) for one in advice)

    def site_sizes(self) -> dict[str, SiteSize]:
        """Return how many URLs of each site are known."""
        return {site: SiteSize(fetched, new) for site, fetched, new in self._read(_SIZES)}

    def fetched_since(self, at: float) -> dict[str, int]:
        """Return how many pages of each site were fetched since a time."""
        return dict(self._read(_FETCHED, at))

    def path_sizes(self, limit: int) -> dict[str, int]:
        """Return how many URLs with a query are known of each path."""
        return dict(self._read(_PATH_SIZES, limit))

    def known_pages(self, keys: Sequence[int] | None = None) -> Iterator[KnownPage]:
        """Yield all known URLs, or those of some keys."""
        some = (_PAGES, ()) if keys is None else (_SOME_PAGES, (json.dumps(keys),))
        rows = self._db.execute(*some)
        for key, url, site, depth, fetched, markup, changefreq, priority, told, *history in rows:
            yield KnownPage(
                key,
                url,
                site,
                depth,
                fetched,
                bool(markup),
                changefreq,
                priority,
                ChangeHistory(*history),
                told,
            )

    def write_new(self, places: Iterable[int]) -> None:
        """Note that the URLs at these places of the document table were seen; called inside a transaction."""
        self._db.executemany(_SAW_NEW, [(place, self.cycle) for place in places])

    def write(self) -> None:
        """Write what waits; called inside a transaction of the store, when the URLs are in its table."""
        run = self._db.executemany
        told = {*self._advice, *(one.key for one in self._observed)}
        run(_UNKNOWN, [(key,) for key in told - self._saw])
        run(_SAW, [(self.cycle, key) for key in self._saw])
        run(_ADVISE, [(one.changefreq, one.priority, one.changed, one.key) for one in self._advice.values()])
        run(
            _OBSERVE,
            [
                {"key": o.key, "at": o.at, "changed": o.changed, "modified": o.modified, "markup": o.markup}
                for o in self._observed
            ],
        )

    def written(self) -> None:
        """Take note that the transaction of `write` went well."""
        self._saw.clear()
        self._observed.clear()
        self._advice.clear()
