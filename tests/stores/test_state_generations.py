"""A flush that was begun: reads see what it writes and what comes meanwhile, and both are stored in this order."""

from __future__ import annotations

from contextlib import closing

import pytest
from stores.conftest import Place
from support.generations import check_end, check_memory, check_queries, gather_first, gather_second
from support.until import until

from ultracrawl.errors import IndexStoreError, StateError
from ultracrawl.stores.state.documents import Documents


@pytest.mark.parametrize("asks_between", [False, True])
def test_reads_see_what_is_flushed_and_what_comes_meanwhile(place: Place, asks_between: bool) -> None:
    store = place.open()
    gather_first(store)
    store.begin_flush()
    gather_second(store)
    check_memory(store)
    if asks_between:
        check_queries(store)
    until(store.flush_ended)
    check_memory(store)
    check_queries(store)
    store.flush()
    assert store.flush_ended()
    check_end(store)


def test_what_a_begun_flush_looks_up_is_found_once(place: Place) -> None:
    store = place.open()
    gather_first(store)
    store.flush()
    store.records.look_up_later([1, 5])
    store.begin_flush()
    store.records.look_up_later([2])
    until(store.flush_ended)
    assert store.records.looked_up() == {1: ("http://h/1", 1)}
    store.flush()
    assert store.records.looked_up() == {2: ("http://h/2", 1)}
    assert store.records.looked_up() == {}


def test_closing_ends_a_flush_that_was_begun(kept: Place) -> None:
    store = kept.open()
    gather_first(store)
    store.begin_flush()
    gather_second(store)
    store.close()
    check_end(kept.open())


def test_a_flush_without_changes_ends_at_once(place: Place) -> None:
    store = place.open()
    assert store.flush_ended()
    store.begin_flush()
    assert store.flush_ended()


def test_what_comes_first_is_done_before_anything_is_written(kept: Place) -> None:
    store, found = kept.open(), list[int]()
    gather_first(store)
    store.begin_flush(lambda: found.append(number_stored(kept)))
    until(store.flush_ended)
    store.begin_flush(lambda: found.append(number_stored(kept)))
    until(store.flush_ended)
    assert found == [0, 3], "the second one has nothing to write"


def test_nothing_is_written_if_what_comes_first_fails_until_the_next_flush(kept: Place) -> None:
    def fail() -> None:
        raise IndexStoreError("the disk is full")

    def flush_fails() -> None:
        store.begin_flush(fail)
        until(store.flush_ended)

    store = kept.open()
    gather_first(store)
    with pytest.raises(IndexStoreError):
        flush_fails()
    assert store.flush_ended(), "it says so once"
    assert number_stored(kept) == 0
    gather_second(store)
    store.flush()
    check_end(store)


def test_a_flush_that_failed_is_repeated_before_what_came_later(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise StateError("the disk is full")

    store = place.open()
    gather_first(store)
    with monkeypatch.context() as patched:
        patched.setattr(Documents, "write_changes", fail)
        with pytest.raises(StateError):
            store.flush()
    gather_second(store)
    check_memory(store)
    check_queries(store)
    store.flush()
    check_end(store)


def number_stored(place: Place) -> int:
    """Return how many URLs another process finds."""
    with closing(place.open(read_only=True)) as reader:
        return reader.records.count_urls().known
