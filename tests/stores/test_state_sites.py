"""The table of sites, levels of the queue, and older files brought up to date."""

from __future__ import annotations

from stores.conftest import Place

from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.stores import (
    QueueEntry,
    QueueStart,
    StoredSite,
)


def entry(path: str, seq: int, level: int = 1, depth: int = 1) -> QueueEntry:
    url = f"http://a.example.com/{path}"
    return QueueEntry(url_key(url), url, "a.example.com", depth, seq, level=level)


def test_a_site_is_remembered(kept: Place) -> None:
    row = StoredSite("a", 12.5, None, 3, "2 rules", "b")
    state = kept.open()
    state.sites.put_site(StoredSite("a"))
    state.sites.put_site(row)
    assert state.sites.get_site("a") == row
    reader = kept.open(read_only=True)
    assert reader.sites.get_site("a") is None
    state.flush()
    assert reader.sites.get_site("a") == row
    state.sites.put_site(StoredSite("free", 5.0))
    state.sites.put_site(StoredSite("slow", 5.0, own_delay=3.0))
    state.flush()
    assert {one.site for one in reader.sites.special_sites()} == {"a", "slow"}
    assert reader.sites.get_site("b") is None


def test_fast_17_sites_begin_afresh_in_the_next_run_and_not_in_a_resumed_one(place: Place) -> None:
    state = place.open()
    run, _ = state.begin_run(100.0, "scope")
    state.sites.put_site(StoredSite("a", 160.0, given_up=run.number))
    state.flush()
    assert state.begin_run(110.0, "scope")[1] is True
    given_up = state.sites.get_site("a")
    assert given_up is not None
    assert given_up.given_up == run.number
    assert state.sites.renewed == ()
    state.begin_run(120.0, "another scope")
    assert state.sites.get_site("a") == StoredSite("a", 160.0)
    assert state.sites.renewed == ("a",)
    state.begin_run(40 * 86_400.0, "yet another")
    assert state.sites.get_site("a") is None, "long ago"


def test_fast_148_entries_come_back_by_level_then_depth_then_order(place: Place) -> None:
    state = place.open()
    state.begin_run(1.0, "")
    for one in (
        entry("e", 1, 2),
        entry("c", 2, 1, 2),
        entry("b", 3),
        entry("d", 4, 2, 0),
        entry("a", 5, 1, 0),
    ):
        state.records.discover_url(one, 1.0)
    names = [one.url[-1] for one in state.queue.entries_of("a.example.com", 9)]
    assert names == ["a", "b", "c", "d", "e"]
    assert [one.url[-1] for one in state.queue.entries_of("a.example.com", 9, range(2, 3))] == ["d", "e"]
    state.flush()
    assert state.queue.number_by_level("a.example.com") == {1: 3, 2: 2}
    first = state.queue.entries_of("a.example.com", 1)[0]
    record = state.records.get_record(first.key)
    assert record is not None
    state.records.finish_url(first, record)
    state.flush()
    assert state.queue.number_by_level("a.example.com") == {1: 2, 2: 2}
    state.begin_run(2.0, "again", QueueStart(level_of=lambda url: 7 if url.endswith("b") else 3))
    assert [(one.url[-1], one.level) for one in state.queue.entries_of("a.example.com", 9)][-1] == ("b", 7)
    assert state.queue.number_by_level("a.example.com") == {3: 4, 7: 1}
