"""What feeds brought, kept in the store of their source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from ultracrawl.rules.recrawl.feed_links import FeedLink

if TYPE_CHECKING:
    import sqlite3


class FeedStore(Protocol):
    """The part of a `StateStore` that knows the lists of feeds. Writes become durable with its `flush`."""

    def feeds(self) -> frozenset[int]:
        """Return the keys of the feeds that have a list."""

    def links(self, feed: int) -> list[FeedLink]:
        """Return the list of a feed."""

    def put(self, feed: int, links: Iterable[FeedLink]) -> None:
        """Replace the list of a feed."""

    def every(self) -> Iterator[tuple[int, FeedLink]]:
        """Yield all links, each with its feed; sees what was flushed."""


class FeedTable:
    """The table `feed_link` of a SQLite store; `read` runs a query of it and returns the rows."""

    def __init__(self, db: sqlite3.Connection, read: Callable[..., list[tuple[Any, ...]]]) -> None:
        self._db = db
        self._read = read
        self._put: dict[int, list[FeedLink]] = {}

    @property
    def unwritten(self) -> int:
        """The number of writes that wait for the next flush."""
        return sum(map(len, self._put.values())) + len(self._put)

    def feeds(self) -> frozenset[int]:
        """Return the keys of the feeds that have a list."""
        return frozenset((*self._put, *(key for (key,) in self._read("SELECT DISTINCT feed FROM feed_link"))))

    def links(self, feed: int) -> list[FeedLink]:
        """Return the list of a feed."""
        if feed in self._put:
            return self._put[feed]
        rows = self._read("SELECT key, seen, date, place, expired, only FROM feed_link WHERE feed=?", feed)
        return [_link(row) for row in rows]

    def put(self, feed: int, links: Iterable[FeedLink]) -> None:
        """Replace the list of a feed."""
        self._put[feed] = list(links)

    def every(self) -> Iterator[tuple[int, FeedLink]]:
        """Yield all links, each with its feed."""
        for feed, *row in self._read("SELECT feed, key, seen, date, place, expired, only FROM feed_link"):
            yield feed, _link(row)

    def write(self) -> None:
        """Write what waits; called inside a transaction of the store."""
        self._db.executemany("DELETE FROM feed_link WHERE feed=?", [(feed,) for feed in self._put])
        self._db.executemany(
            "INSERT OR REPLACE INTO feed_link (feed, key, seen, date, place, expired, only) "
            "VALUES (?,?,?,?,?,?,?)",
            [
                (feed, one.key, one.seen, one.date, one.place, one.expired, one.only)
                for feed, links in self._put.items()
                for one in links
            ],
        )

    def written(self) -> None:
        """Take note that the transaction of `write` went well."""
        self._put.clear()

    def forget_dropped(self) -> None:
        """Forget the lists of feeds that left the document table; links stay, because they may be over."""
        self._db.execute("DELETE FROM feed_link WHERE feed NOT IN (SELECT key FROM url)")


def _link(row: Iterable[Any]) -> FeedLink:
    key, seen, date, place, expired, only = row
    return FeedLink(key, seen, date, place, bool(expired), bool(only))
