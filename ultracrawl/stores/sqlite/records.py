"""The document table: table `url` of the SQLite store, and table `near` with signatures."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeVar

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.duplicates.fingerprint import blocks, distance
from ultracrawl.rules.urls.canonical import site_of
from ultracrawl.stores.caching import read_ahead
from ultracrawl.stores.caching.loaded_tables import Signatures
from ultracrawl.stores.caching.read_ahead import Parts, PossibleValues, UrlLookUps
from ultracrawl.stores.port.queue import QueueEntry
from ultracrawl.stores.port.records import StateCounts
from ultracrawl.stores.sqlite.database import SqliteAccess, SqlitePart
from ultracrawl.stores.sqlite.queue import SqliteQueue
from ultracrawl.stores.sqlite.record_row import READ, REPLACE, UPSERT, outcome_of, record_of, row_of
from ultracrawl.stores.sqlite.visits import SqliteVisits

_INSERT_DISCOVERED = """
    INSERT INTO url (id, key, url, site, depth, display_url, hops, first_seen) VALUES (?,?,?,?,?,?,?,?)
    ON CONFLICT (key) DO UPDATE SET depth=min(depth, excluded.depth)"""
_SELECT_IDS = "SELECT key, id FROM url WHERE key IN (SELECT value FROM json_each(?))"
_COUNT_BY_OUTCOME = "SELECT outcome, urls, indexed, documents FROM tally WHERE urls>0"
_COUNT_VISITED = """
    SELECT outcome, count(*) FROM url
    WHERE last_fetched>=? AND id NOT IN (SELECT id FROM queue) GROUP BY outcome"""
_SELECT_BY_KEY = f"SELECT key, {READ} FROM url WHERE key=?"  # noqa: S608 - constant column names
_SELECT_BY_KEYS = f"SELECT key, {READ} FROM url WHERE key IN (SELECT value FROM json_each(?))"  # noqa: S608 - the same
_SELECT_BY_FINGERPRINTS = f"SELECT key, {READ} FROM url WHERE fingerprint IN ({{}}) AND fingerprint<>x''"  # noqa: S608 - the same
_SELECT_BY_IDS = f"SELECT key, {READ} FROM url WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608 - the same
_SELECT_KEYS = "SELECT key FROM url ORDER BY key"
_SELECT_FINGERPRINTS = "SELECT fingerprint FROM url WHERE fingerprint<>x'' ORDER BY fingerprint"
_SELECT_SIGNATURES = "SELECT fingerprint, signature FROM near WHERE block>=? AND block<? LIMIT ?"
_SIGN_BIT = 1 << 63
FORGET_AFTER_GONE_RUNS = 3
"""A URL without links to it is deleted after it was gone in this many runs in a row."""

T = TypeVar("T")


class SqliteScans(SqlitePart):
    """Scans over flushed records."""

    def __init__(self, access: SqliteAccess, source: str) -> None:
        super().__init__(access)
        self._source = source

    def redirecting_to(self, url: str) -> list[UrlRecord]:
        """Return the records of URLs that redirect to a URL."""
        query = f"SELECT {READ} FROM url WHERE outcome='REDIRECTED' AND subject=?"  # noqa: S608 - constant names
        return [record_of(row, self._source) for row in self._read(query, url)]

    def all_records(self, outcome: UrlOutcome | None = None, after: str = "") -> Iterator[UrlRecord]:
        """Yield all records in order of their URL."""
        return (
            self._records("url>? AND outcome=?", after, outcome.value)
            if outcome
            else self._records("url>?", after)
        )

    def some_documents(self, most: int) -> list[UrlRecord]:
        """Return the records of at most so many searchable documents, in the order of their keys."""
        query = f"SELECT {READ} FROM url WHERE indexed OR submitted ORDER BY key LIMIT ?"  # noqa: S608 - constant texts
        with self._access.translated:
            return [record_of(row, self._source) for row in self._db.execute(query, (most,))]

    def pending_records(self) -> Iterator[UrlRecord]:
        """Yield the records whose documents wait for approval."""
        return self._records("key IN (SELECT key FROM pending)")

    def held_records(self) -> Iterator[UrlRecord]:
        """Yield the records of which a new version is held back."""
        return self._records("key IN (SELECT key FROM held)")

    def records_to_remove(self) -> Iterator[UrlRecord]:
        """Yield the records whose documents are to be removed from the index."""
        return self._records("removal_code<>''")

    def _records(self, condition: str, *values: object) -> Iterator[UrlRecord]:
        query = f"SELECT {READ} FROM url WHERE {condition} ORDER BY url"  # noqa: S608 - constant texts
        with self._access.translated:
            for row in self._db.execute(query, values):
                yield record_of(row, self._source)


class SqliteContents(SqliteScans):
    """Duplicate lookup: records by fingerprint, and table `near` with signatures by block.

    The blocks find near-duplicates without comparing all texts.
    """

    def __init__(self, access: SqliteAccess, source: str, queue: SqliteQueue) -> None:
        super().__init__(access, source)
        self._signatures: dict[bytes, int] = {}
        self._blocks: dict[int, set[bytes]] = {}
        """Fingerprints by block, unflushed."""
        self._fingerprints: dict[bytes, set[int]] = {}
        """Keys by fingerprint, unflushed."""
        self._possible_fingerprints = PossibleValues[bytes](
            lambda: _highest_id(access),
            lambda: _parts(access, _SELECT_FINGERPRINTS, _part_of_fingerprint, self._fingerprints),
            _part_of_fingerprint,
            lambda: queue.expected,
        )
        self._texts = Signatures(self._stored_signatures)
        self.changes = (self._signatures, self._blocks, self._fingerprints)

    def _stored_signatures(self, found_by: range, limit: int) -> Iterable[tuple[bytes, int]] | None:
        if not self._access.record_cache.keeps:
            return None
        rows = self._access.stream(_SELECT_SIGNATURES, found_by.start, found_by.stop, limit)
        return chain(((found, value % (1 << 64)) for found, value in rows), self._signatures.items())

    def _note_fingerprint(self, key: int, fingerprint: bytes) -> None:
        if fingerprint:
            self._fingerprints.setdefault(fingerprint, set()).add(key)
            self._possible_fingerprints.add_value(fingerprint)

    def _flushed_with(self, fingerprint: bytes) -> dict[int, UrlRecord]:
        """Return the flushed records with a fingerprint; read with those of the pages that are likely to be next."""
        kept = self._access.record_cache.get_by_fingerprint(fingerprint)
        if kept is not None:
            return kept
        asked = self._access.record_cache.asked_with(fingerprint)
        rows = self._read(_SELECT_BY_FINGERPRINTS.format(", ".join("?" * len(asked))), *asked)
        with self._access.translated:
            found = {row[0]: record_of(row[1:], self._source) for row in rows}
        self._access.record_cache.put_by_fingerprint(asked, found)
        return {key: record for key, record in found.items() if record.fingerprint == fingerprint}

    def put_signature(self, fingerprint: bytes, signature: int) -> None:
        """Store the signature of a text."""
        self._signatures[fingerprint] = signature
        self._texts.add(fingerprint, signature)
        for block in blocks(signature):
            self._blocks.setdefault(block, set()).add(fingerprint)

    def nearest_signature(self, signature: int, within: int) -> bytes | None:
        """Return the fingerprint with the nearest signature."""
        if self._texts.holds_all():
            return self._texts.nearest(signature, within)
        signature_blocks = blocks(signature)
        query = "SELECT fingerprint, signature FROM near WHERE block IN (?,?,?,?)"
        known = {found: value % (1 << 64) for found, value in self._read(query, *signature_blocks)}
        for block in signature_blocks:
            known.update((found, self._signatures[found]) for found in self._blocks.get(block, ()))
        near = [(distance(signature, value), found) for found, value in known.items()]
        best = min(near, default=None)
        return best[1] if best is not None and best[0] <= within else None

    def forget_unused_signatures(self) -> None:
        """Delete signatures of fingerprints that no page has any more; inside a transaction of the store."""
        self._db.execute("DELETE FROM near WHERE fingerprint NOT IN (SELECT fingerprint FROM url)")
        self._texts.read_again()

    def write_changes(self) -> None:
        """Write the unflushed changes."""
        self._db.executemany(
            "INSERT OR IGNORE INTO near (block, fingerprint, signature) VALUES (?,?,?)",
            [
                (block, fingerprint, value - (1 << 64) if value & _SIGN_BIT else value)
                for fingerprint, value in self._signatures.items()
                for block in blocks(value)
            ],
        )


class SqliteRecords(SqliteContents, UrlLookUps):
    """The tables `url` and `near`; see `RecordPart`."""

    def __init__(self, access: SqliteAccess, source: str, queue: SqliteQueue, visits: SqliteVisits) -> None:
        """`queue` and `visits` receive the new URLs with their row ids."""
        super().__init__(access, source, queue)
        self._queue = queue
        self._visits = visits
        self._discovered = {}
        self._unqueued: set[int] = set()
        """Keys of discovered URLs that do not enter the queue."""
        self._finished: dict[int, tuple[QueueEntry, UrlRecord]] = {}
        self._amended: dict[int, UrlRecord] = {}
        self._display_urls: dict[str, set[int]] = {}
        """Keys by display URL, unflushed."""
        named = self._read("SELECT EXISTS (SELECT 1 FROM url WHERE display_url<>'')")
        self._has_display_urls = bool(named[0][0])
        self._possible_keys = PossibleValues[int](
            lambda: _highest_id(access),
            lambda: _parts(
                access, _SELECT_KEYS, _part_of_key, self._discovered, self._finished, self._amended
            ),
            _part_of_key,
            lambda: queue.expected,
        )
        self._asked, self._answers = set(), {}
        of_urls = (self._discovered, self._unqueued, self._finished, self._amended, self._display_urls)
        self.changes = (*self.changes, *of_urls, self._asked)

    # ---- one URL

    def _stored_urls(self, keys: Iterable[int]) -> dict[int, tuple[str, int]]:
        query = "SELECT key, url, depth FROM url WHERE key IN (SELECT value FROM json_each(?))"
        return {key: (url, depth) for key, url, depth in self._read(query, json.dumps(list(keys)))}

    def get_record(self, key: int) -> UrlRecord | None:
        """Return the record of a key."""
        unflushed = self._unflushed(key)
        if unflushed is not None:
            return unflushed
        kept = self._access.record_cache.get_record(key) or self._read_records(key)
        return _unvisited(self._source, *kept) if isinstance(kept, tuple) else kept

    def get_records(self, keys: Sequence[int]) -> dict[int, UrlRecord]:
        """Return the records of some keys."""
        found = {key: record for key in keys if (record := self._unflushed(key)) is not None}
        rest = self._possible_keys.possible([key for key in keys if key not in found])
        if rest:
            rows = self._read(_SELECT_BY_KEYS, json.dumps(rest))
            with self._access.translated:
                found.update((row[0], record_of(row[1:], self._source)) for row in rows)
            self._access.record_cache.expect_prints(found.values())
        return found

    def _unflushed(self, key: int) -> UrlRecord | None:
        if key in self._finished:
            return self._finished[key][1]
        if key in self._amended:
            return self._amended[key]
        return _unvisited(self._source, *self._discovered[key]) if key in self._discovered else None

    def _read_records(self, key: int) -> UrlRecord | None:
        """Read a record, and cache those of the entries that are likely to be next."""
        if self._possible_keys.is_absent(key):
            return None
        cache = self._access.record_cache
        ids = self._queue.row_ids.ids_from(key, cache.ahead) if cache.keeps else []
        if ids:
            rows = self._read(_SELECT_BY_IDS, json.dumps(ids))
        elif cache.keeps:  # it is queued again, and not flushed
            rows = self._read(_SELECT_BY_KEYS, json.dumps(self._queue.keys_from(key, cache.ahead)))
        else:
            rows = self._read(_SELECT_BY_KEY, key)
        with self._access.translated:
            found = {row[0]: record_of(row[1:], self._source) for row in rows}
        cache.put_records(self._without_unflushed(found))
        return found.get(key)

    def _without_unflushed(self, records: dict[int, T]) -> dict[int, T]:
        """Return those of the records that have no unflushed changes."""
        return {
            key: record
            for key, record in records.items()
            if key not in self._finished and key not in self._amended
        }

    def discover_url(self, entry: QueueEntry, now: float, *, queued: bool = True) -> None:
        """Add an unknown URL to the table, and to the queue if `queued`."""
        self._discovered[entry.key] = (entry, now)
        self._possible_keys.add_value(entry.key)
        if queued:
            self._queue.add_new(entry)
        else:
            self._unqueued.add(entry.key)
        self._note_display_url(entry.key, entry.display_url)

    def finish_url(self, entry: QueueEntry, record: UrlRecord) -> None:
        """Replace the record of a queued URL and take it out of the queue."""
        self._finished[entry.key] = (entry, record)
        self._note_written(entry.key)
        self._queue.finish_entry(entry)
        self._amended.pop(entry.key, None)
        self._note_display_url(entry.key, record.display_url)
        self._note_fingerprint(entry.key, record.fingerprint)

    def amend_record(self, key: int, record: UrlRecord) -> None:
        """Replace the record of a known URL."""
        self._note_written(key)
        if key in self._finished:
            self._finished[key] = (self._finished[key][0], record)
        else:
            self._amended[key] = record
        self._note_display_url(key, record.display_url)
        self._note_fingerprint(key, record.fingerprint)

    def _note_written(self, key: int) -> None:
        self._possible_keys.add_value(key)
        self._access.record_cache.invalidate((key,))

    def _note_display_url(self, key: int, display_url: str) -> None:
        if display_url:
            self._has_display_urls = True
            self._display_urls.setdefault(display_url, set()).add(key)

    # ---- by attribute

    def with_display_url(self, url: str) -> list[UrlRecord]:
        """Return the records with this display URL."""
        if not self._has_display_urls:
            return []
        query = "SELECT key FROM url WHERE display_url=? AND display_url<>''"
        keys = self._display_urls.get(url, set()).union(key for (key,) in self._read(query, url))
        records = (self.get_record(key) for key in sorted(keys))
        return [record for record in records if record is not None and record.display_url == url]

    def with_fingerprint(self, fingerprint: bytes) -> list[UrlRecord]:
        """Return the records with this content fingerprint."""
        stored = self._flushed_with(fingerprint) if self._possible_fingerprints.may_hold(fingerprint) else {}
        keys = list(stored)
        if fingerprint in self._fingerprints:
            keys = sorted(self._fingerprints[fingerprint].union(keys))
        records = (self._unflushed(key) or stored.get(key) or self.get_record(key) for key in keys)
        return [record for record in records if record is not None and record.fingerprint == fingerprint]

    def forgettable_urls(self) -> set[int]:
        """Return the keys of URLs that were gone several times in a row and that no known page links to."""
        return _forgettable(self._access)

    def count_visited(self, since: float) -> Counter[UrlOutcome]:
        """Return the outcomes of URLs that were fetched at or after a time and are not queued again."""
        with self._access.translated:
            return Counter(
                {outcome_of(outcome): number for outcome, number in self._read(_COUNT_VISITED, since)}
            )

    def count_urls(self) -> StateCounts:
        """Return the numbers of known, queued and indexed URLs."""
        return _count_urls(self._access)

    # ---- writing, inside a transaction of the store

    def write_changes(self) -> None:
        """Write the unflushed changes."""
        self._write_discovered()
        self._db.executemany(
            UPSERT, [row_of(key, site_of(record.url), record) for key, record in self._amended.items()]
        )
        self._write_finished()
        super().write_changes()
        if self._asked:
            self._answers = self._stored_urls(self._asked)

    def forget_changes(self) -> None:
        """Clear the changes after a committed flush, and the records cached by fingerprint."""
        self._access.record_cache.note_flushed((*self._finished, *self._amended), self._fingerprints)
        super().forget_changes()

    def _write_discovered(self) -> None:
        """Insert new URLs into table and queue; their row ids follow the highest one."""
        ((last,),) = self._read("SELECT coalesce(max(id), 0) FROM url")
        found = list(enumerate(self._discovered.values(), last + 1))
        self._db.executemany(
            _INSERT_DISCOVERED,
            [(row_id, e.key, e.url, e.site, e.depth, e.display_url, e.hops, t) for row_id, (e, t) in found],
        )
        ids = {entry.key: row_id for row_id, (entry, _) in found}
        if self._read("SELECT count(*) FROM url WHERE id>?", last) == [(len(found),)]:
            self._access.record_cache.put_new(self._without_unflushed(self._discovered))
        else:  # some were in the table already
            ids = dict(self._read(_SELECT_IDS, json.dumps(list(self._discovered))))
        self._queue.write_new((e for e, _ in self._discovered.values() if e.key not in self._unqueued), ids)
        self._visits.write_new(ids.values())

    def _write_finished(self) -> None:
        rows = [row_of(entry.key, entry.site, record) for entry, record in self._finished.values()]
        ids = [self._queue.row_ids.pop_id(entry.key) for entry, _ in self._finished.values()]
        self._db.executemany(
            REPLACE, [(*row[3:], row_id) for row, row_id in zip(rows, ids, strict=True) if row_id]
        )
        self._db.executemany(UPSERT, [row for row, row_id in zip(rows, ids, strict=True) if not row_id])


def _unvisited(source: str, entry: QueueEntry, now: float) -> UrlRecord:
    shown = entry.display_url
    return UrlRecord(entry.url, source, depth=entry.depth, display_url=shown, first_seen=now, hops=entry.hops)


def _highest_id(access: SqliteAccess) -> int:
    return int(access.read("SELECT coalesce(max(id), 0) FROM url")[0][0])


def _part_of_key(key: int) -> int:
    return (key >> 32) + (1 << 31)


def _part_of_fingerprint(fingerprint: bytes) -> int:
    return int.from_bytes(fingerprint[:4], "big")


def _parts(
    access: SqliteAccess, query: str, part_of: Callable[[T], int], *waiting: Iterable[T]
) -> tuple[Parts, set[T]] | None:
    """Return parts of the stored values, sorted, if they are many, and all other values with the unflushed ones.

    None if another process may write some.
    """
    if not access.record_cache.keeps:
        return None
    many, unflushed = _highest_id(access) >= read_ahead.MAX_LOADED_AT_ONCE, set[T]().union(*waiting)
    with access.translated:
        stored = (value for (value,) in access.db.execute(query))
        if many:
            return array("I", map(part_of, stored)), unflushed
        return array("I"), unflushed.union(stored)


def _forgettable(access: SqliteAccess) -> set[int]:
    rows = access.read(
        "SELECT key FROM url WHERE outcome='GONE' AND failures>=? AND removal_code=''", FORGET_AFTER_GONE_RUNS
    )
    gone = {key for (key,) in rows}
    if gone:
        with access.translated:
            for (links,) in access.db.execute("SELECT links FROM url WHERE outcome<>'GONE' AND links<>x''"):
                gone.difference_update(array("q", links))
    return gone


def _count_urls(access: SqliteAccess) -> StateCounts:
    rows = access.read(_COUNT_BY_OUTCOME)
    ((queued,),) = access.read("SELECT count(*) FROM queue")
    ((pending,),) = access.read("SELECT count(*) FROM pending")
    ((removals,),) = access.read("SELECT count(*) FROM url WHERE removal_code<>''")
    ((held,),) = access.read("SELECT count(*) FROM held")
    with access.translated:
        outcomes = {outcome_of(outcome): number for outcome, number, _, _ in rows}
    known, indexed, documents = (sum(row[column] for row in rows) for column in (1, 2, 3))
    return StateCounts(known, queued, indexed, outcomes, pending, documents, removals, held)
