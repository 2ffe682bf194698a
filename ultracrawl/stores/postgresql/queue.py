"""The statements of the request queue: tables `queue`, `allowance` and `detour`."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ultracrawl.stores.port.queue import QueueEntry
from ultracrawl.stores.postgresql.part_base import PostgresWriting, StoreAccess
from ultracrawl.stores.postgresql.visits import NO_SITEMAP, REMOVED
from ultracrawl.stores.state.queue import Place, Queue, place_of
from ultracrawl.stores.state.read_ahead import Row

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
_ENTRY = """
    SELECT 0, q.key, u.url, w.name, q.depth, q.seq, q.hops, coalesce(u.display_url, ''), q.rank, q.level FROM queue q
    JOIN url u ON {u} AND u.key = q.key JOIN host w ON {w} AND w.site = q.site WHERE {q}"""
_ORDER = "q.level, q.rank, q.depth, q.seq"
_SELECT_SITE = f"""
    {_ENTRY} AND q.site = (SELECT site FROM host WHERE {{own}} AND name = %s)
    AND (q.level, q.rank, q.depth, q.seq) >= (%s, %s, %s, %s) AND q.level < %s ORDER BY {_ORDER} LIMIT %s"""  # noqa: S608 - constant texts
_QUEUED_URL = "SELECT u.key, u.url, w.name, u.depth, {rank}, coalesce(u.last_fetched, 0), coalesce(r.seen, 0)"
_WITH_REVISIT = "JOIN host w ON {w} AND w.site = u.site LEFT JOIN revisit r ON {r} AND r.key = u.key"
_FIRST = -(1 << 31)
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


class PostgresQueue(Queue):
    """The statements of `Queue`."""

    # Bounded site by site: before the first statistics of a table, the planner would read the whole queue for each.
    FOLLOWING_ROWS = f"""
        SELECT 0, e.key, e.url, w.name, e.depth, e.seq, e.hops, e.display_url, e.rank, e.level
        FROM (SELECT site, name FROM host WHERE {{own}} AND name > %s ORDER BY name LIMIT %s) w CROSS JOIN LATERAL (
            SELECT q.key, q.depth, q.seq, q.hops, q.rank, q.level, u.url, coalesce(u.display_url, '') AS display_url
            FROM (SELECT * FROM queue q WHERE {{q}} AND q.site = w.site ORDER BY {_ORDER} LIMIT %s) q
            JOIN url u ON {{u}} AND u.key = q.key) e
        ORDER BY w.name, e.level, e.rank, e.depth, e.seq LIMIT %s"""  # noqa: S608 - constant texts
    IS_QUEUED = "SELECT 1 FROM queue WHERE {own} AND key = %s LIMIT 1"
    COUNT_SITES = """
        SELECT w.name, n.number FROM (
            SELECT site, count(*) AS number FROM queue WHERE {own} GROUP BY site) n
        JOIN host w ON {w} AND w.site = n.site ORDER BY w.name"""
    LEFTOVER_SITES = """
        SELECT DISTINCT w.name FROM queue q JOIN host w ON {w} AND w.site = q.site WHERE {q} AND q.rank < 0
        ORDER BY w.name"""
    DELETE_KEYS = "DELETE FROM queue WHERE {own} AND key = ANY(%s)"
    DELETE_BY_STATUS = "DELETE FROM queue q USING url u WHERE {q} AND {u} AND u.key = q.key AND u.status = %s"
    SELECT_WAITING = f"""
        {_QUEUED_URL.replace("{rank}", "q.rank")} FROM queue q JOIN url u ON {{u}} AND u.key = q.key {_WITH_REVISIT}
        WHERE {{q}} ORDER BY {_ORDER} LIMIT %s"""
    SELECT_KNOWN = f"""
        {_QUEUED_URL.replace("{rank}", "0")} FROM url u {_WITH_REVISIT}
        WHERE {{u}} AND u.outcome <> {REMOVED} AND {NO_SITEMAP} ORDER BY u.depth, u.first_seen, u.url LIMIT %s"""
    SELECT_BY_KEYS = f"""
        {_QUEUED_URL.replace("{rank}", "0")} FROM url u {_WITH_REVISIT} WHERE {{u}} AND u.key = ANY(%s)"""
    COUNT_LEVELS = """
        SELECT level, count(*) FROM queue WHERE {own}
        AND site = (SELECT site FROM host WHERE {own} AND name = %s) GROUP BY level"""

    def __init__(self, access: StoreAccess) -> None:
        self._first_places = FirstPlaces()
        super().__init__(access)

    def _read_site(self, site: str, start: int, stop: int, limit: int) -> list[Row]:
        found = self._read(_SELECT_SITE, site, *self._first_places.of(site, start), stop, limit)
        if found:
            self._first_places.note_read(site, start, place_of(QueueEntry(*found[0][1:])))
        return found

    def _read_following(self, site: str, number: int) -> list[Row]:
        return self._read(self.FOLLOWING_ROWS, site, number, number, number)

    def forget_read(self) -> None:
        """Forget what was read of the table, which was changed in bulk."""
        super().forget_read()
        self._first_places.forget()

    # ---- writing, inside a transaction of the store

    @property
    def changed_sites(self) -> Collection[str]:
        """The sites whose entries change with the next flush."""
        return self._site_changes

    def write_entries(self, to: PostgresWriting, sites: dict[str, int]) -> None:
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
        to.run(_INSERT_NEW, [row for row in added.values() if row[-2] not in again])
        to.run(_INSERT_KNOWN, [row for row in added.values() if row[-2] in again])
        to.run(_DELETE, list(gone))

    def forget_frozen(self) -> None:
        """Forget what was flushed, after noting what it changes of what was read."""
        for name, changes in self.frozen._site_changes.items():
            self._first_places.note_added(name, changes.added)
        super().forget_frozen()
