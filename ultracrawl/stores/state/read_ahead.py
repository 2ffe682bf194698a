"""What saves queries, so that no page costs one of its own: caches of what tables have, filled for many pages at once.

`FollowingSites`: entries of the queue. `RecordCache`: records, by key and by fingerprint. `ValuesAhead`: one value a
URL, as a sitemap. `PossibleValues`: which values a column may have. Each says what bounds it, and what it costs at the
worst. Look-ups of URLs that wait for the next flush are part of `Records`.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from enum import Enum, auto
from itertools import groupby, islice
from typing import Any, Generic, TypeAlias, TypeVar

from ultracrawl.model import UrlRecord
from ultracrawl.rules.recrawl.feed_links import FeedLink
from ultracrawl.stores.port.queue import QueueEntry
from ultracrawl.stores.port.sites import StoredSitemap

Row = tuple[Any, ...]
"""A row of a table; that of an entry of the queue has the site as its fourth value."""

MAX_SITE_ROWS = 32
"""A site with more entries is read by a query of its own."""
MIN_ROWS, MAX_ROWS = 64, 512
"""Number of rows that are read ahead, initially and at most."""
PAUSE_SITES = 64
"""Number of sites without read-ahead after rows were read in vain."""


class FollowingSites:
    """Holds the complete queue rows of the sites that follow the last requested one by name, until they are requested.

    A run requests its sites in that order at first. Bound: `MAX_ROWS` rows. At the worst it requests them in another
    order: then of 65 sites with few entries one costs a second query, of `MIN_ROWS` rows.
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


MAX_CACHED_RECORDS = 20_000
"""Size at which the record cache is cleared."""
READ_AHEAD_RECORDS = 256
"""Records read by one query at the most: that of an entry and those of the following entries."""
READS_TO_GROW = 1000
"""Reads without a full cache after which twice as many records are read at once."""
MAX_FINGERPRINTS = 5000
"""Number of fingerprints at which their cached records are dropped; a quarter of the records."""


