"""The queue names rows by their place, and is read ahead: neither may ever show another URL than the one that waits."""

from __future__ import annotations

import random
from collections import defaultdict

import pytest
from stores.conftest import Place

from ultracrawl.model import Cause, CauseCode, UrlOutcome, UrlRecord
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.stores import QueueEntry, Store
from ultracrawl.stores.state.read_ahead import MAX_SITE_ROWS


def entry(site: str, number: int, seq: int) -> QueueEntry:
    url = f"http://{site}/{number}"
    return QueueEntry(url_key(url), url, site, 1, seq)


def record(one: QueueEntry, reason: str = "") -> UrlRecord:
    return UrlRecord(
        one.url, "s", outcome=UrlOutcome.NEW, cause=Cause(CauseCode.STATED, reason), last_fetched=1.0
    )


def filled(place: Place, sites: int, urls: int) -> Store:
    state = place.open()
    state.begin_run(1.0, "")
    for number in range(urls):
        for site in range(sites):
            state.records.discover_url(entry(f"s{site:04}", number, state.queue.next_seq()), 1.0)
    state.flush()
    return state


@pytest.mark.parametrize("read", [True, False], ids=["read_from_the_queue", "found_just_now"])
def test_a_dropped_url_whose_place_is_given_away_harms_nobody(place: Place, read: bool) -> None:
    state = filled(place, 1, 2)
    first, last = (entry("s0000", number, number + 1) for number in (0, 1))
    if read:
        assert [one.key for one in state.queue.entries_of("s0000", 9)] == [first.key, last.key]
    state.drop_urls([last.key])
    successor = entry("s0000", 7, state.queue.next_seq())
    state.records.discover_url(successor, 2.0)
    state.flush()
    state.records.finish_url(last, record(last, "came back"))  # it was on its way when it was dropped
    state.flush()
    rows = {one.url: one.reason for one in state.records.all_records()}
    assert rows == {first.url: "", successor.url: "", last.url: "came back"}
    assert [one.key for one in state.queue.entries_of("s0000", 9)] == [first.key, successor.key]


def test_a_queued_url_that_is_forgotten_leaves_the_queue_with_its_row(place: Place) -> None:
    state = filled(place, 1, 1)
    run, _ = state.begin_run(2.0, "")
    gone = entry("s0000", 0, 1)
    state.records.finish_url(
        gone, UrlRecord(gone.url, "s", outcome=UrlOutcome.GONE, failed_runs=9, last_fetched=1.0)
    )
    state.queue.requeue_url(gone)
    state.flush()
    state.begin_run(3.0, "another scope")
    assert state.records.get_record(gone.key) is None
    found = entry("s0000", 1, state.queue.next_seq())
    state.records.discover_url(found, 3.0)
    assert state.queue.entries_of("s0000", 9) == [found]
    assert run.number == 1


def test_an_unknown_url_is_not_queued_again(place: Place) -> None:
    state = filled(place, 1, 1)
    unknown, known = entry("s0000", 7, 5), entry("s0000", 0, 6)
    new = entry("s0000", 8, state.queue.next_seq())
    state.records.discover_url(new, 1.0)
    for one in (unknown, known):
        state.queue.requeue_url(one)
    state.flush()
    assert {one.key for one in state.queue.entries_of("s0000", 9)} == {known.key, new.key}
    assert state.queue.number_waiting() == 3


def test_a_url_that_is_found_twice_keeps_its_row(place: Place) -> None:
    state = filled(place, 1, 1)
    known, new = entry("s0000", 0, 5), entry("s0000", 1, 6)
    state.records.finish_url(entry("s0000", 0, 1), record(known, "kept"))
    state.flush()
    for one in (new, known):
        state.records.discover_url(one, 2.0)
    for _ in range(2):
        assert [one.key for one in state.queue.entries_of("s0000", 9)] == [known.key, new.key]
        state.flush()
    assert {one.url: one.reason for one in state.records.all_records()} == {known.url: "kept", new.url: ""}


@pytest.mark.parametrize("order", ["by name", "shuffled", "backwards"])
@pytest.mark.parametrize(("sites", "urls"), [(700, 1), (150, 7), (40, MAX_SITE_ROWS + 1)])
def test_every_entry_is_read_once_whatever_happens_meanwhile(
    place: Place, order: str, sites: int, urls: int
) -> None:
    """While sites are emptied one by one, others get new entries, and lose old ones."""
    state, chance = filled(place, sites, urls), random.Random(7)
    names = [f"s{site:04}" for site in range(sites)]
    if order != "by name":
        chance.shuffle(names)
        names = sorted(names, reverse=True) if order == "backwards" else names
    expected: dict[str, set[int]] = defaultdict(set)
    for name in names:
        expected[name] = {url_key(f"http://{name}/{number}") for number in range(urls)}
    for turn, name in enumerate(names):
        taken = {one.key for one in state.queue.entries_of(name, 1000)}
        assert taken == expected.pop(name)
        other = names[(turn + 1 + turn % 3) % sites]
        if other in expected and turn % 5 == 0:
            new = entry(other, 1000 + turn, state.queue.next_seq())
            state.records.discover_url(new, 1.0)
            expected[other].add(new.key)
        elif other in expected and turn % 5 == 1:
            dropped = min(expected[other])
            state.drop_urls([dropped])
            expected[other].remove(dropped)


def test_levels_and_limits_hold_for_what_was_read_ahead(place: Place) -> None:
    state = place.open()
    state.begin_run(1.0, "")
    for site in ("a", "b"):
        for number in range(6):
            state.records.discover_url(entry(site, number, number + 1)._replace(level=1 + number % 2), 1.0)
    state.flush()
    state.queue.entries_of("a", 2)
    assert [one.seq for one in state.queue.entries_of("b", 2, range(2, 3))] == [2, 4]
    assert [one.seq for one in state.queue.entries_of("b", 9)] == [1, 3, 5, 2, 4, 6]


def test_what_is_read_is_the_same_before_and_after_a_flush_and_reading_does_not_flush(kept: Place) -> None:
    state, plain = kept.open(), kept.open("plain")
    chance, known = random.Random(11), list[QueueEntry]()
    for store in (state, plain):
        store.begin_run(1.0, "")
    for turn in range(400):
        waiting = plain.queue.entries_of("s", 9999)
        act = chance.choice(["discover", "discover", "finish", "again", "flush", "unqueued"])
        one = entry("s", turn, turn + 1)._replace(level=1 + turn % 3, depth=turn % 4)
        if act in ("discover", "unqueued"):
            known.append(one)
        elif act == "finish" and waiting:
            one = chance.choice(waiting)
        elif act == "again" and (
            idle := [each for each in known if each.key not in {w.key for w in waiting}]
        ):
            one = chance.choice(idle)._replace(seq=turn + 1)
        elif act != "flush":
            continue
        for store in (state, plain):
            if act in ("discover", "unqueued"):
                store.records.discover_url(one, 1.0, queued=act == "discover")
            elif act == "finish":
                store.records.finish_url(one, record(one))
            elif act == "again":
                store.queue.requeue_url(one)
        plain.flush()
        if act == "flush":
            state.flush()
        limit, levels = chance.choice([1, 3, 9999]), chance.choice([None, range(1, 2), range(2, 4)])
        assert state.queue.entries_of("s", limit, levels) == plain.queue.entries_of("s", limit, levels)
    before = kept.open(read_only=True).records.count_urls().known
    found = entry("s", 999, 999)
    state.records.discover_url(found, 1.0)
    assert found in state.queue.entries_of("s", 999)
    assert kept.open(read_only=True).records.count_urls().known == before
