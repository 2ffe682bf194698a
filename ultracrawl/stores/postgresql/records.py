"""The document table: table `url`, and the narrow tables by which its records are found."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import psycopg
from xxhash import xxh3_64_intdigest

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.urls.canonical import site_of
from ultracrawl.stores.caching import read_ahead
from ultracrawl.stores.caching.read_ahead import Parts, PossibleValues, UrlLookUps
from ultracrawl.stores.port.documents import Retained
from ultracrawl.stores.port.queue import QueueEntry
from ultracrawl.stores.port.records import StateCounts
from ultracrawl.stores.postgresql.access.fencing import ask_for, fetched, run_for
from ultracrawl.stores.postgresql.codes import OUTCOME_NUMBERS, PURPOSE_NUMBERS, outcome_of
from ultracrawl.stores.postgresql.contents import PostgresContents
from ultracrawl.stores.postgresql.hosts import Hosts
from ultracrawl.stores.postgresql.part_base import ROWS_AT_ONCE, StoreAccess
from ultracrawl.stores.postgresql.queue import PostgresQueue
from ultracrawl.stores.postgresql.record_row import READ, SUBMIT, UPSERT, record_of, removal_row, row_of
from ultracrawl.stores.postgresql.visits import PostgresVisits

_REDIRECTED, _GONE = OUTCOME_NUMBERS[UrlOutcome.REDIRECTED], OUTCOME_NUMBERS[UrlOutcome.GONE]
_PENDING, _HELD = PURPOSE_NUMBERS[Retained.APPROVAL], PURPOSE_NUMBERS[Retained.CHANGE]
_DISCOVER = """
    INSERT INTO url (source, part, key, number, site, url, depth, display_url, hops, first_seen)
    SELECT {ids}, * FROM unnest(
        %s::bigint[], %s::bigint[], %s::int[], %s::text[], %s::int[], %s::text[], %s::int[], %s::float8[])
    ON CONFLICT (source, part, key) DO UPDATE SET depth = least(url.depth, excluded.depth)"""
_PUT = "INSERT INTO {table} (source, part, {name}, key) SELECT {{ids}}, * FROM unnest({types}) ON CONFLICT DO NOTHING"
_PUT_CONTENTS = _PUT.format(table="content", name="fingerprint", types="%s::bytea[], %s::bigint[]")
_PUT_SHOWN = _PUT.format(table="shown", name="display_hash", types="%s::bigint[], %s::bigint[]")
_PUT_REDIRECTED = _PUT.format(table="redirected", name="target_hash", types="%s::bigint[], %s::bigint[]")
_PUT_REMOVALS = """
    INSERT INTO removal (source, part, key, reason, cause)
    SELECT {ids}, * FROM unnest(%s::bigint[], %s::int2[], %s::text[])
    ON CONFLICT (source, part, key) DO UPDATE SET reason = excluded.reason, cause = excluded.cause"""
_CLEAN = (
    """
    DELETE FROM content c WHERE {c} AND NOT EXISTS (
        SELECT FROM url u WHERE {u} AND u.key = c.key AND u.fingerprint = c.fingerprint)""",
    f"""
    DELETE FROM redirected c WHERE {{c}} AND NOT EXISTS (
        SELECT FROM url u WHERE {{u}} AND u.key = c.key AND u.outcome = {_REDIRECTED})""",  # noqa: S608 - a constant
    """
    DELETE FROM shown c WHERE {c} AND NOT EXISTS (
        SELECT FROM url u WHERE {u} AND u.key = c.key AND u.display_url IS NOT NULL)""",
)
"""Delete the rows of narrow tables that earlier visits left."""
_COUNT_BY_OUTCOME = """
    SELECT u.outcome, count(*), count(*) FILTER (WHERE u.indexed),
    count(*) FILTER (WHERE u.indexed OR s.key IS NOT NULL) FROM url u
    LEFT JOIN submitted s ON {s} AND s.key = u.key WHERE {u} GROUP BY u.outcome"""
_COUNT_REST = f"""
    SELECT (SELECT count(*) FROM queue WHERE {{own}}),
    (SELECT count(*) FROM retained WHERE {{own}} AND purpose = {_PENDING}),
    (SELECT count(*) FROM removal WHERE {{own}}),
    (SELECT count(*) FROM retained WHERE {{own}} AND purpose = {_HELD})"""  # noqa: S608 - constants
_COUNT_VISITED = """
    SELECT u.outcome, count(*) FROM url u WHERE {u} AND u.last_fetched >= %s
    AND NOT EXISTS (SELECT FROM queue q WHERE {q} AND q.key = u.key) GROUP BY u.outcome"""
_SELECT_URLS = "SELECT key, url, depth FROM url WHERE {own} AND key = ANY(%s)"
_SELECT_FORGETTABLE = f"""
    SELECT u.key FROM url u WHERE {{u}} AND u.outcome = {_GONE} AND u.failures >= %s
    AND NOT EXISTS (SELECT FROM removal m WHERE {{m}} AND m.key = u.key)"""  # noqa: S608 - a constant
_SELECT_LINKS = f"SELECT links FROM url WHERE {{own}} AND outcome <> {_GONE} AND links IS NOT NULL"  # noqa: S608 - a constant
VALUES_PER_ROUND_TRIP = 2000
"""Stored values for each look-up before they are loaded: a million take as long as some hundred round trips."""
FORGET_AFTER_GONE_RUNS = 3
"""A URL without links to it is deleted after it was gone in this many runs in a row."""

T = TypeVar("T", int, bytes)
V = TypeVar("V")


class PostgresRecords(PostgresContents, UrlLookUps):
    """The tables `url`, `content`, `near`, `shown`, `redirected`, `submitted`, `removal`; see `RecordPart`."""

    def __init__(self, access: StoreAccess, queue: PostgresQueue, visits: PostgresVisits) -> None:
        """`queue` and `visits` are written with the URLs that they are about."""
        super().__init__(access)
        self._source = access.database.name
        self._queue = queue
        self._visits = visits
        self._hosts = Hosts(access.database)
        self._answers = {}
        self._has_display_urls = bool(self._read("SELECT 1 FROM shown WHERE {own} LIMIT 1"))
        self._possible_keys = PossibleValues[int](
            self._highest_number,
            lambda: self._parts(
                "SELECT key FROM url WHERE {own} ORDER BY key",
                _part_of_key,
                [(*part._discovered, *part._finished, *part._amended) for part in self.generations],
            ),
            _part_of_key,
            lambda: queue.expected,
            VALUES_PER_ROUND_TRIP,
        )
        self._possible_fingerprints = PossibleValues[bytes](
            self._highest_number,
            lambda: self._parts(
                "SELECT DISTINCT fingerprint FROM content WHERE {own} ORDER BY fingerprint",
                _part_of_fingerprint,
                [part._fingerprints for part in self.generations],
            ),
            _part_of_fingerprint,
            lambda: queue.expected,
            VALUES_PER_ROUND_TRIP,
        )

    def begin_generation(self) -> None:
        """Begin without URLs."""
        super().begin_generation()
        self._discovered = {}
        self._fresh: set[int] = set()
        """Keys of discovered URLs that were certainly not in the table before."""
        self._finished: dict[int, tuple[QueueEntry, UrlRecord]] = {}
        self._amended: dict[int, UrlRecord] = {}
        self._display_urls: dict[str, set[int]] = {}
        """Keys by display URL."""
        self._asked = set()
        self._first_number = 0
        """The number of the first new URL, given when the generation is frozen."""
        self._written_hosts: dict[str, int] = {}
        """The numbers of sites that the flush has used."""
        of_urls = (self._discovered, self._finished, self._amended, self._display_urls)
        self.changes = (*self.changes, *of_urls, self._asked)

    def _highest_number(self) -> int:
        return self._database.numbered

    def _parts(
        self, query: str, part_of: Callable[[T], int], waiting: Iterable[Iterable[T]]
    ) -> tuple[Parts, set[T]] | None:
        """Return parts of the stored values, sorted, if they are many, and all other values with the unflushed ones.

        None if another process may write some.
        """
        if not self._record_cache.keeps:
            return None
        many = self._database.numbered >= read_ahead.MAX_LOADED_AT_ONCE
        unflushed = set[T]().union(*waiting)
        rows = self._database.stream(self._sql(query), at_once=ROWS_AT_ONCE)
        stored: Iterator[T] = (row[0] for row in rows)
        if many:
            return array("I", map(part_of, stored)), unflushed
        return array("I"), unflushed.union(stored)

    # ---- one URL

    def _known_unflushed(self, keys: Sequence[int]) -> dict[int, tuple[str, int]]:
        found = super()._known_unflushed(keys)
        written = self.frozen._discovered
        for key in keys if written else ():
            if key in written and key not in found:
                found[key] = (written[key][0].url, written[key][0].depth)
        return found

    def _stored_urls(self, keys: Sequence[int]) -> dict[int, tuple[str, int]]:
        return {key: (url, depth) for key, url, depth in self._read(_SELECT_URLS, list(keys))}

    def get_record(self, key: int) -> UrlRecord | None:
        """Return the record of a key."""
        unflushed = self._unflushed(key)
        if unflushed is not None:
            return unflushed
        kept = self._record_cache.get_record(key) or self._read_records(key)
        return _unvisited(self._source, *kept) if isinstance(kept, tuple) else kept

    def get_records(self, keys: Sequence[int]) -> dict[int, UrlRecord]:
        """Return the records of some keys."""
        found = {key: record for key in keys if (record := self._unflushed(key)) is not None}
        rest = self._possible_keys.possible([key for key in keys if key not in found])
        if rest:
            found.update(self._stored_records(rest))
            self._record_cache.expect_prints(found.values())
        return found

    def _stored_records(self, keys: Sequence[int]) -> dict[int, UrlRecord]:
        rows = self._read(f"{READ} AND u.key = ANY(%s)", list(keys))
        return {row[0]: record_of(row, self._source) for row in rows}

    def _unflushed(self, key: int) -> UrlRecord | None:
        for part in (self, self.frozen):
            if key in part._finished:
                return part._finished[key][1]
            if key in part._amended:
                return part._amended[key]
        found = (part._discovered[key] for part in (self, self.frozen) if key in part._discovered)
        return next((_unvisited(self._source, *one) for one in found), None)

    def _read_records(self, key: int) -> UrlRecord | None:
        """Read a record, and cache those of the entries that are likely to be next."""
        if self._possible_keys.is_absent(key):
            return None
        if not self._record_cache.keeps:
            return self._stored_records([key]).get(key)
        keys = self._queue.keys_from(key, self._record_cache.ahead)
        found = self._stored_records(keys)
        in_order = {one: found[one] for one in keys if one in found}
        self._record_cache.put_records(self._without_unflushed(in_order))
        return found.get(key)

    def _without_unflushed(self, records: dict[int, V]) -> dict[int, V]:
        """Return those of the records that have no unflushed changes."""
        changed = {*self._finished, *self._amended, *self.frozen._finished, *self.frozen._amended}
        return {key: record for key, record in records.items() if key not in changed}

    def discover_url(self, entry: QueueEntry, now: float, *, queued: bool = True) -> None:
        """Add an unknown URL to the table, and to the queue if `queued`."""
        self._discovered[entry.key] = (entry, now)
        if self._possible_keys.is_absent(entry.key):
            self._fresh.add(entry.key)
        self._possible_keys.add_value(entry.key)
        if queued:
            self._queue.add_new(entry)
        self._note_display_url(entry.key, entry.display_url)

    def finish_url(self, entry: QueueEntry, record: UrlRecord) -> None:
        """Replace the record of a queued URL and take it out of the queue."""
        self._finished[entry.key] = (entry, record)
        self._note_written(entry.key)
        self._queue.finish_entry(entry)
        self._amended.pop(entry.key, None)
        self._note_display_url(entry.key, record.display_url)
        self._note_content(entry.key, record.fingerprint)

    def amend_record(self, key: int, record: UrlRecord) -> None:
        """Replace the record of a known URL."""
        self._note_written(key)
        if key in self._finished:
            self._finished[key] = (self._finished[key][0], record)
        else:
            self._amended[key] = record
        self._note_display_url(key, record.display_url)
        self._note_content(key, record.fingerprint)

    def _note_written(self, key: int) -> None:
        self._possible_keys.add_value(key)
        self._record_cache.invalidate((key,))

    def _note_content(self, key: int, fingerprint: bytes) -> None:
        if fingerprint:
            self._note_fingerprint(key, fingerprint)
            self._possible_fingerprints.add_value(fingerprint)

    def _note_display_url(self, key: int, display_url: str) -> None:
        if display_url:
            self._has_display_urls = True
            self._display_urls.setdefault(display_url, set()).add(key)

    # ---- by attribute

    def with_display_url(self, url: str) -> list[UrlRecord]:
        """Return the records with this display URL."""
        if not self._has_display_urls:
            return []
        query = "SELECT key FROM shown WHERE {own} AND display_hash = %s"
        stored = (key for (key,) in self._read(query, text_hash(url)))
        unflushed = [part._display_urls.get(url, ()) for part in self.generations]
        records = self.get_records(sorted({*stored}.union(*unflushed)))
        return [records[key] for key in sorted(records) if records[key].display_url == url]

    def with_fingerprint(self, fingerprint: bytes) -> list[UrlRecord]:
        """Return the records with this content fingerprint."""
        if not fingerprint:
            return []
        stored = self._flushed_with(fingerprint) if self._possible_fingerprints.may_hold(fingerprint) else {}
        keys = list(stored)
        unflushed = [part._fingerprints.get(fingerprint, ()) for part in self.generations]
        if any(unflushed):
            keys = sorted({*keys}.union(*unflushed))
        records = (self._unflushed(key) or stored.get(key) or self.get_record(key) for key in keys)
        return [record for record in records if record is not None and record.fingerprint == fingerprint]

    def redirecting_to(self, url: str) -> list[UrlRecord]:
        """Return the records of URLs that redirect to a URL."""
        query = f"""
            {READ} AND u.outcome = {_REDIRECTED} AND u.subject = %s
            AND u.key IN (SELECT c.key FROM redirected c WHERE {{c}} AND c.target_hash = %s) ORDER BY u.number"""  # noqa: S608 - constants
        return [record_of(row, self._source) for row in self._read(query, url, text_hash(url))]

    # ---- scans

    def all_records(self, outcome: UrlOutcome | None = None, after: str = "") -> Iterator[UrlRecord]:
        """Yield all records in order of their URL."""
        if outcome is None:
            return self._records("u.url > %s", after)
        return self._records("u.url > %s AND u.outcome = %s", after, OUTCOME_NUMBERS[outcome])

    def some_documents(self, most: int) -> list[UrlRecord]:
        """Return the records of at most so many searchable documents, in the order of their keys."""
        query = f"{READ} AND (u.indexed OR s.key IS NOT NULL) ORDER BY u.key LIMIT %s"
        return [record_of(row, self._source) for row in self._read(query, most)]

    def pending_records(self) -> Iterator[UrlRecord]:
        """Yield the records whose documents wait for approval."""
        return self._records("p.key IS NOT NULL")

    def held_records(self) -> Iterator[UrlRecord]:
        """Yield the records of which a new version is held back."""
        return self._records("h.key IS NOT NULL")

    def records_to_remove(self) -> Iterator[UrlRecord]:
        """Yield the records whose documents are to be removed from the index."""
        return self._records("m.key IS NOT NULL")

    def _records(self, condition: str, *values: object) -> Iterator[UrlRecord]:
        query = self._sql(f"{READ} AND {condition} ORDER BY u.url")
        for row in self._database.stream(query, *values):
            yield record_of(row, self._source)

    def forgettable_urls(self) -> set[int]:
        """Return the keys of URLs that were gone several times in a row and that no known page links to."""
        gone: set[int] = {key for (key,) in self._read(_SELECT_FORGETTABLE, FORGET_AFTER_GONE_RUNS)}
        if gone:
            for (links,) in self._database.stream(self._sql(_SELECT_LINKS)):
                gone.difference_update(array("q", links))
        return gone

    def count_visited(self, since: float) -> Counter[UrlOutcome]:
        """Return the outcomes of URLs that were fetched at or after a time and are not queued again."""
        return Counter({outcome_of(outcome): number for outcome, number in self._read(_COUNT_VISITED, since)})

    def count_urls(self) -> StateCounts:
        """Return the numbers of known, queued and indexed URLs."""
        rows = self._read(_COUNT_BY_OUTCOME)
        ((queued, pending, removals, held),) = self._read(_COUNT_REST)
        outcomes = {outcome_of(outcome): number for outcome, number, _, _ in rows}
        known, indexed, documents = (sum(row[column] for row in rows) for column in (1, 2, 3))
        return StateCounts(known, queued, indexed, outcomes, pending, documents, removals, held)

    # ---- writing, inside a transaction of the store

    def clean(self, db: psycopg.Connection) -> None:
        """Delete what earlier visits left in the narrow tables; once a run."""
        for statement in _CLEAN:
            db.execute(self._sql(statement))
        self.forget_unused_signatures(db)

    def ask_stored(self, db: psycopg.Connection) -> Callable[[], None]:
        """Send the look-ups of a flush with its other reads; returns a function that keeps the answers."""
        cursor = ask_for(db, self._sql(_SELECT_URLS), self._asked)

        def keep_answers() -> None:
            self._answers = {key: (url, depth) for key, url, depth in fetched(cursor)}

        return keep_answers

    def count_new(self) -> None:
        """Give numbers to the frozen URLs, before the transaction that writes them and the highest number."""
        frozen = self.frozen
        frozen._first_number = self._database.numbered + 1
        self._database.numbered += len({*frozen._discovered, *frozen._finished, *frozen._amended})

    def write_changes(self, db: psycopg.Connection) -> None:
        """Write the unflushed changes, and what of queue and visits depends on them."""
        written = {key: record for key, (_, record) in self._finished.items()} | self._amended
        sites = {key: entry.site for key, (entry, _) in {**self._discovered, **self._finished}.items()}
        for key, record in self._amended.items():
            sites.setdefault(key, site_of(record.url))
        queue, visits = self._queue.frozen, self._visits.frozen
        hosts = self._hosts.numbers(db, {*sites.values(), *queue.changed_sites})
        self._written_hosts = hosts
        order = dict.fromkeys((*self._discovered, *self._finished, *self._amended))
        numbers = {key: number for number, key in enumerate(order, self._first_number)}
        found = [
            (key, numbers[key], hosts[e.site], e.url, e.depth, e.display_url or None, e.hops, float(now))
            for key, (e, now) in self._discovered.items()
            if key not in written
        ]
        run_for(db, self._sql(_DISCOVER), found)
        rows = [row_of(key, numbers[key], hosts[sites[key]], record) for key, record in written.items()]
        run_for(db, self._sql(UPSERT), rows)
        self._write_marks(db, written)
        queue.write_entries(db, hosts)
        visits.write_new(db, self._discovered)
        super().write_changes(db)

    def _write_marks(self, db: psycopg.Connection, written: dict[int, UrlRecord]) -> None:
        """Write the rows of the narrow tables about records."""
        run_for(
            db,
            self._sql(_PUT_CONTENTS),
            [(r.fingerprint, key) for key, r in written.items() if r.fingerprint],
        )
        shown = {key: e.display_url for key, (e, _) in self._discovered.items() if key not in written}
        shown |= {key: r.display_url for key, r in written.items()}
        run_for(db, self._sql(_PUT_SHOWN), [(text_hash(url), key) for key, url in shown.items() if url])
        redirected = [
            (text_hash(r.cause.subject), key)
            for key, r in written.items()
            if r.outcome is UrlOutcome.REDIRECTED and r.cause.subject
        ]
        run_for(db, self._sql(_PUT_REDIRECTED), redirected)
        if not written:
            return
        submitted = sorted(key for key, r in written.items() if r.submitted)
        others = sorted(written.keys() - set(submitted))
        removals = [removal_row(key, r.removal) for key, r in written.items() if r.removal is not None]
        staying = sorted(written.keys() - {row[0] for row in removals})
        if others:
            db.execute(self._sql("DELETE FROM submitted WHERE {own} AND key = ANY(%s)"), [others])
        if here := [key for key in submitted if key not in self._access.elsewhere]:
            db.execute(self._sql(SUBMIT), [self._access.place, here])
        if staying:
            db.execute(self._sql("DELETE FROM removal WHERE {own} AND key = ANY(%s)"), [staying])
        run_for(db, self._sql(_PUT_REMOVALS), removals)

    def forget_frozen(self) -> None:
        """Forget what was flushed, with the cached records that it changed, and keep what it found."""
        frozen = self.frozen
        self._hosts.remember(frozen._written_hosts)
        self._answers = self._answers | frozen._answers
        new = {key: frozen._discovered[key] for key in frozen._fresh}
        self._record_cache.put_new(self._without_unflushed(new))
        self._queue.expect_urls(list(frozen._discovered))
        self._record_cache.note_flushed((*frozen._finished, *frozen._amended), frozen._fingerprints)
        super().forget_frozen()


def _unvisited(source: str, entry: QueueEntry, now: float) -> UrlRecord:
    shown = entry.display_url
    return UrlRecord(entry.url, source, depth=entry.depth, display_url=shown, first_seen=now, hops=entry.hops)


def text_hash(url: str) -> int:
    """Return the hash by which URLs are found in narrow tables: 64 bits, signed."""
    return xxh3_64_intdigest(url.encode(errors="replace")) - (1 << 63)


def _part_of_key(key: int) -> int:
    return (key >> 32) + (1 << 31)


def _part_of_fingerprint(fingerprint: bytes) -> int:
    return int.from_bytes(fingerprint[:4], "big")