class RecordCache:
    """Caches flushed records until they are written, because several components read the record of a URL in turn.

    A record that was never visited is cached as its entry and the time of its discovery. Every write of a record
    invalidates it. A read-only store caches nothing, because another process may write the file.

    Bound: `MAX_CACHED_RECORDS` each of visited and of new records, some more that one query reads, and the records of
    `MAX_FINGERPRINTS`. At the worst more records wait than it holds: then it is cleared, they are read again, and half
    as many at once, down to a query for each; it tries more again after `READS_TO_GROW` of them.
    """

    def __init__(self, *, keeps: bool) -> None:
        self.keeps = keeps
        self.ahead = READ_AHEAD_RECORDS
        """How many records to read at once. Halved when too many wait for their turn, as those of many sites do."""
        self._reads = 0
        """Reads since that changed."""
        self._records: dict[int, UrlRecord] = {}
        self._new: dict[int, tuple[QueueEntry, float]] = {}
        self._twins: dict[bytes, dict[int, UrlRecord]] = {}
        """Flushed records by fingerprint, until one of them is flushed anew, or another one with the fingerprint."""
        self._print_of: dict[int, bytes] = {}
        """The fingerprint under which a record is in there."""
        self._next_prints: dict[bytes, int] = {}
        """Fingerprints of records that were read, with their places: their pages are likely to have them still."""

    def put_records(self, records: Mapping[int, UrlRecord]) -> None:
        """Add records that were read, by key; a full cache is cleared first, and fewer are to be read at once."""
        if len(self._records) > MAX_CACHED_RECORDS:
            self._records.clear()
            self.ahead, self._reads = max(1, self.ahead // 2), 0
        if not self.keeps:
            return
        self._reads += 1
        if self._reads > READS_TO_GROW:
            self.ahead, self._reads = min(READ_AHEAD_RECORDS, 2 * self.ahead), 0
        self._records.update(records)
        self.expect_prints(records.values())

    def expect_prints(self, records: Iterable[UrlRecord]) -> None:
        """Have the fingerprints of records that were read asked for together."""
        if not self.keeps:
            return
        if len(self._next_prints) > MAX_CACHED_RECORDS:
            self._next_prints.clear()
        prints, place = (record.fingerprint for record in records), len(self._next_prints)
        for fingerprint in filter(None, prints):
            place += self._next_prints.setdefault(fingerprint, place) == place

    def put_new(self, entries: Mapping[int, tuple[QueueEntry, float]]) -> None:
        """Add records that were never visited, by key."""
        if len(self._new) > MAX_CACHED_RECORDS:
            self._new.clear()
        if self.keeps:
            self._new.update(entries)

    def get_record(self, key: int) -> UrlRecord | tuple[QueueEntry, float] | None:
        """Return a cached record, or None."""
        return self._records.get(key) or self._new.get(key)

    def get_by_fingerprint(self, fingerprint: bytes) -> dict[int, UrlRecord] | None:
        """Return the cached records with a fingerprint, or None."""
        return self._twins.get(fingerprint)

    def asked_with(self, fingerprint: bytes) -> list[bytes]:
        """Return a fingerprint, and those that are likely to be asked for next."""
        place = self._next_prints.get(fingerprint)
        if place is None:
            return [fingerprint]
        following = islice(self._next_prints, place + 1, place + self.ahead // 4)
        return [fingerprint, *(one for one in following if one not in self._twins)]

    def put_by_fingerprint(self, fingerprints: Iterable[bytes], records: Mapping[int, UrlRecord]) -> None:
        """Cache all records with some fingerprints."""
        if not self.keeps:
            return
        if len(self._twins) > MAX_FINGERPRINTS:
            self._twins.clear()
            self._print_of.clear()
        self._twins.update((fingerprint, {}) for fingerprint in fingerprints)
        for key, record in records.items():
            self._twins[record.fingerprint][key] = record
            self._print_of[key] = record.fingerprint

    def note_flushed(self, keys: Iterable[int], fingerprints: Iterable[bytes] = ()) -> None:
        """Drop what was cached of records that were flushed, and of those with the fingerprints that they have now."""
        for key in keys:
            self._records.pop(key, None)
            self._new.pop(key, None)
            self._drop_twins(self._print_of.get(key, b""))
        for fingerprint in fingerprints:
            self._drop_twins(fingerprint)

    def _drop_twins(self, fingerprint: bytes) -> None:
        for key in self._twins.pop(fingerprint, ()):
            self._print_of.pop(key, None)

    def invalidate(self, keys: Iterable[int] | None = None) -> None:
        """Drop records that are no longer valid; without `keys` all."""
        if keys is None:
            for cached in (self._records, self._new, self._twins, self._print_of, self._next_prints):
                cached.clear()
        elif self._records or self._new:
            for key in keys:
                self._records.pop(key, None)
                self._new.pop(key, None)


T = TypeVar("T")

LARGE_VALUE = 32 << 10
"""Bytes above which a value is read when its turn comes, and not kept."""
FEEDS_AHEAD = 16
"""Feeds whose links are read by one query."""
FEED_LINK_BYTES = 200
"""Bytes that a link of a feed takes."""
EMPTY_VALUE = 100
"""Bytes that a key takes beside its value."""
MAX_BYTES_AHEAD = 16 << 20
"""Bytes of values of one table at which they are dropped."""


class ValuesAhead(Generic[T]):
    """What a table has of URLs, read for those as well that are likely to be next, and kept until it changes.

    Bound: `MAX_BYTES_AHEAD`, and the values of one query. At the worst less than half of them is asked for before all
    are dropped: then half as many are read at once, down to a query for each. A value of more than `LARGE_VALUE` bytes
    costs a query.

    `keys_from` returns a key and up to so many of those that are likely to be next; `is_changed` whether a URL has
    unflushed changes; `read` returns values by key, None for one that is only read as the first of the keys; `size`
    returns the bytes of a value. With `keeps` off another process may write the table, and nothing is kept.
    """

    def __init__(
        self,
        keys_from: Callable[[int, int], list[int]],
        is_changed: Callable[[int], bool],
        read: Callable[[list[int]], Mapping[int, T | None]],
        size: Callable[[T], int],
        *,
        keeps: bool,
        ahead: int = READ_AHEAD_RECORDS,
    ) -> None:
        self._keys_from = keys_from
        self._is_changed = is_changed
        self._read = read
        self._size = size
        self._ahead = ahead if keeps else 1
        """How many values to read at once. Halved when too many wait for their turn, as those of many sites do."""
        self._keeps = keeps
        self._values: dict[int, T | None] = {}
        self._bytes = self._used = 0
        """Bytes that were read, and values that were asked for, since all were dropped."""

    def get(self, key: int) -> T | None:
        """Return the value of a URL, None if it has none; it has no unflushed changes."""
        if key in self._values:
            self._used += 1
            return self._values[key]
        following = self._keys_from(key, self._ahead)
        keys = [one for one in following if one == key or not self._is_changed(one)]
        found = self._read(keys)
        for one in keys if self._keeps else ():
            value = found.get(one)
            size = 0 if value is None else self._size(value)
            if one in found and (value is None or size > LARGE_VALUE):
                continue
            self._values[one] = value
            self._bytes += size + EMPTY_VALUE
        if self._bytes > MAX_BYTES_AHEAD:
            if 2 * self._used < len(self._values):
                self._ahead = max(1, self._ahead // 2)
            self.forget()
        return found.get(key)

    def drop(self, keys: Iterable[int]) -> None:
        """Drop the values of URLs that are about to change."""
        for key in keys:
            self._values.pop(key, None)

    def forget(self) -> None:
        """Drop all values."""
        self._values.clear()
        self._bytes = self._used = 0


def size_of_sitemap(sitemap: StoredSitemap) -> int:
    """Return the bytes that a sitemap takes."""
    return len(sitemap.dates)


def size_of_feed(links: Sequence[FeedLink]) -> int:
    """Return the bytes that the links of a feed take."""
    return FEED_LINK_BYTES * len(links)


MAX_LOADED_AT_ONCE = 100_000
"""As many values of a column are held as they are, and of each further one 32 bits."""
LOADED_WITH_FIRST = 300_000
"""As many values are loaded with the first look-up: 0.2 s in a run that mostly asks for as many URLs."""
VALUES_PER_LOOK_UP = 100
"""Stored values for each look-up before they are loaded: a million take 0.6 s, a look-up 8 µs and more."""
MAX_POSSIBLE_VALUES = 10_000_000
"""With more values than this in a column (40 MB), each value is looked up by a query."""
V = TypeVar("V", bound=Hashable)
Parts: TypeAlias = "array[int]"
"""The first 32 bits of many values, sorted."""


class Stand(Enum):
    """How much is known of the values of a column."""

    UNCOUNTED = auto()
    """Nobody has asked."""
    WAITING = auto()
    """Each look-up goes to the table, until as many were made as loading costs."""
    LOADED = auto()
    """Look-ups of values that are not there are answered from memory."""
    TOO_MANY = auto()
    """There are so many that each look-up goes to the table."""
    CHANGING = auto()
    """Another process may write some: each look-up goes to the table."""


class PossibleValues(Generic[V]):
    """The values of a column, or 32 bits of each if they are many: saves queries for values that are not in the table.

    They are loaded when as many look-ups were made, or are expected, as cost about the same. `load` returns parts of
    values and whole ones, or None if nothing can be said; `part_of` returns 32 bits of a value, in the order of the
    values.

    Bound: 4 bytes for each of `MAX_POSSIBLE_VALUES`, and `MAX_LOADED_AT_ONCE` new ones, with which all are loaded anew.
    At the worst each value is looked up by a query: before they are loaded, and of larger columns. Of values that are
    not there, one among 4,300 is looked up in vain at a million stored ones.
    """

    def __init__(
        self,
        number: Callable[[], int],
        load: Callable[[], tuple[Parts, set[V]] | None],
        part_of: Callable[[V], int],
        expected: Callable[[], int] = lambda: 0,
        per_look_up: int | None = None,
    ) -> None:
        """Set what is asked: `expected` returns how many look-ups may come, `per_look_up` is `VALUES_PER_LOOK_UP`."""
        self._number = number
        self._load = load
        self._part_of = part_of
        self._expected = expected
        self._per_look_up = per_look_up
        self._stored: Parts | None = None
        self._values: set[V] = set()
        self._load_at = self._asked = 0
        """The number of look-ups at which the values are loaded, and of those that were made."""
        self.stand = Stand.UNCOUNTED

    def may_hold(self, value: V) -> bool:
        """Return whether a value may be in the table."""
        if self._stored is None:
            self._load_if_due()
            if self._stored is None:
                return True
        if value in self._values:
            return True
        if not self._stored:
            return False
        part = self._part_of(value)
        at = bisect_left(self._stored, part)
        return at < len(self._stored) and self._stored[at] == part

    def likely(self, values: Iterable[V]) -> list[V] | None:
        """Return those that may be in the table, which are all if it has too many; None while nothing is loaded."""
        if self._stored is None:
            self._load_if_due()
        if self._stored is None:
            return [*values] if self.stand is Stand.TOO_MANY else None
        return [value for value in values if self.may_hold(value)]

    def is_absent(self, value: V) -> bool:
        """Return whether a value is known not to be in the table; loads nothing to find out."""
        return self._stored is not None and not self.may_hold(value)

    def possible(self, values: Sequence[V]) -> Sequence[V]:
        """Return those that may be in the table; of many stored values only whether any is known, as one query asks."""
        if self._stored is None or self._stored:
            return values if any(map(self.may_hold, values)) else ()
        return [value for value in values if value in self._values]

    def _load_if_due(self) -> None:
        if self.stand is Stand.UNCOUNTED:
            number, each = self._number(), self._per_look_up or VALUES_PER_LOOK_UP
            self._load_at = 0 if number <= LOADED_WITH_FIRST else number // each
            self.stand = Stand.TOO_MANY if number > MAX_POSSIBLE_VALUES else Stand.WAITING
        if self.stand is not Stand.WAITING:
            return
        self._asked += 1
        if max(self._asked, self._expected()) > self._load_at:
            loaded = self._load()
            self.stand = Stand.CHANGING if loaded is None else Stand.LOADED
            if loaded is not None:
                self._stored, self._values = loaded

    def add_value(self, value: V) -> None:
        """Add a value that will be written."""
        if self._stored is not None:
            self._values.add(value)
            if len(self._values) > MAX_LOADED_AT_ONCE:
                self._stored, self.stand, self._asked = None, Stand.UNCOUNTED, 0
