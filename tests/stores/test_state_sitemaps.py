"""What the state store keeps of sitemaps: from run to run, and for the run that goes on."""

from __future__ import annotations

from array import array
from dataclasses import replace

import pytest
from stores.conftest import Place

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.stores import QueueEntry, Store, StoredSitemap

NOW = 1_700_000_000.0


def entry(number: int) -> QueueEntry:
    return QueueEntry(number, f"http://h/{number}", "h", 0, 0)


def finish(state: Store, number: int, run: int, outcome: UrlOutcome = UrlOutcome.LIST) -> None:
    state.records.finish_url(entry(number), UrlRecord(f"http://h/{number}", "s", outcome=outcome))
    state.sites.put_sitemap(number, StoredSitemap(run))


@pytest.fixture
def state(place: Place) -> Store:
    return place.open()


def end(state: Store) -> None:
    state.end_run(replace(state.runs(1)[0], finished=NOW))


def test_a_sitemap_comes_back_as_it_was_written(state: Store) -> None:
    state.begin_run(NOW, "scope")
    dates = array("q", [5, 0]).tobytes()
    state.sites.put_sitemap(1, StoredSitemap(1, is_index=True, dates=dates))
    for _ in range(2):
        found = state.sites.get_sitemap(1)
        assert found == StoredSitemap(1, is_index=True, dates=dates)
        assert list(found.entries(array("q", [7, 8]).tobytes())) == [(7, 5), (8, 0)]
        assert state.sites.sitemap_keys() == {1}
        state.flush()
    assert state.sites.get_sitemap(2) is None


def test_sitemaps_are_not_queued_as_pages(state: Store) -> None:
    state.begin_run(NOW, "scope")
    state.records.discover_url(QueueEntry(2, "http://h/2", "h", 0, 2), NOW)
    finish(state, 1, run=1)
    end(state)
    state.begin_run(NOW, "scope")
    assert [one.key for one in state.queue.entries_of("h", 10)] == [2]


def test_sitemaps_that_are_gone_or_were_not_asked_for_are_forgotten(state: Store) -> None:
    state.begin_run(NOW, "scope")
    for number in (1, 2, 3):
        finish(state, number, run=1)
    end(state)
    state.begin_run(NOW, "scope")
    finish(state, 1, run=2)
    finish(state, 2, run=2, outcome=UrlOutcome.GONE)
    end(state)
    assert state.sites.sitemap_keys() == {1, 2, 3}
    state.begin_run(NOW, "scope")
    assert state.sites.sitemap_keys() == {1}
    assert [record.url for record in state.records.all_records()] == ["http://h/1"]


def test_dropped_urls_are_no_sitemaps_any_more(state: Store) -> None:
    state.begin_run(NOW, "scope")
    finish(state, 1, run=1)
    state.drop_urls([1])
    assert state.sites.sitemap_keys() == set()


def test_the_latest_date_counts_until_the_next_run(kept: Place) -> None:
    state = kept.open()
    state.begin_run(NOW, "scope")
    assert not state.sites.dates_announced
    state.sites.announce_dates([(1, 10), (2, 10)])
    state.flush()
    state.sites.announce_dates([(1, 9), (2, 11), (2, 8), (4, 5)])
    assert state.sites.announced_dates([1, 2, 3, 4]) == {1: 10, 2: 11, 4: 5}
    assert state.sites.dates_announced
    state.flush()
    state.close()
    resumed = kept.open()
    assert resumed.begin_run(NOW, "scope")[1]
    assert resumed.sites.dates_announced, "what was said before the kill still holds"
    assert resumed.sites.announced_dates([1, 2, 3]) == {1: 10, 2: 11}
    end(resumed)
    resumed.begin_run(NOW, "scope")
    assert not resumed.sites.dates_announced
    assert resumed.sites.announced_dates([1, 2, 3]) == {}
