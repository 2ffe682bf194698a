"""Hops through documents in other languages: durable, and nothing for the URLs that have none."""

from __future__ import annotations

import random

import pytest
from stores.conftest import Place

from ultracrawl.stores import QueueEntry, Store
from ultracrawl.stores.state import queue

NOW = 1_700_000_000.0


def opened(place: Place) -> Store:
    state = place.open()
    state.begin_run(NOW, "")
    return state


def discover(state: Store, *keys: int, depth: int = 1) -> None:
    for key in keys:
        state.records.discover_url(QueueEntry(key, f"http://h/{key}", "h", depth, key), NOW)


def test_hops_are_read_back_before_and_after_the_flush_and_by_the_next_process__fast_176(kept: Place) -> None:
    state = opened(kept)
    discover(state, 1, 2, 3)
    state.queue.put_hops(1, 2)
    state.queue.put_hops(2, 1)
    assert state.queue.hops_to([1, 2, 3]) == {1: 2, 2: 1}
    state.flush()
    state.queue.put_hops(1, 0)
    assert state.queue.hops_to([1, 2, 3]) == {2: 1}
    state.close()
    assert opened(kept).queue.hops_to([1, 2, 3]) == {2: 1}


def test_what_was_not_flushed_is_lost_together_with_the_url(kept: Place) -> None:
    state = opened(kept)
    discover(state, 1)
    state.queue.put_hops(1, 2)
    reader = kept.open(read_only=True)
    assert (reader.records.get_record(1), reader.queue.hops_to([1])) == (None, {})


@pytest.mark.parametrize(("hops", "expected"), [(2, {2: 2, 3: 2}), (0, {})])
def test_reset_holds_for_all_but_start_urls(place: Place, hops: int, expected: dict[int, int]) -> None:
    state = opened(place)
    discover(state, 1, depth=0)
    discover(state, 2, 3)
    state.queue.put_hops(3, 1)
    state.queue.reset_hops(hops)
    state.flush()
    assert state.queue.hops_to([1, 2, 3]) == expected
    state.queue.put_hops(2, 0)
    state.drop_urls([3])
    assert state.queue.hops_to([1, 2, 3]) == {}


@pytest.mark.parametrize(("most", "changed"), [(1000, 1000), (1000, 5), (10, 1000), (0, 0)])
def test_hops_are_those_that_were_put_last_wherever_they_are_kept(
    kept: Place, monkeypatch: pytest.MonkeyPatch, most: int, changed: int
) -> None:
    monkeypatch.setattr(queue, "MAX_HOPS", most)
    monkeypatch.setattr(queue, "MAX_CHANGED_HOPS", changed)
    dice, state, put = random.Random(5), opened(kept), dict[int, int]()
    discover(state, *range(1, 51))
    for number in range(150):
        key = dice.randrange(1, 51)
        put[key] = dice.randrange(4)
        state.queue.put_hops(key, put[key])
        if number % 7 == 3:
            state.flush()
        if number % 40 == 39:
            state.close()
            state = kept.open()
        if number % 5 == 2:
            assert state.queue.hops_to(list(range(1, 51))) == {key: hops for key, hops in put.items() if hops}
