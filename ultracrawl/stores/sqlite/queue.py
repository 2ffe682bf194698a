"""The persistent request queue: table `queue` of the SQLite store, with site allowances and off-focus hops."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Collection, Iterable, Sequence
from itertools import takewhile
from typing import Any

from ultracrawl.model import StatusCode
from ultracrawl.model.cause import RECHECKED_REMOVALS
from ultracrawl.rules.recrawl.cycle import CyclePlace, RefreshMode
from ultracrawl.stores.caching.loaded_tables import StoredHops
from ultracrawl.stores.caching.queue_changes import RequestOrder, SiteChanges, place_of
from ultracrawl.stores.caching.read_ahead import ReadAhead
from ultracrawl.stores.port.queue import QueuedUrl, QueueEntry, QueueStart
from ultracrawl.stores.sqlite.database import SqliteAccess, SqlitePart

_INSERT = "INSERT OR REPLACE INTO queue (site, level, depth, seq, hops, id) VALUES (?,?,?,?,?,?)"
_INSERT_KNOWN = """
    INSERT OR REPLACE INTO queue (site, level, depth, seq, hops, id)
    SELECT ?, ?, ?, ?, ?, id FROM url WHERE key=?"""
_DELETE = "DELETE FROM queue WHERE site=? AND level=? AND rank=? AND depth=? AND seq=?"
_DELETE_BY_STATUS = "DELETE FROM queue WHERE id IN (SELECT id FROM url WHERE status=?)"
_DELETE_KEYS = """
    DELETE FROM queue WHERE id IN (SELECT id FROM url WHERE key IN (SELECT value FROM json_each(?)))"""
_SET_HOPS_OF_ALL = "INSERT INTO detour (key, hops) SELECT key, ? FROM url WHERE depth>0 AND ?"
_ENTRY_COLUMNS = (
    "u.id, u.key, u.url, q.site, q.depth, q.seq, q.hops, u.display_url, q.rank, q.level "
    "FROM queue q JOIN url u ON u.id=q.id"
)
_ORDER = "q.level, q.rank, q.depth, q.seq"
_SELECT_SITE = (
    f"SELECT {_ENTRY_COLUMNS} WHERE q.site=? AND q.level>=? AND q.level<? ORDER BY {_ORDER} LIMIT ?"
)
_SELECT_FOLLOWING_SITES = f"SELECT {_ENTRY_COLUMNS} WHERE q.site>? ORDER BY q.site, {_ORDER} LIMIT ?"

_QUEUED_URL_COLUMNS = "u.key, u.url, u.site, u.depth, {rank}, u.last_fetched, coalesce(r.seen, 0)"
_URL_WITH_REVISIT = "url u LEFT JOIN revisit r ON r.id=u.id"
_SELECT_FIRST_WAITING = f"""
    SELECT {_QUEUED_URL_COLUMNS.format(rank="q.rank")} FROM queue q JOIN {_URL_WITH_REVISIT} WHERE u.id=q.id
    ORDER BY q.level, q.rank, q.depth, q.seq LIMIT ?"""  # noqa: S608 - constant texts
_SELECT_FIRST_KNOWN = f"""
    SELECT {_QUEUED_URL_COLUMNS.format(rank=0)} FROM {_URL_WITH_REVISIT}
    WHERE u.outcome<>'REMOVED' AND u.key NOT IN (SELECT key FROM sitemap)
    ORDER BY u.depth, u.first_seen, u.url LIMIT ?"""  # noqa: S608 - constant texts
_SELECT_BY_KEYS = f"""
    SELECT {_QUEUED_URL_COLUMNS.format(rank=0)} FROM {_URL_WITH_REVISIT}
    WHERE u.key IN (SELECT value FROM json_each(?))"""  # noqa: S608 - constant texts

_RANK_LEFTOVERS_FIRST = "UPDATE queue SET rank=rank-1-(SELECT max(rank) FROM queue)"
_RANK_LEFTOVERS_LAST = "UPDATE queue SET rank=rank+1-(SELECT min(rank) FROM queue)"
_DELETE_LEFTOVERS = """
    DELETE FROM queue WHERE id NOT IN (SELECT id FROM url WHERE outcome='QUEUED' AND last_fetched>0)"""
"""Keeps restored URLs (QUEUED, but fetched before), which the next run fetches in every mode."""
_DELETE_UNKNOWN = "DELETE FROM queue WHERE id NOT IN (SELECT id FROM url)"
_LEFTOVER_STATEMENTS = {
    RefreshMode.KNOWN: _RANK_LEFTOVERS_FIRST,
    RefreshMode.APPEND: _RANK_LEFTOVERS_FIRST,
    RefreshMode.PREPEND: _RANK_LEFTOVERS_LAST,
    RefreshMode.SCRATCH: _DELETE_LEFTOVERS,
    RefreshMode.SOFT: _RANK_LEFTOVERS_FIRST,
    RefreshMode.ADAPTIVE: _DELETE_LEFTOVERS,
}
"""What happens to the entries left over from the previous cycle; new entries have rank 0."""

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

    def remember(self, ids: Sequence[tuple[int, int]]) -> None:
        """Add (key, row id) pairs in the order in which they will be requested."""
        if len(self._ids) > MAX_ROW_IDS:
            self.forget()
        self._ids.update(ids)
        self.remember_order(key for key, _ in ids)

    def ids_from(self, key: int, number: int) -> list[int]:
        """Return up to `number` row ids: of a key and of the entries read after it; empty if unknown."""
        return [*takewhile(bool, (self._ids.get(one, 0) for one in self.keys_from(key, number)))]

    def pop_id(self, key: int) -> int:
        """Remove and return the row id of a finished entry, 0 if unknown."""
        self.drop_key(key)
        return self._ids.pop(key, 0)

    def forget(self, keys: Collection[int] | None = None) -> None:
        """Remove row ids that may have been reused; without `keys` all."""
        if keys is None:
            self._ids.clear()
            self.clear_order()
        else:
            for key in keys:
                self.pop_id(key)


class SqliteQueue(SqlitePart):
    """The tables `queue`, `allowance` and `detour`; see `QueuePart`.

    An entry refers to its row of table `url` by row id: keys are hashes, so consecutive lookups by key would touch
    random pages. The ids of entries that were read and are not finished stay in memory, so that records reuse them.
    """

    def __init__(self, access: SqliteAccess) -> None:
        super().__init__(access)
        self.row_ids = RowIds()
        self._site_changes: dict[str, SiteChanges] = {}
        self._requeued: list[QueueEntry] = []
        self._finished: list[QueueEntry] = []
        self._allowances: dict[str, int] = {}
        self._hops: dict[int, int] = {}
        self._default_hops: int | None = None
        self._stored_hops = StoredHops(self._read_hops)
        self._read_ahead = ReadAhead()
        self.expected = 0
        """Visits that are to come: what waited when that was counted last, and what was queued again since then."""
        self._seq = 0
        self.changes = (self._site_changes, self._requeued, self._finished, self._allowances, self._hops)
        self.reload_counters()

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
        start, stop = (levels.start, levels.stop) if levels else (0, sys.maxsize)
        changes = self._site_changes.get(site)
        rows = self._read_ahead.take_site(site)
        if rows is None:
            more = len(changes.finished) if changes is not None else 0
            rows = self._read(_SELECT_SITE, site, start, stop, min(limit + more, sys.maxsize))
            self._read_following_sites(site, rows)
        else:
            rows = [row for row in rows if start <= row[-1] < stop][:limit]
        self.row_ids.remember([(row[1], row[0]) for row in rows])
        stored = [QueueEntry(*row[1:]) for row in rows]
        if changes is None:
            return stored
        found = changes.of(stored, start, stop)[:limit]
        if self._requeued:
            self.row_ids.remember_order(entry.key for entry in found)
        return found

    def _read_following_sites(self, site: str, rows: list[tuple[Any, ...]]) -> None:
        number = self._read_ahead.wanted(len(rows))
        if number:
            following = self._read(_SELECT_FOLLOWING_SITES, site, number)
            self._read_ahead.fill(following, more=len(following) == number, without=self._site_changes)
            # In one chain: the records of many small sites are read together.
            self.row_ids.remember([(row[1], row[0]) for row in (*rows, *following)])

    def expect_urls(self, keys: Sequence[int]) -> None:
        """Have URLs read together that are about to be looked at in this order."""
        self.row_ids.remember_order(keys)

    def keys_from(self, key: int, number: int) -> list[int]:
        """Return up to `number` keys: one and those of the entries read after it, if it was read."""
        return self.row_ids.keys_from(key, number)

    def is_waiting(self, key: int) -> bool:
        """Whether a known URL is in the queue; scans the whole queue."""
        if any(entry.key == key for entry in self._requeued):
            return True
        return bool(self._read("SELECT 1 FROM queue WHERE id=(SELECT id FROM url WHERE key=?)", key))

    def waiting_sites(self) -> list[tuple[str, int]]:
        """Return every site with queued URLs and their number."""
        rows = self._read("SELECT site, count(*) FROM queue GROUP BY site")
        self.expected = sum(number for _, number in rows)
        return [(site, number) for site, number in rows]

    def sites_with_leftovers(self) -> list[str]:
        """Return the sites with entries left over from the previous cycle."""
        return [site for (site,) in self._read("SELECT DISTINCT site FROM queue WHERE rank<0")]

    def next_seq(self) -> int:
        """Return a `seq` higher than that of every entry so far."""
        self._seq += 1
        return self._seq

    def reload_counters(self) -> None:
        """Reload the highest `seq` after bulk changes of the table, and clear what was read ahead."""
        self._seq = int(self._read("SELECT coalesce(max(seq), 0) FROM queue")[0][0])
        self._read_ahead.clear()
        self.row_ids.forget()

    def dequeue_urls(self, keys: Iterable[int]) -> None:
        """Remove URLs from the queue, durably."""
        self._access.flush()
        with self._access.transaction():
            self.remove_keys(list(keys))

    def dequeue_removed(self) -> None:
        """Remove URLs from the queue that a person removed from the source, durably."""
        self._access.flush()
        with self._access.transaction():
            self.remove_blacklisted()

    # ---- allowances and hops

    def put_allowance(self, site: str, left: int) -> None:
        """Store how many new URLs of a site may still be fetched."""
        self._allowances[site] = left

    def allowances(self) -> dict[str, int]:
        """Return the remaining allowance by site."""
        return dict(self._read("SELECT site, remaining FROM allowance"))

    def hops_to(self, keys: Sequence[int]) -> dict[int, int]:
        """Return the off-focus hops by key, without zeros."""
        query = "SELECT key, hops FROM detour WHERE key IN (SELECT value FROM json_each(?))"
        found = self._stored_hops.of(keys)
        if found is None:
            found = dict(self._read(query, json.dumps(keys)))
        found.update((key, self._hops[key]) for key in keys if key in self._hops)
        return {key: hops for key, hops in found.items() if hops}

    def _read_hops(self, limit: int) -> Iterable[tuple[int, int]] | None:
        if not self._access.record_cache.keeps:
            return None
        for key, hops in self._hops.items():
            self._stored_hops.put_hops(key, hops)
        return self._access.stream("SELECT key, hops FROM detour ORDER BY key LIMIT ?", limit)

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
        return [QueuedUrl(*row) for row in self._read(_SELECT_FIRST_WAITING, limit)]

    def first_known(self, limit: int) -> list[QueuedUrl]:
        """Return the first known URLs."""
        return [QueuedUrl(*row) for row in self._read(_SELECT_FIRST_KNOWN, limit)]

    def queued_urls(self, keys: Sequence[int]) -> list[QueuedUrl]:
        """Return those of the keys that are known."""
        found = {row[0]: QueuedUrl(*row) for row in self._read(_SELECT_BY_KEYS, json.dumps(keys))}
        return [found[key] for key in keys if key in found]

    def number_waiting(self) -> int:
        """Return how many URLs are queued."""
        return int(self._read("SELECT count(*) FROM queue")[0][0])

    def number_by_level(self, site: str) -> dict[int, int]:
        """Return the number of queued URLs of a site by level."""
        return dict(self._read("SELECT level, count(*) FROM queue WHERE site=? GROUP BY level", site))

    # ---- writing, inside a transaction of the store

    def begin_run(self) -> None:
        """Delete the allowances of the previous run; called before the queue is filled."""
        self._db.execute("DELETE FROM allowance")

    def write_new(self, entries: Iterable[QueueEntry], ids: dict[int, int]) -> None:
        """Insert entries whose rows were inserted in this transaction; `ids` has the row ids of all of them, by key."""
        self.row_ids.remember(list(ids.items()))
        self._db.executemany(
            _INSERT, [(e.site, e.level, e.depth, e.seq, e.hops, ids[e.key]) for e in entries]
        )

    def remove_blacklisted(self) -> None:
        """Delete the entries of URLs that a person removed from the source."""
        self._db.execute(_DELETE_BY_STATUS, (StatusCode.BLACKLISTED.value,))
        self._read_ahead.clear()

    def remove_keys(self, keys: Collection[int]) -> None:
        """Delete the entries of URLs, also of URLs that leave the table: their row ids may be reused."""
        self._db.execute(_DELETE_KEYS, (json.dumps(list(keys)),))
        self._read_ahead.clear()
        self.row_ids.forget(keys)

    @property
    def unwritten(self) -> int:
        """The number of unflushed changes."""
        return super().unwritten + (self._default_hops is not None)

    def write_changes(self) -> None:
        """Write the unflushed changes."""
        run = self._db.executemany
        run(_INSERT_KNOWN, [(e.site, e.level, e.depth, e.seq, e.hops, e.key) for e in self._requeued])
        run(_DELETE, [(e.site, e.level, e.rank, e.depth, e.seq) for e in self._finished])
        run("INSERT OR REPLACE INTO allowance (site, remaining) VALUES (?,?)", self._allowances.items())
        if self._default_hops is not None:
            self._db.execute("DELETE FROM detour")
            self._db.execute(_SET_HOPS_OF_ALL, (self._default_hops, self._default_hops > 0))
        off_focus = [(key, hops) for key, hops in self._hops.items() if hops]
        run("INSERT OR REPLACE INTO detour (key, hops) VALUES (?,?)", off_focus)
        run("DELETE FROM detour WHERE key=?", [(key,) for key, hops in self._hops.items() if not hops])

    def forget_changes(self) -> None:
        """Clear the changes after a committed flush."""
        super().forget_changes()
        self._stored_hops.note_flushed(anew=self._default_hops is not None)
        self._default_hops = None

    def forget_dropped(self) -> None:
        """Delete the hops of URLs that left the document table."""
        self._db.execute("DELETE FROM detour WHERE key NOT IN (SELECT key FROM url)")
        self._stored_hops.read_again()


def fill_queue(db: sqlite3.Connection, place: CyclePlace, start: QueueStart) -> None:
    """Fill the queue for a new cycle, inside a transaction; start URLs are added later.

    Documents whose removal or new version was held back are requested in every mode, so that no old response decides.
    """
    db.create_function("level_of", 1, start.level_of or _single_level, deterministic=True)
    db.execute(_DELETE_UNKNOWN)  # their row ids may be reused
    db.execute(_LEFTOVER_STATEMENTS[place.mode])
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
