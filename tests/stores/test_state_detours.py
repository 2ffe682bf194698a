"""Hops through documents in other languages: durable, and nothing for the URLs that have none."""

from __future__ import annotations

from pathlib import Path

import pytest

from ultracrawl.stores import QueueEntry, SqliteStore

NOW = 1_700_000_000.0


def opened(path: Path) -> SqliteStore:
    state = SqliteStore(path, "s")
    state.begin_run(NOW, "")
    return state


def discover(state: SqliteStore, *keys: int, depth: int = 1) -> None:
    for key in keys:
        state.records.discover_url(QueueEntry(key, f"http://h/{key}", "h", depth, key), NOW)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "s.sqlite"


def test_hops_are_read_back_before_and_after_the_flush_and_by_the_next_process__fast_176(file: Path) -> None:
    state = opened(file)
    discover(state, 1, 2, 3)
    state.queue.put_hops(1, 2)
    state.queue.put_hops(2, 1)
    assert state.queue.hops_to([1, 2, 3]) == {1: 2, 2: 1}
    state.flush()
    state.queue.put_hops(1, 0)
    assert state.queue.hops_to([1, 2, 3]) == {2: 1}
    state.close()
    again = opened(file)
    assert again.queue.hops_to([1, 2, 3]) == {2: 1}
    again.close()


def test_what_was_not_flushed_is_lost_together_with_the_url(file: Path) -> None:
    state = opened(file)
    discover(state, 1)
    state.queue.put_hops(1, 2)
    reader = SqliteStore(file, "s", read_only=True)
    assert (reader.records.get_record(1), reader.queue.hops_to([1])) == (None, {})
    reader.close()
    state.close()


@pytest.mark.parametrize(("hops", "expected"), [(2, {2: 2, 3: 2}), (0, {})])
def test_reset_holds_for_all_but_start_urls(file: Path, hops: int, expected: dict[int, int]) -> None:
    state = opened(file)
    discover(state, 1, depth=0)
    discover(state, 2, 3)
    state.queue.put_hops(3, 1)
    state.queue.reset_hops(hops)
    state.flush()
    assert state.queue.hops_to([1, 2, 3]) == expected
    state.queue.put_hops(2, 0)
    state.drop_urls([3])
    assert state.queue.hops_to([1, 2, 3]) == {}
    state.close()
