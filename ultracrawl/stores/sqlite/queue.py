"""The statements of the request queue: tables `queue`, `allowance` and `detour` of the SQLite store."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable
from itertools import takewhile

from ultracrawl.model.cause import RECHECKED_REMOVALS
from ultracrawl.rules.recrawl.cycle import CyclePlace, RefreshMode
from ultracrawl.stores.port.queue import QueueEntry, QueueStart
from ultracrawl.stores.sqlite.database import SqliteAccess
from ultracrawl.stores.state.part import Writing
from ultracrawl.stores.state.queue import LEFTOVERS, Leftovers, Queue, RequestOrder
from ultracrawl.stores.state.read_ahead import Row

_INSERT = "INSERT OR REPLACE INTO queue (site, level, depth, seq, hops, id) VALUES (?,?,?,?,?,?)"
_INSERT_KNOWN = """
    INSERT OR REPLACE INTO queue (site, level, depth, seq, hops, id)
    SELECT ?, ?, ?, ?, ?, id FROM url WHERE key=?"""
_DELETE = "DELETE FROM queue WHERE site=? AND level=? AND rank=? AND depth=? AND seq=?"
_ENTRY = """
    SELECT u.id, u.key, u.url, q.site, q.depth, q.seq, q.hops, u.display_url, q.rank, q.level
    FROM queue q JOIN url u ON u.id=q.id"""
_ORDER = "q.level, q.rank, q.depth, q.seq"
_SELECT_SITE = f"{_ENTRY} WHERE q.site=? AND q.level>=? AND q.level<? ORDER BY {_ORDER} LIMIT ?"
_QUEUED_URL = "SELECT u.key, u.url, u.site, u.depth, {rank}, u.last_fetched, coalesce(r.seen, 0) FROM"
_WITH_REVISIT = "url u LEFT JOIN revisit r ON r.id=u.id"
_LEFTOVERS = {
    Leftovers.FIRST: "UPDATE queue SET rank=rank-1-(SELECT max(rank) FROM queue)",
    Leftovers.LAST: "UPDATE queue SET rank=rank+1-(SELECT min(rank) FROM queue)",
    Leftovers.DROPPED: """
        DELETE FROM queue WHERE id NOT IN (SELECT id FROM url WHERE outcome='QUEUED' AND last_fetched>0)""",
}
_DELETE_UNKNOWN = "DELETE FROM queue WHERE id NOT IN (SELECT id FROM url)"

_UPDATE_LEVELS = "UPDATE queue SET level=(SELECT level_of(url) FROM url WHERE url.id=queue.id)"
"""Assigns leftover entries their levels by the current definition."""

_ENQUEUE_ALL_KNOWN = """
    INSERT INTO queue (site, level, depth, seq, id)
    SELECT site, level_of(url), depth, ? + row_number() OVER (ORDER BY depth, id), id FROM url
    WHERE key NOT IN (SELECT key FROM sitemap) AND id NOT IN (SELECT id FROM queue)"""
_ENQUEUE_CHOSEN = """
    INSERT INTO queue (site, level, rank, depth, seq, id)
    SELECT site, level_of(url), ?, depth, ?, id FROM url WHERE key=? AND id NOT IN (SELECT id FROM queue)"""
_ENQUEUE_HELD_BACK = f"""
    INSERT INTO queue (site, level, depth, seq, id)
    SELECT site, level_of(url), depth, ? + row_number() OVER (ORDER BY depth, id), id FROM url
    WHERE (key IN (SELECT key FROM held)
        OR removal_code<>'' AND removal_code IN {tuple(map(str, sorted(RECHECKED_REMOVALS)))})
    AND id NOT IN (SELECT id FROM queue)"""  # noqa: S608 - constant texts
_MARK_WAITING_SEEN = """
    INSERT INTO revisit (id, seen) SELECT id, ? FROM queue WHERE true
    ON CONFLICT (id) DO UPDATE SET seen=excluded.seen"""

MAX_ROW_IDS = 100_000
"""Maximum number of remembered row ids; rows with unknown ids are found by key."""


class RowIds(RequestOrder):
    """Maps the keys of unfinished entries that were read to their row ids in table `url`, and links them in order."""

    def __init__(self) -> None:
        super().__init__()
        self._ids: dict[int, int] = {}

    def remember(self, ids: Collection[tuple[int, int]]) -> None:
        """Add (key, row id) pairs in the order in which they will be requested."""
        if len(self._ids) > MAX_ROW_IDS:
            self.clear_order()
        self._ids.update(ids)
        self.remember_order(key for key, _ in ids)

    def remember_rows(self, rows: Collection[Row]) -> None:
        """Add the keys and row ids of rows of entries."""
        self.remember([(row[1], row[0]) for row in rows])

    def ids_from(self, key: int, number: int) -> list[int]:
        """Return up to `number` row ids: of a key and of the entries read after it; empty if unknown."""
        return [*takewhile(bool, (self._ids.get(one, 0) for one in self.keys_from(key, number)))]

    def pop_id(self, key: int) -> int:
        """Remove and return the row id of a finished entry, 0 if unknown."""
        self.drop_key(key)
        return self._ids.pop(key, 0)

    def clear_order(self) -> None:
        """Forget all entries: row ids may have been reused."""
        self._ids.clear()
        super().clear_order()


class SqliteQueue(Queue):
    """The statements of `Queue`.

    An entry refers to its row of table `url` by row id: keys are hashes, so consecutive lookups by key would touch
    random pages. The ids of entries that were read and are not finished stay in memory, so that records reuse them.
    """

    FOLLOWING_ROWS = f"{_ENTRY} WHERE q.site>? ORDER BY q.site, {_ORDER} LIMIT ?"
    IS_QUEUED = "SELECT 1 FROM queue WHERE id=(SELECT id FROM url WHERE key=?)"
    COUNT_SITES = "SELECT site, count(*) FROM queue GROUP BY site"
    LEFTOVER_SITES = "SELECT DISTINCT site FROM queue WHERE rank<0"
    DELETE_KEYS = """
        DELETE FROM queue WHERE id IN (SELECT id FROM url WHERE key IN (SELECT value FROM json_each(?)))"""
    DELETE_BY_STATUS = "DELETE FROM queue WHERE id IN (SELECT id FROM url WHERE status=?)"
    SELECT_WAITING = f"""
        {_QUEUED_URL.format(rank="q.rank")} queue q JOIN {_WITH_REVISIT} WHERE u.id=q.id ORDER BY {_ORDER} LIMIT ?"""
    SELECT_KNOWN = f"""
        {_QUEUED_URL.format(rank=0)} {_WITH_REVISIT}
        WHERE u.outcome<>'REMOVED' AND u.key NOT IN (SELECT key FROM sitemap)
        ORDER BY u.depth, u.first_seen, u.url LIMIT ?"""  # noqa: S608 - constant texts
    SELECT_BY_KEYS = f"""
        {_QUEUED_URL.format(rank=0)} {_WITH_REVISIT} WHERE u.key IN (SELECT value FROM json_each(?))"""  # noqa: S608 - constant texts
    COUNT_LEVELS = "SELECT level, count(*) FROM queue WHERE site=? GROUP BY level"

    def __init__(self, access: SqliteAccess) -> None:
        self.row_ids = RowIds()
        super().__init__(access, self.row_ids)

    def _read_site(self, site: str, start: int, stop: int, limit: int) -> list[Row]:
        return self._read(_SELECT_SITE, site, start, stop, limit)

    # ---- writing, inside a transaction of the store

    def write_new(self, to: Writing, entries: Iterable[QueueEntry], ids: dict[int, int]) -> None:
        """Insert entries whose rows were inserted in this transaction; `ids` has the row ids of all of them, by key."""
        self.row_ids.remember(ids.items())
        to.run(_INSERT, [(e.site, e.level, e.depth, e.seq, e.hops, ids[e.key]) for e in entries])

    def write_changes(self, to: Writing) -> None:
        """Write the unflushed changes; new entries were written with their URLs."""
        to.run(_INSERT_KNOWN, [(e.site, e.level, e.depth, e.seq, e.hops, e.key) for e in self._requeued])
        to.run(_DELETE, [(e.site, e.level, e.rank, e.depth, e.seq) for e in self._finished])
        super().write_changes(to)


def fill_queue(db: sqlite3.Connection, place: CyclePlace, start: QueueStart) -> None:
    """Fill the queue for a new cycle, inside a transaction; start URLs are added later.

    Documents whose removal or new version was held back are requested in every mode, so that no old response decides.
    """
    db.create_function("level_of", 1, start.level_of or _single_level, deterministic=True)
    db.execute(_DELETE_UNKNOWN)  # their row ids may be reused
    db.execute(_LEFTOVERS[LEFTOVERS[place.mode]])
    db.execute(_UPDATE_LEVELS)
    (last,) = db.execute("SELECT coalesce(max(seq), 0) FROM queue").fetchone()
    if place.mode is RefreshMode.KNOWN:
        db.execute(_ENQUEUE_ALL_KNOWN, (last,))
    elif place.mode is RefreshMode.ADAPTIVE and start.choose is not None:
        keys = enumerate(start.choose(place), 1)
        db.executemany(_ENQUEUE_CHOSEN, [(rank, last + rank, key) for rank, key in keys])
    if place.mode is not RefreshMode.KNOWN:
        (last,) = db.execute("SELECT coalesce(max(seq), 0) FROM queue").fetchone()
        db.execute(_ENQUEUE_HELD_BACK, (last,))
        db.execute(_MARK_WAITING_SEEN, (place.cycle,))


def _single_level(_: str) -> int:
    return 1
