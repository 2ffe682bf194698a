"""The persistent request queue: table `queue`, with site allowances and off-focus hops."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Sequence
from itertools import chain

import psycopg

from ultracrawl.model import StatusCode
from ultracrawl.stores.caching.loaded_tables import StoredHops
from ultracrawl.stores.caching.queue_changes import Place, RequestOrder, SiteChanges, place_of
from ultracrawl.stores.caching.read_ahead import ReadAhead
from ultracrawl.stores.port.queue import QueuedUrl, QueueEntry
from ultracrawl.stores.postgresql.access.database import Row
from ultracrawl.stores.postgresql.access.fencing import run_for
from ultracrawl.stores.postgresql.part_base import ROWS_AT_ONCE, PostgresPart, StoreAccess
from ultracrawl.stores.postgresql.visits import NO_SITEMAP, REMOVED

_INSERT = """
    INSERT INTO queue (source, part, site, level, rank, depth, seq, key, hops) SELECT {{ids}}, t.*
    FROM unnest(%s::int[], %s::int[], %s::int[], %s::int[], %s::bigint[], %s::bigint[], %s::int2[])
        t(site, level, rank, depth, seq, key, hops)
    {condition} ORDER BY t.site, level, rank, depth, seq
    ON CONFLICT (source, part, site, level, rank, depth, seq) DO UPDATE SET key = excluded.key, hops = excluded.hops"""
_INSERT_NEW = _INSERT.format(condition="")
"""Adds entries of URLs that the same transaction wrote: a check for each would take as long as the rest."""
_INSERT_KNOWN = _INSERT.format(condition="WHERE EXISTS (SELECT FROM url u WHERE {u} AND u.key = t.key)")
"""Adds those entries whose URLs are known."""
_DELETE = """
    DELETE FROM queue q USING (
        SELECT * FROM unnest(%s::int[], %s::int[], %s::int[], %s::int[], %s::bigint[]) t(site, level, rank, depth, seq)
        ORDER BY site, level, rank, depth, seq) t
    WHERE {q} AND (q.site, q.level, q.rank, q.depth, q.seq) = (t.site, t.level, t.rank, t.depth, t.seq)"""
DELETE_KEYS = "DELETE FROM queue WHERE {own} AND key = ANY(%s)"
"""Removes URLs, wherever they stand in the queue."""
_DELETE_BY_STATUS = """
    DELETE FROM queue q USING url u WHERE {q} AND {u} AND u.key = q.key AND u.status = %s"""
_ENTRY = """
    SELECT q.key, u.url, w.name, q.depth, q.seq, q.hops, coalesce(u.display_url, ''), q.rank, q.level FROM queue q
    JOIN url u ON {u} AND u.key = q.key JOIN host w ON {w} AND w.site = q.site WHERE {q}"""
_ORDER = "q.level, q.rank, q.depth, q.seq"
_SELECT_SITE = f"""
    {_ENTRY} AND q.site = (SELECT site FROM host WHERE {{own}} AND name = %s)
    AND (q.level, q.rank, q.depth, q.seq) >= (%s, %s, %s, %s) AND q.level < %s ORDER BY {_ORDER} LIMIT %s"""  # noqa: S608 - constant texts
# Bounded site by site: before the first statistics of a table, the planner would read the whole queue for each.
_SELECT_FOLLOWING_SITES = f"""
    SELECT e.key, e.url, w.name, e.depth, e.seq, e.hops, e.display_url, e.rank, e.level
    FROM (SELECT site, name FROM host WHERE {{own}} AND name > %s ORDER BY name LIMIT %s) w CROSS JOIN LATERAL (
        SELECT q.key, q.depth, q.seq, q.hops, q.rank, q.level, u.url, coalesce(u.display_url, '') AS display_url
        FROM (SELECT * FROM queue q WHERE {{q}} AND q.site = w.site ORDER BY {_ORDER} LIMIT %s) q
        JOIN url u ON {{u}} AND u.key = q.key) e
    ORDER BY w.name, e.level, e.rank, e.depth, e.seq LIMIT %s"""  # noqa: S608 - constant texts
_COUNT_SITES = """
    SELECT w.name, n.number FROM (
        SELECT site, count(*) AS number FROM queue WHERE {own} GROUP BY site) n
    JOIN host w ON {w} AND w.site = n.site ORDER BY w.name"""
_SELECT_LEFTOVERS = """
    SELECT DISTINCT w.name FROM queue q JOIN host w ON {w} AND w.site = q.site WHERE {q} AND q.rank < 0
    ORDER BY w.name"""
_QUEUED_URL = "SELECT u.key, u.url, w.name, u.depth, {rank}, coalesce(u.last_fetched, 0), coalesce(r.seen, 0)"
_WITH_REVISIT = "JOIN host w ON {w} AND w.site = u.site LEFT JOIN revisit r ON {r} AND r.key = u.key"
_SELECT_FIRST_WAITING = f"""
    {_QUEUED_URL.replace("{rank}", "q.rank")} FROM queue q JOIN url u ON {{u}} AND u.key = q.key {_WITH_REVISIT}
    WHERE {{q}} ORDER BY {_ORDER} LIMIT %s"""
_SELECT_FIRST_KNOWN = f"""
    {_QUEUED_URL.replace("{rank}", "0")} FROM url u {_WITH_REVISIT}
    WHERE {{u}} AND u.outcome <> {REMOVED} AND {NO_SITEMAP} ORDER BY u.depth, u.first_seen, u.url LIMIT %s"""
_SELECT_BY_KEYS = f"""
    {_QUEUED_URL.replace("{rank}", "0")} FROM url u {_WITH_REVISIT} WHERE {{u}} AND u.key = ANY(%s)"""
_SET_HOPS_OF_ALL = """
    INSERT INTO detour (source, part, key, hops) SELECT source, part, key, %s FROM url WHERE {own} AND depth > 0
    AND %s"""
_PUT_HOPS = """
    INSERT INTO detour (source, part, key, hops) SELECT {ids}, * FROM unnest(%s::bigint[], %s::int[])
    ON CONFLICT (source, part, key) DO UPDATE SET hops = excluded.hops"""
_PUT_ALLOWANCES = """
    INSERT INTO allowance (source, part, site, remaining) SELECT {ids}, * FROM unnest(%s::text[], %s::int[])
    ON CONFLICT (source, part, site) DO UPDATE SET remaining = excluded.remaining"""

_FIRST = -(1 << 31)
_LAST_LEVEL = (1 << 31) - 1
MAX_SITES = 100_000
"""Maximum number of sites whose first places are remembered."""


class FirstPlaces:
    """Where the stored entries of sites begin, so that no query passes over the rows that were deleted before."""

    def __init__(self) -> None:
        self._places: dict[str, dict[int, Place]] = {}

    def of(self, site: str, level: int) -> Place:
        """Return a place before which a site has no entry of this level or a later one."""
        return self._places.get(site, {}).get(level, (level, _FIRST, _FIRST, 0))

    def note_read(self, site: str, level: int, first: Place) -> None:
        """Note the first entry that was read from a level on."""
        if len(self._places) > MAX_SITES:
            self._places.clear()
        self._places.setdefault(site, {})[level] = first

    def note_added(self, site: str, entries: Iterable[QueueEntry]) -> None:
        """Note entries that were added."""
        known = self._places.get(site, {})
        for place in map(place_of, entries) if known else ():
            for level, first in known.items():
                if (level,) <= place < first:
                    known[level] = place

    def forget(self) -> None:
        """Forget all places."""
        self._places.clear()


class PostgresQueue(PostgresPart):
    """The tables `queue`, `allowance` and `detour`; see `QueuePart`."""

    def __init__(self, access: StoreAccess) -> None:
        super().__init__(access)
        self._order = RequestOrder()
        self._read_ahead = ReadAhead()
        self._first_places = FirstPlaces()
        self._stored_hops = StoredHops(self._read_hops)
        self.expected = 0
        """Visits that are to come: what waited when that was counted last, and what was queued again since then."""
        self._seq = 0
        self.reload_counters()

    def begin_generation(self) -> None:
        """Begin without entries, allowances and hops."""
        self._site_changes: dict[str, SiteChanges] = {}
        self._finished: list[QueueEntry] = []
        self._requeued: list[QueueEntry] = []
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
        start, stop = (levels.start, levels.stop) if levels else (0, _LAST_LEVEL)
        changes = self._changes_of_both(site)
        rows = self._read_ahead.take_site(site)
        if rows is None:
            more = len(changes.finished) if changes is not None else 0
            rows = self._read_site(site, start, stop, min(limit + more, sys.maxsize))
            self._read_following_sites(site, rows)
        else:
            rows = [row for row in rows if start <= row[-1] < stop][:limit]
        self._order.remember_order(row[1] for row in rows)
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
        place = self._first_places.of(site, start)
        found = self._read(_SELECT_SITE, site, *place, stop, limit)
        if found:
            self._first_places.note_read(site, start, place_of(QueueEntry(*found[0])))
        return [(0, *row) for row in found]  # in the form of `ReadAhead`, whose first column is its own

    def _read_following_sites(self, site: str, rows: list[Row]) -> None:
        number = self._read_ahead.wanted(len(rows))
        if number:
            following = [
                (0, *row) for row in self._read(_SELECT_FOLLOWING_SITES, site, number, number, number)
            ]
            self._read_ahead.fill(
                following,
                more=len(following) == number,
                without=self._site_changes.keys() | self.frozen._site_changes.keys(),
            )
            # In one chain: the records of many small sites are read together.
            self._order.remember_order(row[1] for row in (*rows, *following))

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
        return bool(self._read("SELECT 1 FROM queue WHERE {own} AND key = %s LIMIT 1", key))

    def waiting_sites(self) -> list[tuple[str, int]]:
        """Return every site with queued URLs and their number."""
        found = [(site, number) for site, number in self._read(_COUNT_SITES)]
        self.expected = sum(number for _, number in found)
        return found

    def sites_with_leftovers(self) -> list[str]:
        """Return the sites with entries left over from the previous cycle."""
        return [site for (site,) in self._read(_SELECT_LEFTOVERS)]

    def next_seq(self) -> int:
        """Return a `seq` higher than that of every entry so far."""
        self._seq += 1
        return self._seq

    def reload_counters(self) -> None:
        """Reload the highest `seq` after bulk changes of the table, and clear what was read ahead."""
        self._seq = int(self._read("SELECT coalesce(max(seq), 0) FROM queue WHERE {own}")[0][0])
        self.forget_read()

    def forget_read(self) -> None:
        """Forget what was read of the table, which was changed in bulk."""
        self._read_ahead.clear()
        self._order.clear_order()
        self._first_places.forget()
        self._stored_hops.read_again()

    def dequeue_urls(self, keys: Iterable[int]) -> None:
        """Remove URLs from the queue, durably."""
        self._access.flush()
        gone = list(keys)
        self._database.write(lambda db: db.execute(self._sql(DELETE_KEYS), [gone]))
        self.forget_read()

    def dequeue_removed(self) -> None:
        """Remove URLs from the queue that a person removed from the source, durably."""
        self._access.flush()
        self._database.write_whole(self.remove_blacklisted)
        self.forget_read()

    # ---- allowances and hops

    def put_allowance(self, site: str, left: int) -> None:
        """Store how many new URLs of a site may still be fetched."""
        self._allowances[site] = left

    def allowances(self) -> dict[str, int]:
        """Return the remaining allowance by site."""
        return dict(self._read("SELECT site, remaining FROM allowance WHERE {own}"))

    def hops_to(self, keys: Sequence[int]) -> dict[int, int]:
        """Return the off-focus hops by key, without zeros."""
        query = "SELECT key, hops FROM detour WHERE {own} AND key = ANY(%s)"
        found = self._stored_hops.of(keys)
        if found is None:
            found = dict(self._read(query, list(keys)))
        for part in self.generations:
            found.update((key, part._hops[key]) for key in keys if key in part._hops)
        return {key: hops for key, hops in found.items() if hops}

    def _read_hops(self, limit: int) -> Iterable[tuple[int, int]] | None:
        if not self._record_cache.keeps:
            return None
        for key, hops in chain.from_iterable(part._hops.items() for part in self.generations):
            self._stored_hops.put_hops(key, hops)
        query = self._sql("SELECT key, hops FROM detour WHERE {own} ORDER BY key LIMIT %s")
        return self._database.stream(query, limit, at_once=ROWS_AT_ONCE)

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
        found = {row[0]: QueuedUrl(*row) for row in self._read(_SELECT_BY_KEYS, list(keys))}
        return [found[key] for key in keys if key in found]

    def number_waiting(self) -> int:
        """Return how many URLs are queued."""
        return int(self._read("SELECT count(*) FROM queue WHERE {own}")[0][0])

    def number_by_level(self, site: str) -> dict[int, int]:
        """Return the number of queued URLs of a site by level."""
        query = """
            SELECT level, count(*) FROM queue WHERE {own}
            AND site = (SELECT site FROM host WHERE {own} AND name = %s) GROUP BY level"""
        return dict(self._read(query, site))

    # ---- writing, inside a transaction of the store

    def remove_blacklisted(self, db: psycopg.Connection) -> None:
        """Delete the entries of URLs that a person removed from the source."""
        db.execute(self._sql(_DELETE_BY_STATUS), [StatusCode.BLACKLISTED.value])

    @property
    def unwritten(self) -> int:
        """The number of changes of this generation."""
        return super().unwritten + (self._default_hops is not None)

    @property
    def changed_sites(self) -> Collection[str]:
        """The sites whose entries change with the next flush."""
        return self._site_changes

    def write_entries(self, db: psycopg.Connection, sites: dict[str, int]) -> None:
        """Write the entries that came and went, after the records; `sites` has the numbers of the changed sites."""
        added: dict[tuple[int, ...], tuple[int, ...]] = {}
        gone: set[tuple[int, ...]] = set()
        for name, changes in self._site_changes.items():
            site = sites[name]
            gone.update((site, *place) for place in changes.finished)
            for e in changes.added:
                place = site, *place_of(e)
                if place not in gone:
                    added[place] = (*place, e.key, e.hops)
        again = {e.key for e in self._requeued}
        run_for(db, self._sql(_INSERT_NEW), [row for row in added.values() if row[-2] not in again])
        run_for(db, self._sql(_INSERT_KNOWN), [row for row in added.values() if row[-2] in again])
        run_for(db, self._sql(_DELETE), list(gone))

    def write_changes(self, db: psycopg.Connection) -> None:
        """Write the unflushed allowances and hops."""
        run_for(db, self._sql(_PUT_ALLOWANCES), list(self._allowances.items()))
        if self._default_hops is not None:
            db.execute(self._sql("DELETE FROM detour WHERE {own}"))
            db.execute(self._sql(_SET_HOPS_OF_ALL), [self._default_hops, self._default_hops > 0])
        run_for(db, self._sql(_PUT_HOPS), [(key, hops) for key, hops in self._hops.items() if hops])
        if cleared := sorted(key for key, hops in self._hops.items() if not hops):
            db.execute(self._sql("DELETE FROM detour WHERE {own} AND key = ANY(%s)"), [cleared])

    def forget_frozen(self) -> None:
        """Forget what was flushed, after noting what it changes of what was read."""
        for entry in self.frozen._finished:
            self._order.drop_key(entry.key)
        for name, changes in self.frozen._site_changes.items():
            self._first_places.note_added(name, changes.added)
        self._stored_hops.note_flushed(anew=self.frozen._default_hops is not None)
        super().forget_frozen()
