"""The document table: URLs that were found, visited and amended since the last flush, over the stored rows."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from ultracrawl.model import NO_CAUSE, Cause, CauseCode, Removal, RemovalReason, UrlOutcome, UrlRecord
from ultracrawl.stores.port.queue import QueueEntry
from ultracrawl.stores.port.records import MemoryAnswer, StateCounts
from ultracrawl.stores.port.texts import storable_texts
from ultracrawl.stores.state.contents import Contents
from ultracrawl.stores.state.part import Access
from ultracrawl.stores.state.queue import Queue
from ultracrawl.stores.state.read_ahead import Parts, PossibleValues, Row, Stand

FORGET_AFTER_GONE_RUNS = 3
"""A URL without links to it is deleted after it was gone in this many runs in a row."""

V = TypeVar("V")

RECORD = (
    "url, depth, display_url, status, outcome, cause_code, subject, detail, etag, last_modified, checksum, indexed, "
    "first_seen, last_fetched, failures, links, fingerprint, preference, sketch, hops, language"
)
"""The columns of table `url` with a record."""


class Codes(NamedTuple):
    """What codes in rows stand for; each function raises an error for one that this version does not know."""

    outcome: Callable[[Any], UrlOutcome]
    cause: Callable[[Any], CauseCode]
    removal: Callable[[Any], RemovalReason]


def record_of(row: Row, source: str, codes: Codes) -> UrlRecord:
    """Return the record of a row; what is empty may be None.

    A row has the key, the columns of `RECORD`, whether its document is submitted, pending and held back, and why it
    leaves: the reason, and the cause as `cause_text` makes it.
    """
    _, url, depth, display, status, outcome, code, subject, detail, etag, modified, checksum, *rest = row
    indexed, first_seen, last_fetched, failures, links, fingerprint, preference, sketch, *rest = rest
    hops, language, submitted, pending, held, reason, removed_for = rest
    removal = None
    if removed_for:
        why, *told = json.loads(removed_for)
        removal = Removal(codes.removal(reason), Cause(CauseCode(why), *told))
    return UrlRecord(
        url, source, depth, display or "", status, codes.outcome(outcome),
        NO_CAUSE if code is None or code == "" else Cause(codes.cause(code), subject or "", detail or ""),
        etag or "", modified or "", checksum or b"", bool(indexed), bool(submitted), first_seen, last_fetched or 0.0,
        failures, links or b"", pending=bool(pending), removal=removal, fingerprint=fingerprint or b"",
        preference=preference, sketch=sketch or b"", hops=hops, held_back=bool(held), language=language or "",
    )  # fmt: skip


def cause_text(cause: Cause) -> str:
    """Return the cause of a removal as JSON."""
    return json.dumps([cause.code.value, *storable_texts(cause.subject, cause.detail)], ensure_ascii=False)


class Records(Contents):
    """Base class of the document table of each engine; see `RecordPart`.

    Statements return rows of records as `record_of` takes them, and those for the scans by URL.
    """

    ALL_KEYS = "SELECT key FROM url WHERE {own} ORDER BY key"
    SELECT_URLS = "SELECT key, url, depth FROM url WHERE {own} AND key = ANY(%s)"
    SELECT_BY_KEYS: str
    """Rows of a list of keys."""
    HAS_DISPLAY_URLS: str
    """A row if any record has one."""
    SELECT_ALL: str
    """Rows of URLs after one."""
    SELECT_OF_OUTCOME: str
    """Rows of URLs after one, with an outcome."""
    SELECT_SOME: str
    """Rows of so many searchable documents, by key."""
    SELECT_PENDING: str
    SELECT_HELD: str
    SELECT_REMOVALS: str
    SELECT_FORGETTABLE: str
    """Keys of URLs that were gone in so many runs, and have no document."""
    SELECT_LINKS = "SELECT links FROM url WHERE {own} AND outcome <> %s AND length(links) > 0"
    """The link keys of all pages that have not an outcome."""
    COUNT_VISITED: str
    """Outcome and number of the URLs that were fetched since a time, and are not queued."""
    COUNT_BY_OUTCOME: str
    """Outcome; number of URLs, of those indexed, of those indexed or submitted."""
    COUNT_REST: str
    """One row: numbers of queued URLs, of pending documents, removals, and versions that are held back."""

    def __init__(self, access: Access, source: str, queue: Queue) -> None:
        super().__init__(access, lambda: queue.expected)
        self._source = source
        self._queue = queue
        self._answers: dict[int, tuple[str, int]] = {}
        """What the last flush found for the keys that it looked up."""
        self._has_display_urls = bool(self._read(self.HAS_DISPLAY_URLS))
        self._possible_keys = PossibleValues[int](
            self._highest_number,
            self._parts_of_keys,
            _part_of_key,
            lambda: queue.expected,
            self.per_look_up,
        )

    def begin_generation(self) -> None:
        """Begin without URLs."""
        super().begin_generation()
        self._discovered: dict[int, tuple[QueueEntry, float]] = {}
        """New URLs by key, with the time at which they were found."""
        self._unqueued: set[int] = set()
        """Keys of discovered URLs that do not enter the queue."""
        self._fresh: set[int] = set()
        """Keys of discovered URLs that were certainly not in the table before."""
        self._finished: dict[int, tuple[QueueEntry, UrlRecord]] = {}
        self._amended: dict[int, UrlRecord] = {}
        self._display_urls: dict[str, set[int]] = {}
        """Keys by display URL."""
        self._asked: set[int] = set()
        """Keys that the next flush looks up."""
        of_urls = (self._discovered, self._finished, self._amended, self._display_urls)
        self.changes = (*self.changes, *of_urls, self._asked)

    def _parts_of_keys(self) -> tuple[Parts, set[int]] | None:
        waiting = [(*part._discovered, *part._finished, *part._amended) for part in self.generations]
        return self._parts(self.ALL_KEYS, _part_of_key, waiting)

    # ---- look-ups of URLs: from memory, at once, or together in the next flush
    # Those wait (`_asked`), are made (`_asked` of what is frozen), and answered (`_answers`) until somebody takes them.
    # Bound: the keys of two flushes. At the worst they cost a flush one read of as many rows.

    def known_urls(self, keys: Sequence[int]) -> dict[int, tuple[str, int]]:
        """Return (url, depth) by key for those of the keys that are known."""
        known = self._known_unflushed(keys)
        rest = self._possible_keys.possible([key for key in keys if key not in known])
        return known | self._stored_urls(rest) if rest else known

    def _stored_urls(self, keys: Iterable[int]) -> dict[int, tuple[str, int]]:
        rows = self._read(self.SELECT_URLS, self._many([*keys]))
        return {key: (url, depth) for key, url, depth in rows}

    def _known_unflushed(self, keys: Sequence[int]) -> dict[int, tuple[str, int]]:
        found: dict[int, tuple[str, int]] = {}
        for part in self.generations:
            if part._discovered:
                met = [part._discovered[key][0] for key in keys if key in part._discovered]
                found.update((entry.key, (entry.url, entry.depth)) for entry in met)
        return found

    def known_in_memory(self, keys: Sequence[int]) -> MemoryAnswer | None:
        """Return what can be said about some keys without asking the store."""
        known = self._known_unflushed(keys)
        likely = self._possible_keys.likely(key for key in keys if key not in known)
        sifted = self._possible_keys.stand is not Stand.TOO_MANY
        return None if likely is None else MemoryAnswer(known, likely, sifted)

    def look_up_later(self, keys: Iterable[int]) -> None:
        """Look up URLs in the next flush."""
        self._asked.update(keys)

    def looked_up(self) -> dict[int, tuple[str, int]]:
        """Return, once, what the last flush found."""
        found, self._answers = self._answers, {}
        return found

    # ---- one URL

    def get_record(self, key: int) -> UrlRecord | None:
        """Return the record of a key."""
        unflushed = self._unflushed(key)
        if unflushed is not None:
            return unflushed
        kept = self._record_cache.get_record(key) or self._read_record(key)
        return _unvisited(self._source, *kept) if isinstance(kept, tuple) else kept

    def get_records(self, keys: Sequence[int]) -> dict[int, UrlRecord]:
        """Return the records of some keys."""
        found = {key: record for key in keys if (record := self._unflushed(key)) is not None}
        rest = self._possible_keys.possible([key for key in keys if key not in found])
        if rest:
            found.update(self._stored_records([*rest]))
            self._record_cache.expect_prints(found.values())
        return found

    def _stored_records(self, keys: list[int]) -> dict[int, UrlRecord]:
        return dict(self._keyed(self._read(self.SELECT_BY_KEYS, self._many(keys))))

    def _unflushed(self, key: int) -> UrlRecord | None:
        for part in (self, self.frozen):
            if key in part._finished:
                return part._finished[key][1]
            if key in part._amended:
                return part._amended[key]
        for part in (self, self.frozen):
            if key in part._discovered:
                return _unvisited(self._source, *part._discovered[key])
        return None

    def _read_record(self, key: int) -> UrlRecord | None:
        """Read a record, and cache those of the entries that are likely to be next."""
        if self._possible_keys.is_absent(key):
            return None
        if not self._record_cache.keeps:
            return self._stored_records([key]).get(key)
        found = self._with_following(key, self._record_cache.ahead)
        self._record_cache.put_records(self._without_unflushed(found))
        return found.get(key)

    def _with_following(self, key: int, number: int) -> dict[int, UrlRecord]:
        """Return the stored records of a key and of up to so many entries in the order in which they are requested."""
        keys = self._queue.keys_from(key, number)
        found = self._stored_records(keys)
        return {one: found[one] for one in keys if one in found}

    def _without_unflushed(self, records: dict[int, V]) -> dict[int, V]:
        """Return those of the records that have no unflushed changes."""
        frozen = self.frozen
        changed = {*self._finished, *self._amended, *frozen._finished, *frozen._amended}
        return {key: record for key, record in records.items() if key not in changed}

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
        self._record_cache.invalidate((key,))

    def _note_display_url(self, key: int, display_url: str) -> None:
        if display_url:
            self._has_display_urls = True
            self._display_urls.setdefault(display_url, set()).add(key)

    # ---- by attribute

    def with_display_url(self, url: str) -> list[UrlRecord]:
        """Return the records with this display URL."""
        if not self._has_display_urls:
            return []
        unflushed = [part._display_urls.get(url, ()) for part in self.generations]
        records = self.get_records(sorted({*self._keys_shown_as(url)}.union(*unflushed)))
        return [records[key] for key in sorted(records) if records[key].display_url == url]

    def _keys_shown_as(self, url: str) -> list[int]:
        """Return the keys of stored records that may have a display URL."""
        raise NotImplementedError

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

    # ---- scans

    def all_records(self, outcome: UrlOutcome | None = None, after: str = "") -> Iterator[UrlRecord]:
        """Yield all records in order of their URL."""
        if outcome is None:
            return self._records(self.SELECT_ALL, after)
        return self._records(self.SELECT_OF_OUTCOME, after, self._access.stored_outcome(outcome))

    def some_documents(self, most: int) -> list[UrlRecord]:
        """Return the records of at most so many searchable documents, in the order of their keys."""
        return [*self._records(self.SELECT_SOME, most)]

    def pending_records(self) -> Iterator[UrlRecord]:
        """Yield the records whose documents wait for approval."""
        return self._records(self.SELECT_PENDING)

    def held_records(self) -> Iterator[UrlRecord]:
        """Yield the records of which a new version is held back."""
        return self._records(self.SELECT_HELD)

    def records_to_remove(self) -> Iterator[UrlRecord]:
        """Yield the records whose documents are to be removed from the index."""
        return self._records(self.SELECT_REMOVALS)

    def _records(self, query: str, *values: object) -> Iterator[UrlRecord]:
        return (record for _, record in self._keyed(self._stream(query, *values)))

    def forgettable_urls(self) -> set[int]:
        """Return the keys of URLs that were gone several times in a row and that no known page links to."""
        gone: set[int] = {key for (key,) in self._read(self.SELECT_FORGETTABLE, FORGET_AFTER_GONE_RUNS)}
        if gone:
            for (links,) in self._stream(self.SELECT_LINKS, self._access.stored_outcome(UrlOutcome.GONE)):
                gone.difference_update(array("q", links))
        return gone

    def count_visited(self, since: float) -> Counter[UrlOutcome]:
        """Return the outcomes of URLs that were fetched at or after a time and are not queued again."""
        rows = self._read(self.COUNT_VISITED, since)
        return Counter({self._access.outcome_of(outcome): number for outcome, number in rows})

    def count_urls(self) -> StateCounts:
        """Return the numbers of known, queued and indexed URLs."""
        rows = self._read(self.COUNT_BY_OUTCOME)
        ((queued, pending, removals, held),) = self._read(self.COUNT_REST)
        outcomes = {self._access.outcome_of(outcome): number for outcome, number, _, _ in rows}
        known, indexed, documents = (sum(row[column] for row in rows) for column in (1, 2, 3))
        return StateCounts(known, queued, indexed, outcomes, pending, documents, removals, held)

    # ---- writing

    def forget_frozen(self) -> None:
        """Forget what was flushed, with the cached records that it changed, and keep what it found."""
        frozen = self.frozen
        self._answers = self._answers | frozen._answers
        new = {key: frozen._discovered[key] for key in frozen._fresh}
        self._record_cache.put_new(self._without_unflushed(new))
        self._record_cache.note_flushed((*frozen._finished, *frozen._amended), frozen._fingerprints)
        super().forget_frozen()


def _unvisited(source: str, entry: QueueEntry, now: float) -> UrlRecord:
    shown = entry.display_url
    return UrlRecord(entry.url, source, depth=entry.depth, display_url=shown, first_seen=now, hops=entry.hops)


def _part_of_key(key: int) -> int:
    return (key >> 32) + (1 << 31)
