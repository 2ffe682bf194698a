"""Sitemaps, feeds and retained documents that were read for the URLs to come: what changes meanwhile counts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from stores.conftest import Place

from ultracrawl.rules.recrawl.feed_links import FeedLink
from ultracrawl.stores import QueueEntry, Retained, Store, StoredSitemap

KEYS = (1, 2, 3)
Put = Callable[[Store, int, int], object]
Get = Callable[[Store, int], object]


def put_sitemap(state: Store, key: int, edition: int) -> None:
    state.sites.put_sitemap(key, StoredSitemap(1, dates=bytes([edition] * 8)))


def put_feed(state: Store, key: int, edition: int) -> None:
    state.sites.put_feed_links(key, [FeedLink(11, float(edition))])


def put_entry(state: Store, key: int, edition: int) -> None:
    state.documents.retain_document(Retained.LISTED, key, bytes([edition]))


def entry_of(state: Store, key: int) -> object:
    return state.documents.retained_document(Retained.LISTED, key)


def entries_of(state: Store, key: int) -> object:
    return state.documents.retained_documents(Retained.LISTED, KEYS).get(key)


@pytest.fixture
def state(place: Place) -> Store:
    """A store that knows three URLs."""
    store = place.open()
    store.begin_run(1.0, "")
    for key in KEYS:
        store.records.discover_url(QueueEntry(key, f"http://h/{key}", "h", 1, key), 1.0)
    store.flush()
    return store


@pytest.mark.parametrize(
    ("put", "get"),
    [
        pytest.param(put_sitemap, lambda state, key: state.sites.get_sitemap(key), id="sitemaps"),
        pytest.param(put_feed, lambda state, key: state.sites.feed_links(key), id="feeds"),
        pytest.param(put_entry, entry_of, id="listed"),
        pytest.param(put_entry, entries_of, id="together"),
    ],
)
def test_what_was_read_ahead_is_as_it_was_written_last(state: Store, put: Put, get: Get) -> None:
    nothing = get(state, 1)
    for key in KEYS[:2]:
        put(state, key, key)
    first, second = get(state, 1), get(state, 2)
    assert len({repr(one) for one in (first, second, nothing)}) == 3
    state.flush()
    state.queue.expect_urls(KEYS)
    assert [get(state, key) for key in KEYS] == [first, second, nothing]
    put(state, 2, 1)
    put(state, 3, 2)
    for _ in range(2):
        assert [get(state, key) for key in KEYS] == [first, first, second]
        state.flush()
    put(state, 3, 1)
    state.queue.expect_urls(KEYS)
    assert get(state, 1) == first  # reads for the others as well
    state.flush()
    assert get(state, 3) == first
    state.drop_urls([2, 3])
    assert [get(state, key) for key in KEYS] == [first, nothing, nothing]


def test_released_documents_are_gone_at_once(state: Store) -> None:
    for key in KEYS:
        put_entry(state, key, key)
    state.flush()
    state.queue.expect_urls(KEYS)
    assert entry_of(state, 1) == b"\x01"
    state.documents.release_document(Retained.LISTED, 2)
    for _ in range(2):
        assert (entry_of(state, 2), entries_of(state, 2), entry_of(state, 3)) == (None, None, b"\x03")
        state.flush()
