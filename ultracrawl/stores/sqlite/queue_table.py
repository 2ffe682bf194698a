"""What waits for its turn, durable: the table `queue` of a store."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

from ultracrawl.stores.sqlite.read_ahead import ReadAhead
from ultracrawl.stores.store import QueueEntry

if TYPE_CHECKING:
    import sqlite3

_ADD = "INSERT OR REPLACE INTO queue (site, level, depth, seq, hops, id) VALUES (?,?,?,?,?,?)"
_ADD_KNOWN = """
    INSERT OR REPLACE INTO queue (site, level, depth, seq, hops, id)
    SELECT ?, ?, ?, ?, ?, id FROM url WHERE key=?"""
_REMOVE = "DELETE FROM queue WHERE site=? AND level=? AND rank=? AND depth=? AND seq=?"
_REMOVE_STATUS = "DELETE FROM queue WHERE id IN (SELECT id FROM url WHERE status=?)"
_REMOVE_KEYS = """
    DELETE FROM queue WHERE id IN (SELECT id FROM url WHERE key IN (SELECT value FROM json_each(?)))"""
_ENTRY = (
    "u.id, u.key, u.url, q.site, q.depth, q.seq, q.hops, u.display_url, q.rank, q.level "
    "FROM queue q JOIN url u ON u.id=q.id"
)
_ORDER = "q.level, q.rank, q.depth, q.seq"
_OF_SITE = f"SELECT {_ENTRY} WHERE q.site=? AND q.level>=? AND q.level<? ORDER BY {_ORDER} LIMIT ?"
_BEHIND = f"SELECT {_ENTRY} WHERE q.site>? ORDER BY q.site, {_ORDER} LIMIT ?"

MOST_PLACES = 100_000
"""Places of rows that are remembered at most; a record whose place is not known finds its row by its key."""


class QueueTable:
    """The table `queue` of a SQLite store; `read` runs a query of it and returns the rows.

    An entry names its row of the document table by place: keys are hashes, so each would be looked up somewhere else.
    What was read and is not finished keeps its place in memory, so that its record finds its row again.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        read: Callable[..., list[tuple[Any, ...]]],
        before_read: Callable[[], None],
    ) -> None:
        self._db = db
        self._read = read
        self._before_read = before_read
        self._touched: set[str] = set()
        """Sites of whose queue something is not flushed."""
        self._ahead = ReadAhead()
        self._places: dict[int, int] = {}
        self._seq = 0
        self.count_on()

    def touch(self, site: str) -> None:
        """Note that the queue of a site is another one than what was flushed."""
        self._touched.add(site)
        self._ahead.drop(site)

    def first(self, site: str, limit: int, levels: range | None) -> list[QueueEntry]:
        """Return the first `limit` entries of a site by level, rank, depth and order; or those of some levels."""
        start, stop = (levels.start, levels.stop) if levels else (0, sys.maxsize)
        if site in self._touched:
            self._before_read()
        rows = self._ahead.take(site)
        if rows is None:
            rows = self._read(_OF_SITE, site, start, stop, limit)
            self._read_on(site, rows)
        else:
            rows = [row for row in rows if start <= row[-1] < stop][:limit]
        self._remember((row[1], row[0]) for row in rows)
        return [QueueEntry(*row[1:]) for row in rows]

    def _read_on(self, site: str, rows: list[tuple[Any, ...]]) -> None:
        number = self._ahead.wanted(len(rows))
        if number:
            behind = self._read(_BEHIND, site, number)
            self._ahead.fill(behind, more=len(behind) == number, without=self._touched)

    def sites(self) -> list[tuple[str, int]]:
        """Return every site with waiting entries, and their number."""
        self._before_read()
        return [
            (site, number) for site, number in self._read("SELECT site, count(*) FROM queue GROUP BY site")
        ]

    def left_over_sites(self) -> list[str]:
        """Return the sites that go on with entries which the cycle before left over."""
        return [site for (site,) in self._read("SELECT DISTINCT site FROM queue WHERE rank<0")]

    def next_seq(self) -> int:
        """Return a number higher than that of every entry so far."""
        self._seq += 1
        return self._seq

    def count_on(self) -> None:
        """Take up what stands in the table now: it was changed as a whole."""
        self._seq = int(self._read("SELECT coalesce(max(seq), 0) FROM queue")[0][0])
        self._ahead.clear()
        self._places.clear()

    # ---- where rows lie

    def place(self, key: int) -> int:
        """Return where the row of an entry that is finished lies, 0 if that is not known; asked once."""
        return self._places.pop(key, 0)

    def _remember(self, places: Iterable[tuple[int, int]]) -> None:
        if len(self._places) > MOST_PLACES:
            self._places.clear()
        self._places.update(places)

    # ---- writing, inside a transaction of the store

    def add_new(self, entries: Iterable[QueueEntry], places: dict[int, int]) -> None:
        """Write entries whose rows were made in this transaction; `places` are those of all such rows, by key."""
        self._remember(places.items())
        self._db.executemany(
            _ADD, [(e.site, e.level, e.depth, e.seq, e.hops, places[e.key]) for e in entries]
        )

    def add(self, entries: Iterable[QueueEntry]) -> None:
        """Write entries of known URLs."""
        self._db.executemany(_ADD_KNOWN, [(e.site, e.level, e.depth, e.seq, e.hops, e.key) for e in entries])

    def remove(self, entries: Iterable[QueueEntry]) -> None:
        """Take entries out."""
        self._db.executemany(_REMOVE, [(e.site, e.level, e.rank, e.depth, e.seq) for e in entries])

    def remove_status(self, status: int) -> None:
        """Take the entries of all URLs with a status out."""
        self._db.execute(_REMOVE_STATUS, (status,))
        self._ahead.clear()

    def remove_keys(self, keys: Collection[int]) -> None:
        """Take the entries of URLs out, also of those that leave the table: their places may be given to others."""
        self._db.execute(_REMOVE_KEYS, (json.dumps(list(keys)),))
        self._ahead.clear()
        for key in keys:
            self._places.pop(key, None)

    def written(self) -> None:
        """Take note that the transaction went well."""
        self._touched.clear()
