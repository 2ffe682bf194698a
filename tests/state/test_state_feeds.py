"""The lists of feeds: seen before and after the flush, replaced as a whole."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ultracrawl.rules.recrawl.feed_links import FeedLink
from ultracrawl.stores import SqliteState

NEWS = [FeedLink(11, 5.0, 4.0, 1, expired=True), FeedLink(12, 6.0, only=True)]


@pytest.fixture
def state() -> Iterator[SqliteState]:
    store = SqliteState(":memory:", "s")
    store.begin_run(1.0, "")
    yield store
    store.close()


@pytest.mark.parametrize("flushed", [False, True])
def test_a_list_comes_back_as_it_was_put(state: SqliteState, flushed: bool) -> None:
    state.feeds.put(1, NEWS)
    state.feeds.put(2, [])
    if flushed:
        state.flush()
    assert state.feeds.links(1) == NEWS
    assert (state.feeds.links(2), state.feeds.links(3)) == ([], [])
    assert state.feeds.feeds() >= {1}
    state.flush()
    assert list(state.feeds.every()) == [(1, link) for link in NEWS]


def test_a_list_replaces_the_one_before(state: SqliteState) -> None:
    state.feeds.put(1, NEWS)
    state.feeds.put(2, NEWS[:1])
    state.flush()
    state.feeds.put(1, NEWS[1:])
    assert state.feeds.links(1) == NEWS[1:]
    state.flush()
    assert state.feeds.links(1) == NEWS[1:]
    assert state.feeds.links(2) == NEWS[:1], "that of another feed stays"
    state.feeds.put(1, [])
    state.flush()
    assert state.feeds.feeds() == {2}
