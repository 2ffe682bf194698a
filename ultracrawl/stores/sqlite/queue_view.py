"""What waits in the queue and what would be in the next one, in order, for people who look at it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol


class OutlookUrl(NamedTuple):
    """A URL that waits, or that a cycle would begin with."""

    key: int
    url: str
    site: str
    depth: int
    rank: int
    last_fetched: float
    """Seconds since the epoch, 0 for never."""
    seen: int
    """The cycle in which it was fetched or led to last, 0 for none."""


class QueueOutlook(Protocol):
    """The part of a `StateStore` for looking at the queue; sees what was flushed."""

    def waiting(self, limit: int) -> list[OutlookUrl]:
        """Return the first waiting URLs in the order of level, rank, depth and age; sites take turns meanwhile."""

    def known(self, limit: int) -> list[OutlookUrl]:
        """Return the first of all known URLs, sitemaps and removed ones apart, in the order of depth and age."""

    def of(self, keys: Sequence[int]) -> list[OutlookUrl]:
        """Return the known ones of some keys, in their order."""

    def number_waiting(self) -> int:
        """Return how many URLs wait."""


_COLUMNS = "u.key, u.url, u.site, u.depth, {rank}, u.last_fetched, coalesce(r.seen, 0)"
_JOINED = "url u LEFT JOIN revisit r ON r.id=u.id"
_WAITING = f"""
    SELECT {_COLUMNS.format(rank="q.rank")} FROM queue q JOIN {_JOINED} WHERE u.id=q.id
    ORDER BY q.level, q.rank, q.depth, q.seq LIMIT ?"""  # noqa: S608 - constant texts
_KNOWN = f"""
    SELECT {_COLUMNS.format(rank=0)} FROM {_JOINED}
    WHERE u.outcome<>'REMOVED' AND u.key NOT IN (SELECT key FROM sitemap)
    ORDER BY u.depth, u.first_seen, u.url LIMIT ?"""  # noqa: S608 - constant texts
_OF = f"""
    SELECT {_COLUMNS.format(rank=0)} FROM {_JOINED}
    WHERE u.key IN (SELECT value FROM json_each(?))"""  # noqa: S608 - constant texts


class SqliteOutlook:
    """The outlook of a SQLite store; `read` runs a query of it and returns the rows."""

    def __init__(self, read: Callable[..., list[tuple[Any, ...]]]) -> None:
        self._read = read

    def waiting(self, limit: int) -> list[OutlookUrl]:
        """Return the first waiting URLs."""
        return [OutlookUrl(*row) for row in self._read(_WAITING, limit)]

    def known(self, limit: int) -> list[OutlookUrl]:
        """Return the first of all known URLs."""
        return [OutlookUrl(*row) for row in self._read(_KNOWN, limit)]

    def of(self, keys: Sequence[int]) -> list[OutlookUrl]:
        """Return the known ones of some keys."""
        found = {row[0]: OutlookUrl(*row) for row in self._read(_OF, json.dumps(keys))}
        return [found[key] for key in keys if key in found]

    def number_waiting(self) -> int:
        """Return how many URLs wait."""
        ((number,),) = self._read("SELECT count(*) FROM queue")
        return int(number)
