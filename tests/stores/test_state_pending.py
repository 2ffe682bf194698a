"""Documents that wait for an approval: durable with everything else, and known to their records."""

from __future__ import annotations

from dataclasses import replace

import pytest
from stores.conftest import Place

from ultracrawl.model import StatusCode, UrlOutcome, UrlRecord
from ultracrawl.stores import QueueEntry, Retained, Store

NOW = 1_700_000_000.0


def entry(number: int, depth: int = 0) -> QueueEntry:
    return QueueEntry(number, f"http://h/{number}", "h", depth, number)


def record(one: QueueEntry, **changes: object) -> UrlRecord:
    return replace(UrlRecord(one.url, "s", one.depth, first_seen=NOW), **changes)


@pytest.fixture
def state(place: Place) -> Store:
    store = place.open()
    store.begin_run(NOW, "")
    return store


def keep(state: Store, one: QueueEntry, document: bytes) -> None:
    state.records.discover_url(one, NOW)
    state.documents.retain_document(Retained.APPROVAL, one.key, document)
    done = record(one, outcome=UrlOutcome.PENDING, status_code=StatusCode.CRAWLED, pending=True)
    state.records.finish_url(one, done)


def test_a_kept_document_comes_back_before_and_after_the_flush(state: Store) -> None:
    keep(state, entry(1), b"one")
    assert state.documents.retained_document(Retained.APPROVAL, 1) == b"one"
    known = state.records.get_record(1)
    assert known is not None
    assert known.pending
    state.flush()
    assert state.documents.retained_document(Retained.APPROVAL, 1) == b"one"
    assert state.records.get_record(1) == known
    assert state.documents.retained_document(Retained.APPROVAL, 2) is None
    assert (state.records.count_urls().pending, list(state.records.pending_records())) == (1, [known])


def test_a_later_version_replaces_and_discarding_lets_go(state: Store) -> None:
    keep(state, entry(1), b"one")
    state.flush()
    state.documents.retain_document(Retained.APPROVAL, 1, b"two")
    state.flush()
    assert state.documents.retained_document(Retained.APPROVAL, 1) == b"two"
    state.documents.release_document(Retained.APPROVAL, 1)
    assert state.documents.retained_document(Retained.APPROVAL, 1) is None
    state.flush()
    assert (state.documents.retained_keys(Retained.APPROVAL), state.records.count_urls().pending) == ([], 0)
    known = state.records.get_record(1)
    assert known is not None
    assert not known.pending


def test_keys_come_by_depth_and_url_and_dropped_urls_take_their_documents_along(state: Store) -> None:
    for number, depth in ((3, 0), (1, 1), (2, 1)):
        keep(state, entry(number, depth), b"x")
    state.flush()
    assert state.documents.retained_keys(Retained.APPROVAL) == [3, 1, 2]
    state.drop_urls([1])
    assert state.documents.retained_keys(Retained.APPROVAL) == [3, 2]


def test_what_was_not_flushed_is_lost_together_with_its_record(kept: Place) -> None:
    first = kept.open()
    first.begin_run(NOW, "")
    keep(first, entry(1), b"one")
    first.flush()
    first.documents.release_document(Retained.APPROVAL, 1)
    first.records.amend_record(1, record(entry(1), submitted=True))
    reader = kept.open(read_only=True)
    assert reader.documents.retained_document(Retained.APPROVAL, 1) == b"one"
    (known,) = reader.records.all_records()
    assert (known.pending, known.submitted) == (True, False)


def test_removed_urls_leave_the_queue_and_no_new_run_takes_them_up__ultra_search_117(
    state: Store,
) -> None:
    for number in (1, 2, 3):
        state.records.discover_url(entry(number), NOW)
    state.records.amend_record(
        1, record(entry(1), outcome=UrlOutcome.REMOVED, status_code=StatusCode.BLACKLISTED)
    )
    state.queue.dequeue_removed()
    assert [one.key for one in state.queue.entries_of("h", 9)] == [2, 3]
    state.begin_run(NOW + 1, "another")
    assert [one.key for one in state.queue.entries_of("h", 9)] == [2, 3]
    assert state.records.known_urls([1]) == {1: ("http://h/1", 0)}, "it stays known"


def test_the_stored_documents_that_are_kept_are_those_of_some_use(state: Store) -> None:
    """In the index, on the way there, waiting for an approval or for the place of another; the rest goes."""
    for number, changes in enumerate(
        [
            {"outcome": UrlOutcome.NEW, "indexed": True},
            {"outcome": UrlOutcome.NEW, "submitted": True},
            {"outcome": UrlOutcome.GONE},
            {"outcome": UrlOutcome.DUPLICATE, "fingerprint": b"f" * 16},
            {"outcome": UrlOutcome.DUPLICATE},
            {"outcome": UrlOutcome.NEW, "fingerprint": b"g" * 16},
        ],
        1,
    ):
        state.records.discover_url(entry(number), NOW)
        state.records.finish_url(entry(number), record(entry(number), **changes))
    keep(state, entry(7), b"seven")
    state.records.discover_url(entry(8), NOW)
    state.records.finish_url(entry(8), record(entry(8), outcome=UrlOutcome.DUPLICATE))
    state.documents.retain_document(Retained.REPLACEMENT, 8, b"eight")
    state.flush()
    assert state.documents.kept_keys() == {1, 2, 7, 8}
    assert state.documents.kept_keys(duplicates=True) == {1, 2, 4, 7, 8}
