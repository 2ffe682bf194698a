"""Which URLs of a source are sitemaps, and what sitemaps said in this run, durable."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import sqlite3


@dataclass(frozen=True, slots=True)
class StoredSitemap:
    """What is known of a sitemap beside its record, whose `links` are the keys of its entries."""

    run: int
    """The run that asked for it last."""
    is_index: bool = False
    """Its entries are sitemaps."""
    dates: bytes = b""
    """When each entry changed, in the order of `links`: 8 bytes each, whole seconds since the epoch, 0 for unknown."""

    def entries(self, links: bytes) -> Iterator[tuple[int, int]]:
        """Yield key and date of each entry; `links` are those of the record."""
        return zip(array("q", links), array("q", self.dates), strict=False)


class SitemapStore(Protocol):
    """The part of a `StateStore` that knows about sitemaps. Writes become durable with its `flush`."""

    def keys(self) -> frozenset[int]:
        """Return the keys of all URLs that are sitemaps."""

    def get(self, key: int) -> StoredSitemap | None:
        """Return what is known of a sitemap, None for other URLs."""

    def put(self, key: int, sitemap: StoredSitemap) -> None:
        """Keep what is known of a sitemap."""

    def announce(self, dates: Iterable[tuple[int, int]]) -> None:
        """Note when URLs (by key) changed by the word of a sitemap; of several sitemaps the latest date counts.

        What was noted holds until the next run begins.
        """

    @property
    def speak(self) -> bool:
        """Whether anything was noted in this run."""

    def dates(self, keys: Sequence[int]) -> dict[int, int]:
        """Return the noted date of those of the keys that have one; sees what was flushed."""


class SitemapTable:
    """The tables `sitemap` and `announced` of a SQLite store; `read` runs a query of it and returns the rows."""

    def __init__(self, db: sqlite3.Connection, read: Callable[..., list[tuple[Any, ...]]]) -> None:
        self._db = db
        self._read = read
        self._put: dict[int, StoredSitemap] = {}
        self._announced: list[tuple[int, int]] = []
        self.speak = False

    @property
    def unwritten(self) -> int:
        """The number of writes that wait for the next flush."""
        return len(self._put) + len(self._announced)

    def keys(self) -> frozenset[int]:
        """Return the keys of all URLs that are sitemaps."""
        return frozenset((*self._put, *(key for (key,) in self._read("SELECT key FROM sitemap"))))

    def get(self, key: int) -> StoredSitemap | None:
        """Return what is known of a sitemap."""
        if key in self._put:
            return self._put[key]
        for run, is_index, dates in self._read("SELECT run, is_index, dates FROM sitemap WHERE key=?", key):
            return StoredSitemap(run, bool(is_index), dates)
        return None

    def put(self, key: int, sitemap: StoredSitemap) -> None:
        """Keep what is known of a sitemap."""
        self._put[key] = sitemap

    def announce(self, dates: Iterable[tuple[int, int]]) -> None:
        """Note when URLs changed."""
        self._announced.extend(dates)
        self.speak = self.speak or bool(self._announced)

    def dates(self, keys: Sequence[int]) -> dict[int, int]:
        """Return the noted dates."""
        query = "SELECT key, lastmod FROM announced WHERE key IN (SELECT value FROM json_each(?))"
        return {row[0]: row[1] for row in self._read(query, json.dumps(keys))}

    def write(self) -> None:
        """Write what waits; called inside a transaction of the store."""
        self._db.executemany(
            "INSERT OR REPLACE INTO sitemap (key, run, is_index, dates) VALUES (?,?,?,?)",
            [(key, one.run, one.is_index, one.dates) for key, one in self._put.items()],
        )
        self._db.executemany(
            "INSERT INTO announced (key, lastmod) VALUES (?,?) "
            "ON CONFLICT (key) DO UPDATE SET lastmod=max(lastmod, excluded.lastmod)",
            self._announced,
        )

    def written(self) -> None:
        """Take note that the transaction of `write` went well."""
        self._put.clear()
        self._announced.clear()

    def begin_run(self, before: int) -> None:
        """Forget what was said, and the sitemaps that are gone or that the run `before` did not ask for."""
        self._db.execute("DELETE FROM announced")
        self._db.execute(
            "DELETE FROM url WHERE key IN (SELECT key FROM sitemap WHERE run<?) "
            "OR (outcome='GONE' AND key IN (SELECT key FROM sitemap))",
            (before,),
        )
        self.forget_dropped()
        self.speak = False

    def resume_run(self) -> None:
        """Take up what was said in a run before it was killed."""
        self.speak = bool(self._read("SELECT 1 FROM announced LIMIT 1"))

    def forget_dropped(self) -> None:
        """Forget the sitemaps that left the document table."""
        self._db.execute("DELETE FROM sitemap WHERE key NOT IN (SELECT key FROM url)")
