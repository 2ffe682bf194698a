"""What a store keeps so that pages cost no query: the answers are those of a store that keeps nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ultracrawl.model import Cause, CauseCode, UrlOutcome, UrlRecord
from ultracrawl.stores import QueueEntry, Retained, SqliteStore
from ultracrawl.stores.state import read_ahead
from ultracrawl.stores.state.read_ahead import READ_AHEAD_RECORDS

KEYS = range(1, 9)


def entry(key: int, seq: int) -> QueueEntry:
    return QueueEntry(key, f"http://h/{key}", "h", key % 3, seq)


def visited(key: int, turn: int) -> UrlRecord:
    return replace(
        UrlRecord(f"http://h/{key}", "s", key % 3),
        outcome=UrlOutcome.NEW,
        cause=Cause(CauseCode.STATED, f"in turn {turn}"),
        submitted=True,
        fingerprint=bytes([key % 2]) * 8,
    )


class Twins:
    """A store that keeps what may be asked for next, and one that does not; both are told the same."""

    def __init__(self) -> None:
        self.keeping, self.plain = SqliteStore(":memory:", "s"), SqliteStore(":memory:", "s")
        self.plain._access.record_cache.keeps = False
        self.known: set[int] = set()
        self.turn = 0
        for store in self.both:
            store.begin_run(1.0, "")
        for what in ("discover", "finish", "requeue"):
            for key in KEYS[:6]:
                self.do(what, key)
            self.do("flush", 1)
        self.do("read", 1)

    @property
    def both(self) -> tuple[SqliteStore, SqliteStore]:
        return (self.keeping, self.plain)

    def do(self, what: str, key: int) -> None:
        self.turn += 1
        if what == "discover" and key not in self.known:
            self.known.add(key)
            for store in self.both:
                store.records.discover_url(entry(key, self.turn), 1.0)
        elif key in self.known:
            for store in self.both:
                getattr(self, f"_{what}", self._pass)(store, key)
            if what == "drop":
                self.known.discard(key)

    def _pass(self, store: SqliteStore, key: int) -> None:
        """Discovering a known URL is nothing."""

    def _finish(self, store: SqliteStore, key: int) -> None:
        store.records.finish_url(entry(key, self.turn), visited(key, self.turn))

    def _amend(self, store: SqliteStore, key: int) -> None:
        record = store.records.get_record(key)
        assert record is not None
        store.records.amend_record(
            key, replace(record, cause=Cause(CauseCode.STATED, f"amended in turn {self.turn}"))
        )

    def _requeue(self, store: SqliteStore, key: int) -> None:
        store.queue.requeue_url(entry(key, self.turn))

    def _flush(self, store: SqliteStore, key: int) -> None:
        store.flush()

    def _read(self, store: SqliteStore, key: int) -> None:
        store.queue.entries_of("h", 9)

    def _mark(self, store: SqliteStore, key: int) -> None:
        store.documents.mark_indexed([(key, True)])

    def _retain(self, store: SqliteStore, key: int) -> None:
        store.documents.retain_document(Retained.APPROVAL, key, b"document")

    def _release(self, store: SqliteStore, key: int) -> None:
        store.documents.release_document(Retained.APPROVAL, key)

    def _lose(self, store: SqliteStore, key: int) -> None:
        store.documents.refetch_lost(frozenset())

    def _adopt(self, store: SqliteStore, key: int) -> None:
        store.documents.adopt_unrecorded([key])

    def _remake(self, store: SqliteStore, key: int) -> None:
        store.documents.remake_documents()

    def _drop(self, store: SqliteStore, key: int) -> None:
        store.drop_urls([key])

    def answers(self, store: SqliteStore, key: int) -> Any:
        return (
            store.records.get_record(key),
            store.records.known_urls(list(KEYS)),
            {one.url for one in store.records.with_fingerprint(bytes([key % 2]) * 8)},
        )


ACTS = (
    *("discover", "finish", "amend", "requeue", "flush", "read", "mark", "retain"),
    *("release", "lose", "adopt", "remake", "drop", "ask"),
)
steps = st.lists(
    st.tuples(st.sampled_from([*ACTS, "discover", "flush", "read"]), st.sampled_from(KEYS)), max_size=40
)


@settings(max_examples=150)
@given(steps=steps)
def test_a_store_that_reads_ahead_gives_the_same_answers(steps: list[tuple[str, int]]) -> None:
    twins = Twins()
    for what, key in steps:
        twins.do(what, key)
        if what in ("ask", "read"):
            assert twins.answers(twins.keeping, key) == twins.answers(twins.plain, key)
    for key in KEYS:
        assert twins.answers(twins.keeping, key) == twins.answers(twins.plain, key)


def test_records_of_a_batch_come_together() -> None:
    store = SqliteStore(":memory:", "s")
    store.begin_run(1.0, "")
    for key in range(1, 3 * READ_AHEAD_RECORDS + 1):
        store.records.discover_url(entry(key, key), 1.0)
    store.flush()
    asked: list[str] = []
    waiting = store.queue.entries_of("h", 3 * READ_AHEAD_RECORDS)
    store._db.set_trace_callback(asked.append)
    assert all(store.records.get_record(one.key) for one in waiting), "found in this run"
    assert asked == []
    store._access.record_cache.invalidate()
    for _ in range(2):  # who picks an entry asks for its record, and then its visit does
        assert all(store.records.get_record(one.key) for one in waiting), "read again"
    assert len(asked) == 3


class Look:
    """Looks for keys and fingerprints that are not in a store, and counts what that asks."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self._asked: list[str] = []
        store._db.set_trace_callback(self._asked.append)

    def __call__(self, number: int) -> int:
        before = len(self._asked)
        for turn in range(number):
            assert self._store.records.known_urls([1 << 60 | turn << 33]) == {}
            assert self._store.records.with_fingerprint((turn + 1000).to_bytes(4, "big") * 4) == []
        return len(self._asked) - before


