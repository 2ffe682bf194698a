"""The lists of feeds: seen before and after the flush, replaced as a whole."""

from __future__ import annotations

import pytest
from stores.conftest import Place

from ultracrawl.rules.recrawl.feed_links import FeedLink
from ultracrawl.stores import Store

NEWS = [FeedLink(11, 5.0, 4.0, 1, expired=True), FeedLink(12, 6.0, only=True)]


@pytest.fixture
def state(place: Place) -> Store:
    store = place.open()
    store.begin_run(1.0, "")
    return store


@pytest.mark.parametrize("flushed", [False, True])
def test_a_list_comes_back_as_it_was_put(state: Store, flushed: bool) -> None:
    state.sites.put_feed_links(1, NEWS)
    state.sites.put_feed_links(2, [])
    if flushed:
        state.flush()
    assert state.sites.feed_links(1) == NEWS
    assert (state.sites.feed_links(2), state.sites.feed_links(3)) == ([], [])
    assert state.sites.feed_keys() >= {1}
    state.flush()
    assert list(state.sites.all_feed_links()) == [(1, link) for link in NEWS]


def test_a_list_replaces_the_one_before(state: Store) -> None:
    state.sites.put_feed_links(1, NEWS)
    state.sites.put_feed_links(2, NEWS[:1])
    state.flush()
    state.sites.put_feed_links(1, NEWS[1:])
    assert state.sites.feed_links(1) == NEWS[1:]
    state.flush()
    assert state.sites.feed_links(1) == NEWS[1:]
    assert state.sites.feed_links(2) == NEWS[:1], "that of another feed stays"
    state.sites.put_feed_links(1, [])
    state.flush()
    assert state.sites.feed_keys() == {2}
