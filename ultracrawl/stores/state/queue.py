"""The request queue: unflushed entries over the stored ones, what is read of them in advance, and off-focus hops."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import Enum, auto
from itertools import chain, pairwise
from typing import NamedTuple

from ultracrawl.model import StatusCode
from ultracrawl.rules.recrawl.cycle import RefreshMode
from ultracrawl.stores.port.queue import QueuedUrl, QueueEntry
from ultracrawl.stores.state.part import Access, Part, Writing, put_rows
from ultracrawl.stores.state.read_ahead import FollowingSites, Row

MAX_FOLLOWING = 100_000
"""Maximum number of entries whose successors are remembered."""
MAX_HOPS = 3_000_000
"""With more URLs behind documents in other languages than these (36 MB), hops are looked up for each page."""
MAX_CHANGED_HOPS = 100_000
"""Changes of hops after which the table is read anew, some 10 MB."""
LAST_LEVEL = (1 << 31) - 1
"""A level after that of every entry."""

Place = tuple[int, int, int, int]
"""Level, rank, depth and `seq` of an entry: its place among those of its site."""


def place_of(entry: QueueEntry) -> Place:
    """Return the place of an entry among those of its site."""
    return entry.level, entry.rank, entry.depth, entry.seq


class SiteChanges(NamedTuple):
    """The unflushed changes of the queue of a site."""

    added: list[QueueEntry]
    finished: set[Place]

    def of(self, stored: Iterable[QueueEntry], start: int, stop: int) -> list[QueueEntry]:
        """Return what waits of the stored entries and of the added ones with levels from `start` to before `stop`.

        An added entry may be stored already, by a flush that is not over.
        """
        added = (entry for entry in self.added if start <= entry.level < stop)
        waiting = {place_of(one): one for one in chain(stored, added)}
        return [waiting[place] for place in sorted(waiting.keys() - self.finished)]


class RequestOrder:
    """Links the keys of entries in the order in which they will be requested, as their records are read."""

    def __init__(self) -> None:
        self._next: dict[int, int] = {}
        """The key of the entry that was read after a key."""

    def remember_order(self, keys: Iterable[int]) -> None:
        """Add keys in the order in which they will be requested."""
        if len(self._next) > MAX_FOLLOWING:
            self._next.clear()
        self._next.update(pairwise(keys))

    def remember_rows(self, rows: Collection[Row]) -> None:
        """Add the keys of rows of entries."""
        self.remember_order(row[1] for row in rows)

    def keys_from(self, key: int, number: int) -> list[int]:
        """Return up to `number` keys: one and those of the entries read after it, if it was read."""
        found = [key]
        while len(found) < number and (key := self._next.get(key, 0)):
            found.append(key)
        return found

    def drop_key(self, key: int) -> None:
        """Forget what follows an entry, which is finished."""
        self._next.pop(key, None)

    def clear_order(self) -> None:
        """Forget the order of all entries."""
        self._next.clear()


class StoredHops:
    """The off-focus hops of URLs, 12 bytes for each that has some.

    `load` returns keys and hops in order of the keys, or None if another process may write some; it takes a limit, and
    tells `put_hops` what is not flushed.
    """

    def __init__(self, load: Callable[[int], Iterable[tuple[int, int]] | None]) -> None:
        self._load = load
        self._keys = array("q")
        self._hops = array("I")
        self._changed: dict[int, int] = {}
        self._loaded = self._too_many = False

    def of(self, keys: Iterable[int]) -> dict[int, int] | None:
        """Return the hops of those of the keys that have some, None if only the table can tell."""
        if not (self._loaded or self._too_many):
            self._read()
        if not self._loaded:
            return None
        found: dict[int, int] = {}
        for key in keys:
            hops = self._changed.get(key)
            if hops is None:
                at = bisect_left(self._keys, key)
                hops = self._hops[at] if at < len(self._keys) and self._keys[at] == key else 0
            if hops:
                found[key] = hops
        return found

    def _read(self) -> None:
        rows = self._load(MAX_HOPS + 1)
        if rows is None:
            self._too_many = True
            return
        for key, hops in rows:
            self._keys.append(key)
            self._hops.append(hops)
        if len(self._keys) > MAX_HOPS:
            self.read_again()
            self._too_many = True
        else:
            self._loaded = True

    def put_hops(self, key: int, hops: int) -> None:
        """Change the hops of a URL; they are in the table when the next flush is over."""
        if not self._too_many:
            self._changed[key] = hops

    def note_flushed(self, *, anew: bool) -> None:
        """Have the table read again if it was made `anew`, or if much of it has changed."""
        if anew or len(self._changed) > MAX_CHANGED_HOPS:
            self.read_again()

    def read_again(self) -> None:
        """Forget what was read, since the table has changed; without unflushed changes."""
        self._keys, self._hops = array("q"), array("I")
        self._changed.clear()
        self._loaded = self._too_many = False


class Leftovers(Enum):
    """What becomes of entries left over from the previous cycle; new ones have rank 0."""

    FIRST = auto()
    """They are requested before new ones."""
    LAST = auto()
    """They are requested after new ones."""
    DROPPED = auto()
    """They leave the queue, but those of restored URLs (QUEUED, but fetched before): all modes fetch these."""


LEFTOVERS: Mapping[RefreshMode, Leftovers] = {
    RefreshMode.KNOWN: Leftovers.FIRST,
    RefreshMode.APPEND: Leftovers.FIRST,
    RefreshMode.PREPEND: Leftovers.LAST,
    RefreshMode.SCRATCH: Leftovers.DROPPED,
    RefreshMode.SOFT: Leftovers.FIRST,
    RefreshMode.ADAPTIVE: Leftovers.DROPPED,
}


class Queue(Part):
    """Base class of the request queue of each engine; see `QueuePart`.

    A row of an entry is a number of the engine and the fields of a `QueueEntry`; a row for display has those of a
    `QueuedUrl`. Statements about sites return (site, number).
    """

    FOLLOWING_ROWS: str
    """Rows of the sites whose names follow one, by site and place: takes the name, and how many."""
    IS_QUEUED: str
    """A row if a key is queued."""
    COUNT_SITES: str
    """Sites and numbers of their entries."""
    LEFTOVER_SITES: str
    """Sites with ranks below 0."""
    HIGHEST_SEQ = "SELECT coalesce(max(seq), 0) FROM queue WHERE {own}"
    DELETE_KEYS: str
    """Takes a list of keys."""
    DELETE_BY_STATUS: str
    """Deletes the entries of URLs with a status."""
    SELECT_ALLOWANCES = "SELECT site, remaining FROM allowance WHERE {own}"
    PUT_ALLOWANCE = put_rows("allowance", "site text", "remaining int")
    SELECT_HOPS = "SELECT key, hops FROM detour WHERE {own} AND key = ANY(%s)"
    FIRST_HOPS = "SELECT key, hops FROM detour WHERE {own} ORDER BY key LIMIT %s"
    CLEAR_HOPS = "DELETE FROM detour WHERE {own}"
    SET_ALL_HOPS = """
        INSERT INTO detour (source, part, key, hops) SELECT source, part, key, %s FROM url
        WHERE {own} AND depth > 0 AND %s"""
    """Takes the hops of all known URLs but start URLs, and whether there are any."""
    PUT_HOPS = put_rows("detour", "key bigint", "hops int")
    DELETE_HOPS = "DELETE FROM detour WHERE {own} AND key = ANY(%s)"
    SELECT_WAITING: str
    """For display, so many, in the order of the queue."""
    SELECT_KNOWN: str
    """For display, so many, by depth and age."""
    SELECT_BY_KEYS: str
    """For display, those of a list of keys."""
    COUNT_ALL = "SELECT count(*) FROM queue WHERE {own}"
    COUNT_LEVELS: str
    """Levels and numbers of the entries of a site."""

    def __init__(self, access: Access, order: RequestOrder | None = None) -> None:
        super().__init__(access)
        self._order = order or RequestOrder()
        self._read_ahead = FollowingSites()
        self._stored_hops = StoredHops(self._read_hops)
        self.expected = 0
        """Visits that are to come: what waited when that was counted last, and what was queued again since then."""
        self._seq = 0
        self.reload_counters()

    def begin_generation(self) -> None:
        """Begin without entries, allowances and hops."""
        self._site_changes: dict[str, SiteChanges] = {}
        self._requeued: list[QueueEntry] = []
        self._finished: list[QueueEntry] = []
        self._allowances: dict[str, int] = {}
        self._hops: dict[int, int] = {}
        self._default_hops: int | None = None
        self.changes = (self._site_changes, self._requeued, self._finished, self._allowances, self._hops)

    # ---- entries

    def add_new(self, entry: QueueEntry) -> None:
        """Add the entry of a new URL, which the records write."""
        self._changes_of(entry.site).added.append(entry)

    def requeue_url(self, entry: QueueEntry) -> None:
        """Queue a known URL again."""
        self._requeued.append(entry)
        self.expected += 1
        self._changes_of(entry.site).added.append(entry)

    def finish_entry(self, entry: QueueEntry) -> None:
        """Remove an entry from the queue with the next flush."""
        self._finished.append(entry)
        self._changes_of(entry.site).finished.add(place_of(entry))

    def _changes_of(self, site: str) -> SiteChanges:
        self._read_ahead.drop_site(site)
        return self._site_changes.setdefault(site, SiteChanges([], set()))

    def entries_of(self, site: str, limit: int, levels: range | None = None) -> list[QueueEntry]:
        """Return the first `limit` entries of a site."""
        start, stop = (levels.start, levels.stop) if levels else (0, LAST_LEVEL)
        changes = self._changes_of_both(site)
        rows = self._read_ahead.take_site(site)
        if rows is None:
            more = len(changes.finished) if changes is not None else 0
            rows = self._read_site(site, start, stop, min(limit + more, sys.maxsize))
            self._read_following_sites(site, rows)
        else:
            rows = [row for row in rows if start <= row[-1] < stop][:limit]
        self._order.remember_rows(rows)
        stored = [QueueEntry(*row[1:]) for row in rows]
        if changes is None:
            return stored
        found = changes.of(stored, start, stop)[:limit]
        if self._requeued or self.frozen._requeued:
            self._order.remember_order(entry.key for entry in found)
        return found

    def _changes_of_both(self, site: str) -> SiteChanges | None:
        """Return what both generations change of a site."""
        own, older = self._site_changes.get(site), self.frozen._site_changes.get(site)
        if own is None or older is None:
            return own or older
        return SiteChanges([*older.added, *own.added], older.finished | own.finished)

    def _read_site(self, site: str, start: int, stop: int, limit: int) -> list[Row]:
        """Return so many stored rows of a site with levels from `start` to before `stop`."""
        raise NotImplementedError

    def _read_following(self, site: str, number: int) -> list[Row]:
        return self._read(self.FOLLOWING_ROWS, site, number)

    def _read_following_sites(self, site: str, rows: list[Row]) -> None:
        number = self._read_ahead.wanted(len(rows))
        if number:
            following = self._read_following(site, number)
            changed = self._site_changes.keys() | self.frozen._site_changes.keys()
            self._read_ahead.fill(following, more=len(following) == number, without=changed)
            # In one chain: the records of many small sites are read together.
            self._order.remember_rows([*rows, *following])

    def expect_urls(self, keys: Sequence[int]) -> None:
        """Have URLs read together that are about to be looked at in this order."""
        self._order.remember_order(keys)

    def keys_from(self, key: int, number: int) -> list[int]:
        """Return up to `number` keys: one and those of the entries read after it, if it was read."""
        return self._order.keys_from(key, number)

    def is_waiting(self, key: int) -> bool:
        """Whether a known URL is in the queue; scans the whole queue."""
        if any(entry.key == key for part in self.generations for entry in part._requeued):
            return True
        return bool(self._read(self.IS_QUEUED, key))

    def waiting_sites(self) -> list[tuple[str, int]]:
        """Return every site with queued URLs and their number."""
        found = [(site, number) for site, number in self._read(self.COUNT_SITES)]
        self.expected = sum(number for _, number in found)
        return found

    def sites_with_leftovers(self) -> list[str]:
        """Return the sites with entries left over from the previous cycle."""
        return [site for (site,) in self._read(self.LEFTOVER_SITES)]

    def next_seq(self) -> int:
        """Return a `seq` higher than that of every entry so far."""
        self._seq += 1
        return self._seq

    def reload_counters(self) -> None:
        """Reload the highest `seq` after bulk changes of the table, and forget what was read of it."""
        self._seq = int(self._read(self.HIGHEST_SEQ)[0][0])
        self.forget_read()

    def forget_read(self) -> None:
        """Forget what was read of the table, which was changed in bulk."""
        self._read_ahead.clear()
        self._order.clear_order()
        self._stored_hops.read_again()

    def dequeue_urls(self, keys: Iterable[int]) -> None:
        """Remove URLs from the queue, durably."""
        gone = self._many(list(keys))
        self._access.flush()
        self._access.write(lambda to: to.execute(self.DELETE_KEYS, (gone,)))
        self.forget_read()

    def dequeue_removed(self) -> None:
        """Remove URLs from the queue that a person removed from the source, durably."""
        self._access.flush()
        self._access.write(self.remove_blacklisted, whole=True)
        self.forget_read()

    # ---- allowances and hops

    def put_allowance(self, site: str, left: int) -> None:
        """Store how many new URLs of a site may still be fetched."""
        self._allowances[site] = left

    def allowances(self) -> dict[str, int]:
        """Return the remaining allowance by site."""
        return dict(self._read(self.SELECT_ALLOWANCES))

    def hops_to(self, keys: Sequence[int]) -> dict[int, int]:
        """Return the off-focus hops by key, without zeros."""
        found = self._stored_hops.of(keys)
        if found is None:
            found = dict(self._read(self.SELECT_HOPS, self._many(list(keys))))
        for part in self.generations:
            found.update((key, part._hops[key]) for key in keys if key in part._hops)
        return {key: hops for key, hops in found.items() if hops}

    def _read_hops(self, limit: int) -> Iterable[tuple[int, int]] | None:
        if not self._record_cache.keeps:
            return None
        for key, hops in chain.from_iterable(part._hops.items() for part in self.generations):
            self._stored_hops.put_hops(key, hops)
        return self._stream(self.FIRST_HOPS, limit)

    def put_hops(self, key: int, hops: int) -> None:
        """Store how many off-focus documents in a row led to a URL."""
        self._hops[key] = hops
        self._stored_hops.put_hops(key, hops)

    def reset_hops(self, hops: int) -> None:
        """Set the hops of all known URLs except start URLs."""
        self._hops.clear()
        self._default_hops = hops

    # ---- for display

    def first_waiting(self, limit: int) -> list[QueuedUrl]:
        """Return the first queued URLs."""
        return [QueuedUrl(*row) for row in self._read(self.SELECT_WAITING, limit)]

    def first_known(self, limit: int) -> list[QueuedUrl]:
        """Return the first known URLs."""
        return [QueuedUrl(*row) for row in self._read(self.SELECT_KNOWN, limit)]

    def queued_urls(self, keys: Sequence[int]) -> list[QueuedUrl]:
        """Return those of the keys that are known."""
        rows = self._read(self.SELECT_BY_KEYS, self._many(list(keys)))
        found = {row[0]: QueuedUrl(*row) for row in rows}
        return [found[key] for key in keys if key in found]

    def number_waiting(self) -> int:
        """Return how many URLs are queued."""
        return int(self._read(self.COUNT_ALL)[0][0])

    def number_by_level(self, site: str) -> dict[int, int]:
        """Return the number of queued URLs of a site by level."""
        return dict(self._read(self.COUNT_LEVELS, site))

    # ---- writing, inside a transaction of the store

    def remove_blacklisted(self, to: Writing) -> None:
        """Delete the entries of URLs that a person removed from the source."""
        to.execute(self.DELETE_BY_STATUS, (StatusCode.BLACKLISTED.value,))

    @property
    def unwritten(self) -> int:
        """The number of changes of this generation."""
        return super().unwritten + (self._default_hops is not None)

    def write_changes(self, to: Writing) -> None:
        """Write the unflushed allowances and hops; an engine writes the entries."""
        to.run(self.PUT_ALLOWANCE, list(self._allowances.items()))
        if self._default_hops is not None:
            to.execute(self.CLEAR_HOPS)
            to.execute(self.SET_ALL_HOPS, (self._default_hops, self._default_hops > 0))
        to.run(self.PUT_HOPS, [(key, hops) for key, hops in self._hops.items() if hops])
        to.run(self.DELETE_HOPS, [(key,) for key, hops in self._hops.items() if not hops])

    def forget_frozen(self) -> None:
        """Forget what was flushed, after noting what it changes of what was read."""
        for entry in self.frozen._finished:
            self._order.drop_key(entry.key)
        self._stored_hops.note_flushed(anew=self.frozen._default_hops is not None)
        super().forget_frozen()
