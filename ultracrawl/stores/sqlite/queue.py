"""What waits for its turn, durable: the table `queue` of a store, with what it begins a cycle, and further numbers."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Any

from ultracrawl.model import StatusCode
from ultracrawl.model.cause import RECHECKED_REMOVALS
from ultracrawl.rules.recrawl.cycle import CyclePlace, RefreshMode
from ultracrawl.stores.port.queue import QueuedUrl, QueueEntry, QueueStart
from ultracrawl.stores.sqlite.database import SqliteAccess, SqlitePart
from ultracrawl.stores.sqlite.read_ahead import ReadAhead

_ADD = "INSERT OR REPLACE INTO queue (site, level, depth, seq, hops, id) VALUES (?,?,?,?,?,?)"
_ADD_KNOWN = """
    INSERT OR REPLACE INTO queue (site, level, depth, seq, hops, id)
    SELECT ?, ?, ?, ?, ?, id FROM url WHERE key=?"""
_REMOVE = "DELETE FROM queue WHERE site=? AND level=? AND rank=? AND depth=? AND seq=?"
_REMOVE_STATUS = "DELETE FROM queue WHERE id IN (SELECT id FROM url WHERE status=?)"
_REMOVE_KEYS = """
    DELETE FROM queue WHERE id IN (SELECT id FROM url WHERE key IN (SELECT value FROM json_each(?)))"""
_HOPS_OF_ALL = "INSERT INTO detour (key, hops) SELECT key, ? FROM url WHERE depth>0 AND ?"
_ENTRY = (
    "u.id, u.key, u.url, q.site, q.depth, q.seq, q.hops, u.display_url, q.rank, q.level "
    "FROM queue q JOIN url u ON u.id=q.id"
)
_ORDER = "q.level, q.rank, q.depth, q.seq"
_OF_SITE = f"SELECT {_ENTRY} WHERE q.site=? AND q.level>=? AND q.level<? ORDER BY {_ORDER} LIMIT ?"
_BEHIND = f"SELECT {_ENTRY} WHERE q.site>? ORDER BY q.site, {_ORDER} LIMIT ?"

_LOOK = "u.key, u.url, u.site, u.depth, {rank}, u.last_fetched, coalesce(r.seen, 0)"
_JOINED = "url u LEFT JOIN revisit r ON r.id=u.id"
_FIRST_WAITING = f"""
    SELECT {_LOOK.format(rank="q.rank")} FROM queue q JOIN {_JOINED} WHERE u.id=q.id
    ORDER BY q.level, q.rank, q.depth, q.seq LIMIT ?"""  # noqa: S608 - constant texts
_FIRST_KNOWN = f"""
    SELECT {_LOOK.format(rank=0)} FROM {_JOINED}
    WHERE u.outcome<>'REMOVED' AND u.key NOT IN (SELECT key FROM sitemap)
    ORDER BY u.depth, u.first_seen, u.url LIMIT ?"""  # noqa: S608 - constant texts
_LOOKED_UP = f"""
    SELECT {_LOOK.format(rank=0)} FROM {_JOINED}
    WHERE u.key IN (SELECT value FROM json_each(?))"""  # noqa: S608 - constant texts

_LEFT_FIRST = "UPDATE queue SET rank=rank-1-(SELECT max(rank) FROM queue)"
_LEFT_LAST = "UPDATE queue SET rank=rank+1-(SELECT min(rank) FROM queue)"
_EMPTY = """
    DELETE FROM queue WHERE id NOT IN (SELECT id FROM url WHERE outcome='QUEUED' AND last_fetched>0)"""
"""What somebody restored was fetched once, and is to be fetched by the next run whatever its mode."""
_FORGOTTEN = "DELETE FROM queue WHERE id NOT IN (SELECT id FROM url)"
_LEFT_OVER = {
    RefreshMode.KNOWN: _LEFT_FIRST,
    RefreshMode.APPEND: _LEFT_FIRST,
    RefreshMode.PREPEND: _LEFT_LAST,
    RefreshMode.SCRATCH: _EMPTY,
    RefreshMode.SOFT: _LEFT_FIRST,
    RefreshMode.ADAPTIVE: _EMPTY,
}
"""What becomes of the queue that the cycle before left over; what comes later has rank 0."""

_RELEVEL = "UPDATE queue SET level=(SELECT level_of(url) FROM url WHERE url.id=queue.id)"
"""What was left over goes by the levels of today."""

_ALL_KNOWN = """
    INSERT INTO queue (site, level, depth, seq, id)
    SELECT site, level_of(url), depth, ? + row_number() OVER (ORDER BY depth, id), id FROM url
    WHERE key NOT IN (SELECT key FROM sitemap) AND id NOT IN (SELECT id FROM queue)"""
_CHOSEN = """
    INSERT INTO queue (site, level, rank, depth, seq, id)
    SELECT site, level_of(url), ?, depth, ?, id FROM url WHERE key=? AND id NOT IN (SELECT id FROM queue)"""
_HELD_BACK = f"""
    INSERT INTO queue (site, level, depth, seq, id)
    SELECT site, level_of(url), depth, ? + row_number() OVER (ORDER BY depth, id), id FROM url
    WHERE removal_code<>'' AND removal_code IN {tuple(map(str, sorted(RECHECKED_REMOVALS)))}
    AND id NOT IN (SELECT id FROM queue)"""  # noqa: S608 - constant texts
_WAITING_IS_SEEN = """
    INSERT INTO revisit (id, seen) SELECT id, ? FROM queue WHERE true
    ON CONFLICT (id) DO UPDATE SET seen=excluded.seen"""

MOST_PLACES = 100_000
"""Places of rows that are remembered at most; a record whose place is not known finds its row by its key."""


class RowPlaces:
    """Remembers where the rows of entries lie that were read and are not finished, so that records find them again."""

    def __init__(self) -> None:
        self._places: dict[int, int] = {}
        self._next: dict[int, int] = {}
        """The key of the entry that was read behind one."""

    def remember_places(self, places: Sequence[tuple[int, int]]) -> None:
        """Remember rows by the keys of their URLs, in the order in which they will be asked for."""
        if len(self._places) > MOST_PLACES:
            self.forget_places()
        self._places.update(places)
        self._next.update((one[0], other[0]) for one, other in pairwise(places))

    def places_from(self, key: int, number: int) -> list[int]:
        """Return where the rows of an entry, and of those that were read behind it, lie; none if that is not known."""
        found: list[int] = []
        place = self._places.get(key)
        while place and len(found) < number:
            found.append(place)
            key = self._next.get(key, 0)
            place = self._places.get(key)
        return found

    def take_place(self, key: int) -> int:
        """Return where the row of an entry that is finished lies, 0 if that is not known; asked once."""
        self._next.pop(key, None)
        return self._places.pop(key, 0)

    def forget_places(self, keys: Collection[int] | None = None) -> None:
        """Forget rows that were given to others; without keys all."""
        if keys is None:
            self._places.clear()
            self._next.clear()
        else:
            for key in keys:
                self.take_place(key)


class SqliteQueue(SqlitePart):
    """The tables `queue`, `allowance` and `detour`; see `QueuePart`.

    An entry names its row of the document table by place: keys are hashes, so each would be looked up somewhere else.
    What was read and is not finished keeps its place in memory, so that its record finds its row again.
    """

    def __init__(self, access: SqliteAccess) -> None:
        super().__init__(access)
        self.places = RowPlaces()
        self._touched: set[str] = set()
        """Sites of whose queue something is not flushed."""
        self._again: list[QueueEntry] = []
        self._left: list[QueueEntry] = []
        """Entries that were finished."""
        self._allowances: dict[str, int] = {}
        self._hops: dict[int, int] = {}
        self._hops_of_all: int | None = None
        self._ahead = ReadAhead()
        self._seq = 0
        self.changes = (self._touched, self._again, self._left, self._allowances, self._hops)
        self.count_on()

    # ---- entries

    def note_entry(self, entry: QueueEntry) -> None:
        """Note that the queue of a site is another one than what was flushed."""
        self._touched.add(entry.site)
        self._ahead.drop_site(entry.site)

    def requeue_url(self, entry: QueueEntry) -> None:
        """Put a known URL into the queue again."""
        self._again.append(entry)
        self.note_entry(entry)

    def finish_entry(self, entry: QueueEntry) -> None:
        """Take an entry out of the queue, with the next flush."""
        self._left.append(entry)
        self.note_entry(entry)

    def entries_of(self, site: str, limit: int, levels: range | None = None) -> list[QueueEntry]:
        """Return the first `limit` waiting URLs of a site."""
        start, stop = (levels.start, levels.stop) if levels else (0, sys.maxsize)
        if site in self._touched:
            self._access.flush()
        rows = self._ahead.take_site(site)
        if rows is None:
            rows = self._read(_OF_SITE, site, start, stop, limit)
            self._read_on(site, rows)
        else:
            rows = [row for row in rows if start <= row[-1] < stop][:limit]
        self.places.remember_places([(row[1], row[0]) for row in rows])
        return [QueueEntry(*row[1:]) for row in rows]

    def _read_on(self, site: str, rows: list[tuple[Any, ...]]) -> None:
        number = self._ahead.wanted(len(rows))
        if number:
            behind = self._read(_BEHIND, site, number)
            self._ahead.fill(behind, more=len(behind) == number, without=self._touched)

    def is_waiting(self, key: int) -> bool:
        """Whether a known URL is in the queue; looks through it."""
        if any(one.key == key for one in self._again):
            return True
        return bool(self._read("SELECT 1 FROM queue WHERE id=(SELECT id FROM url WHERE key=?)", key))

    def waiting_sites(self) -> list[tuple[str, int]]:
        """Return every site with waiting URLs and their number."""
        self._access.flush()
        rows = self._read("SELECT site, count(*) FROM queue GROUP BY site")
        return [(site, number) for site, number in rows]

    def left_over_sites(self) -> list[str]:
        """Return the sites that go on with entries which the cycle before left over."""
        return [site for (site,) in self._read("SELECT DISTINCT site FROM queue WHERE rank<0")]

    def next_seq(self) -> int:
        """Return a number higher than that of every entry so far."""
        self._seq += 1
        return self._seq

    def count_on(self) -> None:
        """Read the counters from the table again, after it was changed as a whole."""
        self._seq = int(self._read("SELECT coalesce(max(seq), 0) FROM queue")[0][0])
        self._ahead.clear()
        self.places.forget_places()

    def dequeue_urls(self, keys: Iterable[int]) -> None:
        """Take URLs out of the queue, durably."""
        self._access.flush()
        with self._access.transaction():
            self.remove_keys(list(keys))

    def dequeue_removed(self) -> None:
        """Take the URLs that somebody removed out of the queue, durably."""
        self._access.flush()
        with self._access.transaction():
            self.remove_blacklisted()

    # ---- shares and hops

    def put_allowance(self, site: str, left: int) -> None:
        """Note how many new URLs of a site may still be fetched."""
        self._allowances[site] = left

    def allowances(self) -> dict[str, int]:
        """Return what is left, by site."""
        return dict(self._read("SELECT site, remaining FROM allowance"))

    def hops_to(self, keys: Sequence[int]) -> dict[int, int]:
        """Return how many documents in other languages lead to those of the URLs that have any."""
        query = "SELECT key, hops FROM detour WHERE key IN (SELECT value FROM json_each(?))"
        found: dict[int, int] = dict(self._read(query, json.dumps(keys)))
        found.update((key, self._hops[key]) for key in keys if key in self._hops)
        return {key: hops for key, hops in found.items() if hops}

    def put_hops(self, key: int, hops: int) -> None:
        """Store how many documents in other languages lead to a URL."""
        self._hops[key] = hops

    def reset_hops(self, hops: int) -> None:
        """Set the hops of every known URL but the start URLs."""
        self._hops.clear()
        self._hops_of_all = hops

    # ---- for people who look at it

    def first_waiting(self, limit: int) -> list[QueuedUrl]:
        """Return the first waiting URLs."""
        return [QueuedUrl(*row) for row in self._read(_FIRST_WAITING, limit)]

    def first_known(self, limit: int) -> list[QueuedUrl]:
        """Return the first of all known URLs."""
        return [QueuedUrl(*row) for row in self._read(_FIRST_KNOWN, limit)]

    def queued_urls(self, keys: Sequence[int]) -> list[QueuedUrl]:
        """Return the known ones of some keys."""
        found = {row[0]: QueuedUrl(*row) for row in self._read(_LOOKED_UP, json.dumps(keys))}
        return [found[key] for key in keys if key in found]

    def number_waiting(self) -> int:
        """Return how many URLs wait."""
        return int(self._read("SELECT count(*) FROM queue")[0][0])

    def number_by_level(self, site: str) -> dict[int, int]:
        """Return how many URLs of a site wait, by level."""
        self._access.flush()
        return dict(self._read("SELECT level, count(*) FROM queue WHERE site=? GROUP BY level", site))

    # ---- writing, inside a transaction of the store

    def begin_run(self) -> None:
        """Forget what the run before left of shares; called before the run chooses."""
        self._db.execute("DELETE FROM allowance")

    def write_new(self, entries: Iterable[QueueEntry], places: dict[int, int]) -> None:
        """Write entries whose rows were made in this transaction; `places` are those of all such rows, by key."""
        self.places.remember_places(list(places.items()))
        self._db.executemany(
            _ADD, [(e.site, e.level, e.depth, e.seq, e.hops, places[e.key]) for e in entries]
        )

    def remove_blacklisted(self) -> None:
        """Take the entries of all URLs out that somebody removed."""
        self._db.execute(_REMOVE_STATUS, (StatusCode.BLACKLISTED.value,))
        self._ahead.clear()

    def remove_keys(self, keys: Collection[int]) -> None:
        """Take the entries of URLs out, also of those that leave the table: their places may be given to others."""
        self._db.execute(_REMOVE_KEYS, (json.dumps(list(keys)),))
        self._ahead.clear()
        self.places.forget_places(keys)

    @property
    def unwritten(self) -> int:
        """The number of changes that wait for the next flush."""
        return super().unwritten + (self._hops_of_all is not None)

    def write_changes(self) -> None:
        """Write what waits."""
        run = self._db.executemany
        run(_ADD_KNOWN, [(e.site, e.level, e.depth, e.seq, e.hops, e.key) for e in self._again])
        run(_REMOVE, [(e.site, e.level, e.rank, e.depth, e.seq) for e in self._left])
        run("INSERT OR REPLACE INTO allowance (site, remaining) VALUES (?,?)", self._allowances.items())
        if self._hops_of_all is not None:
            self._db.execute("DELETE FROM detour")
            self._db.execute(_HOPS_OF_ALL, (self._hops_of_all, self._hops_of_all > 0))
        far = [(key, hops) for key, hops in self._hops.items() if hops]
        run("INSERT OR REPLACE INTO detour (key, hops) VALUES (?,?)", far)
        run("DELETE FROM detour WHERE key=?", [(key,) for key, hops in self._hops.items() if not hops])

    def forget_changes(self) -> None:
        """Take note that the transaction went well."""
        super().forget_changes()
        self._hops_of_all = None

    def forget_dropped(self) -> None:
        """Forget the hops of URLs that left the document table."""
        self._db.execute("DELETE FROM detour WHERE key NOT IN (SELECT key FROM url)")


def fill_queue(db: sqlite3.Connection, place: CyclePlace, start: QueueStart) -> None:
    """Make the queue that a new cycle begins with; called inside a transaction, start URLs come later.

    Documents that were held back from leaving are asked for in every mode, so that none leaves by an old answer.

    Within a site and level, entries of a lower rank go first, then those of a lower depth, then the older ones.
    """
    db.create_function("level_of", 1, start.level_of or _one_level, deterministic=True)
    db.execute(_FORGOTTEN)  # their places may be given to others
    db.execute(_LEFT_OVER[place.mode])
    db.execute(_RELEVEL)
    (last,) = db.execute("SELECT coalesce(max(seq), 0) FROM queue").fetchone()
    if place.mode is RefreshMode.KNOWN:
        db.execute(_ALL_KNOWN, (last,))
    elif place.mode is RefreshMode.ADAPTIVE and start.choose is not None:
        keys = enumerate(start.choose(place), 1)
        db.executemany(_CHOSEN, [(rank, last + rank, key) for rank, key in keys])
    if place.mode is not RefreshMode.KNOWN:
        (last,) = db.execute("SELECT coalesce(max(seq), 0) FROM queue").fetchone()
        db.execute(_HELD_BACK, (last,))
        db.execute(_WAITING_IS_SEEN, (place.cycle,))


def _one_level(_: str) -> int:
    return 1
