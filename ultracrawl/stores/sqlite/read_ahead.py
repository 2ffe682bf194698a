"""Caches that save queries: queue entries read ahead, records, and the set of values of a column."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Generic, TypeVar

from ultracrawl.model import UrlRecord
from ultracrawl.stores.port.queue import QueueEntry

MAX_SITE_ROWS = 32
"""A site with more entries is read by a query of its own."""
MIN_ROWS, MAX_ROWS = 64, 512
"""Number of rows that are read ahead, initially and at most."""
PAUSE_SITES = 64
"""Number of sites without read-ahead after rows were read in vain."""

MAX_CACHED_RECORDS = 20_000
"""Size at which the record cache is cleared."""
MAX_POSSIBLE_VALUES = 100_000
"""With more values than this in a column, each value is looked up by a query."""

Row = tuple[Any, ...]
"""A row of the queue; its fourth value is the site."""


class ReadAhead:
    """Holds the complete queue rows of the sites that follow the last requested one by name, until they are requested.

    A run requests its sites in that order at first. In another order little is read in vain: after a batch of which
    nothing was requested, the next `PAUSE_SITES` sites are read without read-ahead.
    """

    def __init__(self) -> None:
        self._rows: dict[str, list[Row]] = {}
        self._used = True
        self._number = MIN_ROWS
        self._pause = 0

    def take_site(self, site: str) -> list[Row] | None:
        """Remove and return all rows of a site, None if they were not read ahead."""
        rows = self._rows.pop(site, None)
        self._used = self._used or rows is not None
        return rows

    def drop_site(self, site: str) -> None:
        """Drop the rows of a site, because its queue changed."""
        self._rows.pop(site, None)

    def clear(self) -> None:
        """Drop all rows."""
        self._rows.clear()

    def wanted(self, own: int) -> int:
        """Return how many rows of the following sites to read after a miss on a site with `own` rows."""
        if own > MAX_SITE_ROWS:
            return 0
        if not self._used:
            self._used, self._number, self._pause = True, MIN_ROWS, PAUSE_SITES
        if self._pause:
            self._pause -= 1
            return 0
        return self._number

    def fill(self, rows: Sequence[Row], *, more: bool, without: Collection[str]) -> None:
        """Replace the rows, sorted by site; with `more` the last site may be incomplete and is dropped."""
        by_site = {site: list(own) for site, own in groupby(rows, key=lambda row: row[3])}
        if more:
            by_site.popitem()
        self._number = min(2 * self._number, MAX_ROWS)
        self._used = False
        self._rows = {site: own for site, own in by_site.items() if site not in without}


class RecordCache:
    """Caches flushed records until they are written, because several components read the record of a URL in turn.

    A record that was never visited is cached as its entry and the time of its discovery. Every write of a record
    invalidates it. A read-only store caches nothing, because another process may write the file.
    """

    def __init__(self, *, keeps: bool) -> None:
        self.keeps = keeps
        self._records: dict[int, UrlRecord | tuple[QueueEntry, float]] = {}
        self._same: tuple[bytes, dict[int, UrlRecord]] | None = None
        """The last requested fingerprint with its records; one page requests them several times."""

    def put_records(self, records: Mapping[int, UrlRecord] | Mapping[int, tuple[QueueEntry, float]]) -> None:
        """Add records by key; a full cache is cleared first."""
        if len(self._records) > MAX_CACHED_RECORDS:
            self._records.clear()
        if self.keeps:
            self._records.update(records)

    def get_record(self, key: int) -> UrlRecord | tuple[QueueEntry, float] | None:
        """Return a cached record, or None."""
        return self._records.get(key)

    def get_by_fingerprint(self, fingerprint: bytes) -> dict[int, UrlRecord] | None:
        """Return the cached records with a fingerprint, or None."""
        return self._same[1] if self._same is not None and self._same[0] == fingerprint else None

    def put_by_fingerprint(self, fingerprint: bytes, records: dict[int, UrlRecord]) -> None:
        """Cache the records with a fingerprint until the next write."""
        if self.keeps:
            self._same = (fingerprint, records)

    def invalidate(self, keys: Iterable[int] | None = None) -> None:
        """Drop records that are no longer valid; without `keys` all."""
        self._same = None
        if keys is None:
            self._records.clear()
        elif self._records:
            for key in keys:
                self._records.pop(key, None)


V = TypeVar("V", bound=Hashable)


class PossibleValues(Generic[V]):
    """The set of all values of a column, as long as they are few: saves queries for values that are not in the table.

    `load` is called once and returns the values, unflushed ones included, or None if they are too many.
    """

    def __init__(self, load: Callable[[], set[V] | None]) -> None:
        self._load: Callable[[], set[V] | None] | None = load
        self._values: set[V] | None = None

    def may_hold(self, value: V) -> bool:
        """Return whether a value may be in the table."""
        if self._load is not None:
            self._values, self._load = self._load(), None
        return self._values is None or value in self._values

    def add_value(self, value: V) -> None:
        """Add a value that will be written."""
        if self._values is not None:
            self._values.add(value)
            if len(self._values) > MAX_POSSIBLE_VALUES:
                self._values = None
