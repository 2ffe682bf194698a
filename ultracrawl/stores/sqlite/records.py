"""What is known of each URL, durable: the table `url` of a store, and `near` with texts by simhash."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.duplicates.fingerprint import blocks, distance
from ultracrawl.rules.urls.canonical import site_of
from ultracrawl.stores.port.queue import QueueEntry
from ultracrawl.stores.port.records import StateCounts
from ultracrawl.stores.sqlite.database import SqliteAccess, SqlitePart
from ultracrawl.stores.sqlite.queue import SqliteQueue
from ultracrawl.stores.sqlite.read_ahead import MOST_VALUES, PossibleValues
from ultracrawl.stores.sqlite.record_row import READ, REPLACE, UPSERT, outcome_of, record_of, row_of
from ultracrawl.stores.sqlite.visits import SqliteVisits

_DISCOVER = """
    INSERT INTO url (id, key, url, site, depth, display_url, first_seen) VALUES (?,?,?,?,?,?,?)
    ON CONFLICT (key) DO UPDATE SET depth=min(depth, excluded.depth)"""
_PLACES = "SELECT key, id FROM url WHERE key IN (SELECT value FROM json_each(?))"
_OUTCOMES = "SELECT outcome, count(*), sum(indexed), sum(indexed OR submitted) FROM url GROUP BY outcome"
_OF_KEY = f"SELECT key, {READ} FROM url WHERE key=?"  # noqa: S608 - constant column names
_OF_KEYS = f"SELECT key, {READ} FROM url WHERE key IN (SELECT value FROM json_each(?))"  # noqa: S608 - the same
_OF_PRINT = f"SELECT key, {READ} FROM url WHERE fingerprint=? AND fingerprint<>x''"  # noqa: S608 - the same
_AT_PLACES = f"SELECT key, {READ} FROM url WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608 - the same
_KEYS = "SELECT key FROM url"
_PRINTS = "SELECT fingerprint FROM url WHERE fingerprint<>x''"
_SIGN = 1 << 63
AHEAD = 256
"""Records that are read at once, that of an entry and those of the entries behind it: more than end between flushes."""
GONE_RUNS = 3
"""A URL that nothing links to any more is forgotten when it was gone in this many runs in a row."""

T = TypeVar("T")


class SqliteScans(SqlitePart):
    """Records by what is flushed of them, one after the other."""

    def __init__(self, access: SqliteAccess, source: str) -> None:
        super().__init__(access)
        self._source = source

    def redirecting_to(self, url: str) -> list[UrlRecord]:
        """Return the records of URLs that redirect to a URL."""
        query = f"SELECT {READ} FROM url WHERE outcome='REDIRECTED' AND subject=?"  # noqa: S608 - constant names
        return [record_of(row, self._source) for row in self._read(query, url)]

    def all_records(self, outcome: UrlOutcome | None = None, after: str = "") -> Iterator[UrlRecord]:
        """Yield all records in order of their URL, those after a URL, of one outcome if it is named."""
        return (
            self._records("url>? AND outcome=?", after, outcome.value)
            if outcome
            else self._records("url>?", after)
        )

    def pending_records(self) -> Iterator[UrlRecord]:
        """Yield the records whose documents wait for an approval."""
        return self._records("key IN (SELECT key FROM pending)")

    def records_to_remove(self) -> Iterator[UrlRecord]:
        """Yield the records whose documents are to leave the index."""
        return self._records("removal_code<>''")

    def _records(self, condition: str, *values: object) -> Iterator[UrlRecord]:
        query = f"SELECT {READ} FROM url WHERE {condition} ORDER BY url"  # noqa: S608 - constant texts
        with self._access.translated:
            for row in self._db.execute(query, values):
                yield record_of(row, self._source)


class SqliteContents(SqliteScans):
    """Which contents are known: records by fingerprint, and the table `near`, texts by simhash.

    By that nearly equal texts are found without comparing all.
    """

    def __init__(self, access: SqliteAccess, source: str) -> None:
        super().__init__(access, source)
        self._simhashes: dict[bytes, int] = {}
        self._blocks: dict[int, set[bytes]] = {}
        """Fingerprints by block, of what is not flushed."""
        self._prints: dict[bytes, set[int]] = {}
        """Keys by fingerprint, of what is not flushed."""
        self._possible_prints = PossibleValues[bytes](lambda: _values(access, _PRINTS, self._prints))
        self.changes = (self._simhashes, self._blocks, self._prints)

    def _note_print(self, key: int, fingerprint: bytes) -> None:
        if fingerprint:
            self._prints.setdefault(fingerprint, set()).add(key)
            self._possible_prints.add_value(fingerprint)

    def _stored_with(self, fingerprint: bytes) -> dict[int, UrlRecord]:
        """Return the records that were flushed with this fingerprint, by one query until something is written."""
        kept = self._access.ahead.same_records(fingerprint)
        if kept is not None:
            return kept
        rows = self._read(_OF_PRINT, fingerprint)
        with self._access.translated:
            found = {row[0]: record_of(row[1:], self._source) for row in rows}
        self._access.ahead.keep_same(fingerprint, found)
        return found

    def put_simhash(self, fingerprint: bytes, simhash: int) -> None:
        """Keep the simhash of a text."""
        self._simhashes[fingerprint] = simhash
        for block in blocks(simhash):
            self._blocks.setdefault(block, set()).add(fingerprint)

    def nearest_simhash(self, simhash: int, within: int) -> bytes | None:
        """Return the fingerprint of the nearest text."""
        places = blocks(simhash)
        query = "SELECT fingerprint, simhash FROM near WHERE block IN (?,?,?,?)"
        known = {found: value % (1 << 64) for found, value in self._read(query, *places)}
        for block in places:
            known.update((found, self._simhashes[found]) for found in self._blocks.get(block, ()))
        near = [(distance(simhash, value), found) for found, value in known.items()]
        best = min(near, default=None)
        return best[1] if best is not None and best[0] <= within else None

    def forget_unused_simhashes(self) -> None:
        """Forget texts that no known page has any more; inside a transaction of the store."""
        self._db.execute("DELETE FROM near WHERE fingerprint NOT IN (SELECT fingerprint FROM url)")

    def write_changes(self) -> None:
        """Write what waits."""
        self._db.executemany(
            "INSERT OR IGNORE INTO near (block, fingerprint, simhash) VALUES (?,?,?)",
            [
                (block, fingerprint, value - (1 << 64) if value & _SIGN else value)
                for fingerprint, value in self._simhashes.items()
                for block in blocks(value)
            ],
        )


class SqliteRecords(SqliteContents):
    """The tables `url` and `near`; see `RecordPart`."""

    def __init__(self, access: SqliteAccess, source: str, queue: SqliteQueue, visits: SqliteVisits) -> None:
        """`queue` and `visits` are told of URLs that come, and where their rows lie."""
        super().__init__(access, source)
        self._queue = queue
        self._visits = visits
        self._found: dict[int, tuple[QueueEntry, float]] = {}
        self._put_off: set[int] = set()
        """Keys among those found that do not enter the queue."""
        self._done: dict[int, tuple[QueueEntry, UrlRecord]] = {}
        self._amended: dict[int, UrlRecord] = {}
        self._names: dict[str, set[int]] = {}
        """Keys by display URL, of what is not flushed."""
        named = self._read("SELECT EXISTS (SELECT 1 FROM url WHERE display_url<>'')")
        self._any_names = bool(named[0][0])
        self._possible_keys = PossibleValues[int](
            lambda: _values(access, _KEYS, self._found, self._done, self._amended)
        )
        of_urls = (self._found, self._put_off, self._done, self._amended, self._names)
        self.changes = (*self.changes, *of_urls)

    # ---- one URL

    def known_urls(self, keys: Sequence[int]) -> dict[int, tuple[str, int]]:
        """Return (url, depth) by key for those of the keys that are known."""
        known = {
            key: (self._found[key][0].url, self._found[key][0].depth) for key in keys if key in self._found
        }
        rest = [key for key in keys if key not in known and self._possible_keys.may_hold(key)]
        if rest:
            query = "SELECT key, url, depth FROM url WHERE key IN (SELECT value FROM json_each(?))"
            known.update((key, (url, depth)) for key, url, depth in self._read(query, json.dumps(rest)))
        return known

    def get_record(self, key: int) -> UrlRecord | None:
        """Return the record of a key."""
        unflushed = self._unflushed(key)
        if unflushed is not None:
            return unflushed
        kept = self._access.ahead.kept_record(key) or self._read_records(key)
        return _unvisited(self._source, *kept) if isinstance(kept, tuple) else kept

    def get_records(self, keys: Sequence[int]) -> dict[int, UrlRecord]:
        """Return the records of some keys."""
        found = {key: record for key in keys if (record := self._unflushed(key)) is not None}
        rest = [key for key in keys if key not in found and self._possible_keys.may_hold(key)]
        if rest:
            rows = self._read(_OF_KEYS, json.dumps(rest))
            with self._access.translated:
                found.update((row[0], record_of(row[1:], self._source)) for row in rows)
        return found

    def _unflushed(self, key: int) -> UrlRecord | None:
        if key in self._done:
            return self._done[key][1]
        if key in self._amended:
            return self._amended[key]
        return _unvisited(self._source, *self._found[key]) if key in self._found else None

    def _read_records(self, key: int) -> UrlRecord | None:
        """Read a record, and with it those of the entries that are likely to be next."""
        places = self._queue.places.places_from(key, AHEAD) if self._access.ahead.keeps else []
        rows = self._read(_AT_PLACES, json.dumps(places)) if places else self._read(_OF_KEY, key)
        with self._access.translated:
            found = {row[0]: record_of(row[1:], self._source) for row in rows}
        self._access.ahead.keep_records(self._as_stored(found))
        return found.get(key)

    def _as_stored(self, records: dict[int, T]) -> dict[int, T]:
        """Return those of some records of which nothing waits for the next flush."""
        return {
            key: one for key, one in records.items() if key not in self._done and key not in self._amended
        }

    def discover_url(self, entry: QueueEntry, now: float, *, queued: bool = True) -> None:
        """Add a URL that is not known yet to table and queue, or to the table alone."""
        self._found[entry.key] = (entry, now)
        self._possible_keys.add_value(entry.key)
        self._queue.note_entry(entry)
        if not queued:
            self._put_off.add(entry.key)
        self._note_name(entry.key, entry.display_url)

    def finish_url(self, entry: QueueEntry, record: UrlRecord) -> None:
        """Replace the record of a queued URL and take it out of the queue."""
        self._done[entry.key] = (entry, record)
        self._note_written(entry.key)
        self._queue.finish_entry(entry)
        self._amended.pop(entry.key, None)
        self._note_name(entry.key, record.display_url)
        self._note_print(entry.key, record.fingerprint)

    def amend_record(self, key: int, record: UrlRecord) -> None:
        """Replace the record of a known URL."""
        self._note_written(key)
        if key in self._done:
            self._done[key] = (self._done[key][0], record)
        else:
            self._amended[key] = record
        self._note_name(key, record.display_url)
        self._note_print(key, record.fingerprint)

    def _note_written(self, key: int) -> None:
        self._possible_keys.add_value(key)
        self._access.ahead.forget_records((key,))

    def _note_name(self, key: int, display_url: str) -> None:
        if display_url:
            self._any_names = True
            self._names.setdefault(display_url, set()).add(key)

    # ---- by what records say

    def shown_as(self, url: str) -> list[UrlRecord]:
        """Return the records that have this URL as a display URL of its own."""
        if not self._any_names:
            return []
        query = "SELECT key FROM url WHERE display_url=? AND display_url<>''"
        keys = self._names.get(url, set()).union(key for (key,) in self._read(query, url))
        records = (self.get_record(key) for key in sorted(keys))
        return [record for record in records if record is not None and record.display_url == url]

    def same_content(self, fingerprint: bytes) -> list[UrlRecord]:
        """Return the records with this fingerprint."""
        stored = self._stored_with(fingerprint) if self._possible_prints.may_hold(fingerprint) else {}
        keys = list(stored)
        if fingerprint in self._prints:
            keys = sorted(self._prints[fingerprint].union(keys))
        records = (self._unflushed(key) or stored.get(key) or self.get_record(key) for key in keys)
        return [one for one in records if one is not None and one.fingerprint == fingerprint]

    def forgettable_urls(self) -> set[int]:
        """Return the keys of URLs that were gone several times in a row and that no known page links to."""
        return _forgettable(self._access)

    def count_urls(self) -> StateCounts:
        """Return how many URLs are known, waiting and indexed."""
        return _count_urls(self._access)

    # ---- writing, inside a transaction of the store

    def write_changes(self) -> None:
        """Write what waits."""
        self._write_found()
        self._db.executemany(
            UPSERT, [row_of(key, site_of(record.url), record) for key, record in self._amended.items()]
        )
        self._write_done()
        super().write_changes()

    def forget_changes(self) -> None:
        """Take note that the transaction went well: what was read before it may be another by now."""
        super().forget_changes()
        self._access.ahead.forget_records(())

    def _write_found(self) -> None:
        """Give new URLs a row and a place in the queue; the places of rows go on behind the last one."""
        ((last,),) = self._read("SELECT coalesce(max(id), 0) FROM url")
        found = list(enumerate(self._found.values(), last + 1))
        self._db.executemany(
            _DISCOVER,
            [(place, e.key, e.url, e.site, e.depth, e.display_url, t) for place, (e, t) in found],
        )
        places = {entry.key: place for place, (entry, _) in found}
        if self._read("SELECT count(*) FROM url WHERE id>?", last) == [(len(found),)]:
            self._access.ahead.keep_records(self._as_stored(self._found))
        else:  # one was known
            places = dict(self._read(_PLACES, json.dumps(list(self._found))))
        self._queue.write_new((e for e, _ in self._found.values() if e.key not in self._put_off), places)
        self._visits.write_new(places.values())

    def _write_done(self) -> None:
        rows = [row_of(entry.key, entry.site, record) for entry, record in self._done.values()]
        places = [self._queue.places.take_place(entry.key) for entry, _ in self._done.values()]
        self._db.executemany(
            REPLACE, [(*row[3:], place) for row, place in zip(rows, places, strict=True) if place]
        )
        self._db.executemany(UPSERT, [row for row, place in zip(rows, places, strict=True) if not place])


def _unvisited(source: str, entry: QueueEntry, now: float) -> UrlRecord:
    shown = entry.display_url
    return UrlRecord(entry.url, source, depth=entry.depth, display_url=shown, first_seen=now)


def _values(access: SqliteAccess, query: str, *waiting: Iterable[T]) -> set[T] | None:
    """Return all values of a column, with those that wait; None if they are many, or another process may write them."""
    ((last,),) = access.read("SELECT coalesce(max(id), 0) FROM url")
    if last > MOST_VALUES or not access.ahead.keeps:
        return None
    return {value for (value,) in access.read(query)}.union(*waiting)


def _forgettable(access: SqliteAccess) -> set[int]:
    rows = access.read(
        "SELECT key FROM url WHERE outcome='GONE' AND failures>=? AND removal_code=''", GONE_RUNS
    )
    gone = {key for (key,) in rows}
    if gone:
        with access.translated:
            for (links,) in access.db.execute("SELECT links FROM url WHERE outcome<>'GONE' AND links<>x''"):
                gone.difference_update(array("q", links))
    return gone


def _count_urls(access: SqliteAccess) -> StateCounts:
    rows = access.read(_OUTCOMES)
    ((queued,),) = access.read("SELECT count(*) FROM queue")
    ((pending,),) = access.read("SELECT count(*) FROM pending")
    ((removals,),) = access.read("SELECT count(*) FROM url WHERE removal_code<>''")
    with access.translated:
        outcomes = {outcome_of(outcome): number for outcome, number, _, _ in rows}
    known, indexed, documents = (sum(row[column] for row in rows) for column in (1, 2, 3))
    return StateCounts(known, queued, indexed, outcomes, pending, documents, removals)