def known_store(number: int) -> SqliteStore:
    store = SqliteStore(":memory:", "s")
    store.begin_run(1.0, "")
    for key in range(1, number + 1):
        one = entry(key << 34, key)
        store.records.discover_url(one, 1.0)
        fingerprint = key.to_bytes(4, "big") * 4
        store.records.finish_url(one, UrlRecord(one.url, "s", fingerprint=fingerprint, last_fetched=1.0))
    store.flush()
    return store


def test_what_is_not_in_the_table_costs_no_query_at_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    store = known_store(80)
    look = Look(store)
    assert look(1) == 2 * 3, "each column is loaded"
    assert look(100) == 0
    monkeypatch.setattr(read_ahead, "MAX_LOADED_AT_ONCE", 20)
    monkeypatch.setattr(read_ahead, "LOADED_WITH_FIRST", 20)
    monkeypatch.setattr(read_ahead, "VALUES_PER_LOOK_UP", 8)
    store = known_store(80)
    look = Look(store)
    assert look(10) == 2 * (1 + 10), "as long as that costs less than what is loaded"
    assert look(1) == 2 * 2
    assert look(100) == 0
    assert store.records.known_urls([7 << 34]).keys() == {7 << 34}
    assert len(store.records.with_fingerprint((7).to_bytes(4, "big") * 4)) == 1
    store = known_store(80)
    look = Look(store)
    for key in range(1, 21):
        store.queue.requeue_url(entry(key << 34, 100 + key))
    assert look(1) == 2 * 3, "more pages wait than look-ups would do"
    assert look(100) == 0


def test_new_values_are_found_however_many_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_ahead, "MAX_LOADED_AT_ONCE", 10)
    monkeypatch.setattr(read_ahead, "VALUES_PER_LOOK_UP", 100)
    store = known_store(5)
    for key in range(100, 200):
        one = entry(key << 34, key)
        store.records.discover_url(one, 1.0)
        if key % 3:
            fingerprint = key.to_bytes(4, "big") * 4
            store.records.finish_url(one, UrlRecord(one.url, "s", fingerprint=fingerprint))
        if key % 7 == 0:
            store.flush()
        for known in (5, 100, key - key % 7, key):
            if known <= 5 or known >= 100:
                assert store.records.known_urls([known << 34]).keys() == {known << 34}
        assert bool(store.records.with_fingerprint(key.to_bytes(4, "big") * 4)) is (key % 3 != 0)


def test_a_table_that_is_too_large_is_asked_for_each_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_ahead, "MAX_LOADED_AT_ONCE", 10)
    monkeypatch.setattr(read_ahead, "LOADED_WITH_FIRST", 10)
    monkeypatch.setattr(read_ahead, "MAX_POSSIBLE_VALUES", 20)
    store = known_store(30)
    look = Look(store)
    look(2)
    assert look(50) == 50 + 48, "that a fingerprint is not there is kept until a page has it"
    assert store.records.known_in_memory([1, 2]) == ({}, [1, 2], False), "each may be known, and may wait"


def test_a_store_for_reading_keeps_nothing(tmp_path: Any) -> None:
    writer = SqliteStore(tmp_path / "s.sqlite", "s")
    writer.begin_run(1.0, "")
    writer.records.discover_url(entry(1, 1), 1.0)
    writer.flush()
    reader = SqliteStore(tmp_path / "s.sqlite", "s", read_only=True)
    reader.queue.entries_of("h", 9)
    assert reader.records.known_urls([1, 2]).keys() == {1}
    writer.records.finish_url(entry(1, 1), visited(1, 1))
    writer.records.discover_url(entry(2, 2), 1.0)
    writer.flush()
    assert reader.records.known_urls([1, 2]).keys() == {1, 2}
    assert reader.records.get_record(1) == writer.records.get_record(1)
    reader.close()
    writer.close()


def test_what_waits_for_a_flush_is_not_read_ahead() -> None:
    twins = Twins()
    for what, key in (("finish", 2), ("ask", 1), ("flush", 1)):
        twins.do(what, key)
        twins.answers(twins.keeping, 1)
    assert twins.keeping.records.get_record(2) == twins.plain.records.get_record(2)
