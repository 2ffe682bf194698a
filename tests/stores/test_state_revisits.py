"""When URLs were seen and how often they changed, as the store keeps it."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stores.conftest import Place

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.recrawl.adaptive import ChangeHistory, Observation, SiteSize
from ultracrawl.rules.recrawl.cycle import CycleRule, RefreshMode
from ultracrawl.stores import Advice, QueueEntry, QueueStart, Store

NOW = 1_700_000_000.0
SCRATCH = CycleRule(RefreshMode.SCRATCH)
_numbers = count()


def entry(number: int, site: str = "h", depth: int = 0) -> QueueEntry:
    return QueueEntry(number, f"http://{site}/{number}", site, depth, number)


@pytest.fixture
def state(place: Place) -> Store:
    store = place.open()
    store.begin_run(NOW, "s", QueueStart(SCRATCH))
    for number in (1, 2, 3):
        fetch(store, entry(number))
    return store


def fetch(store: Store, one: QueueEntry) -> None:
    store.records.discover_url(one, NOW)
    store.records.finish_url(
        one, UrlRecord(one.url, "s", outcome=UrlOutcome.NEW, last_fetched=NOW, indexed=True)
    )
    store.flush()


def next_cycle(store: Store, rule: CycleRule = SCRATCH) -> None:
    store.end_run(replace(store.runs(1)[0], finished=NOW))
    store.begin_run(NOW + 1, "s", QueueStart(rule))


def test_a_known_url_is_met_for_the_first_time_once_a_cycle_in_the_order_of_the_links(
    state: Store,
) -> None:
    assert state.visits.note_met([3, 1]) == [], "they were fetched in this cycle"
    next_cycle(state)
    assert [one.key for one in state.visits.note_met([3, 1, 99])] == [3, 1]
    assert state.visits.note_met([1]) == []
    state.flush()
    assert [one.key for one in state.visits.note_met([1, 2])] == [2]


def test_what_was_seen_survives_a_resumed_run(kept: Place) -> None:
    store = kept.open()
    store.begin_run(NOW, "s", QueueStart(SCRATCH))
    fetch(store, entry(1))
    fetch(store, entry(2))
    next_cycle(store)
    store.visits.note_met([1])
    store.queue.requeue_url(entry(1)._replace(seq=9))
    store.close()
    store = kept.open()
    assert store.begin_run(NOW + 2, "s", QueueStart(SCRATCH))[1]
    assert [one.key for one in store.visits.note_met([1, 2])] == [2]


def test_fast_63_unseen_urls_are_those_of_earlier_cycles(state: Store) -> None:
    for _ in range(2):
        next_cycle(state)
        state.visits.note_seen([2])
        state.flush()
    assert [one.key for one in state.visits.unseen_urls(2)] == [1, 3]
    assert [one.key for one in state.visits.unseen_urls(1)] == [1, 3]
    assert state.visits.unseen_urls(3) == []


observations = st.lists(
    st.tuples(
        st.floats(1, 1e6),
        st.booleans(),
        st.one_of(st.none(), st.just(0.0), st.floats(1, 1e6)),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(observations)
def test_fast_189_the_store_adds_observations_up_as_the_rule_does(place: Place, seen: list) -> None:
    store = place.open(f"s{next(_numbers)}")
    store.begin_run(NOW, "s")
    fetch(store, entry(1))
    expected, at = ChangeHistory(), NOW
    for passed, changed, before in seen:
        at += passed
        modified = before if not before else at - before
        observation = Observation(1, at, changed, modified, True)
        store.visits.note_visit(observation)
        expected = expected.after(observation)
        store.flush()
    found = store.visits.history_of(1)
    assert (found.first, found.last, found.checks, found.changes) == (
        expected.first, expected.last, expected.checks, expected.changes,
    )  # fmt: skip
    assert found.quiet == pytest.approx(expected.quiet, abs=1e-6)
    assert found.modified == expected.modified
    store.close()


def test_advice_of_sitemaps_and_types_are_known_of_pages(state: Store) -> None:
    state.visits.note_advice([Advice(1, "daily", 0.8, 5.0)])
    state.visits.note_visit(Observation(1, NOW, markup=True))
    state.flush()
    (page,) = state.visits.known_pages([1])
    assert (page.changefreq, page.priority, page.markup, page.last_fetched) == ("daily", 0.8, True, NOW)
    assert page.sitemap_lastmod == 5.0
    assert len(list(state.visits.known_pages())) == 3


def test_new_urls_that_are_put_off_are_known_and_not_queued(state: Store) -> None:
    state.records.discover_url(entry(7), NOW, queued=False)
    state.records.discover_url(entry(8), NOW)
    state.flush()
    assert [one.key for one in state.queue.entries_of("h", 9)] == [8]
    assert state.visits.site_sizes() == {"h": SiteSize(3, 2)}


def test_an_adaptive_cycle_begins_with_what_was_chosen_in_its_order(state: Store) -> None:
    state.end_run(replace(state.runs(1)[0], finished=NOW))
    run, _ = state.begin_run(
        NOW + 1, "s", QueueStart(CycleRule(RefreshMode.ADAPTIVE, minors=4), lambda place: [3, 1])
    )
    assert run.mode == RefreshMode.ADAPTIVE
    assert [one.key for one in state.queue.entries_of("h", 9)] == [3, 1]


def test_urls_that_leave_the_table_leave_no_history(state: Store) -> None:
    state.visits.note_visit(Observation(1, NOW))
    state.flush()
    state.drop_urls([1])
    assert state.visits.history_of(1) == ChangeHistory()
    state.visits.note_seen([1])
    state.flush()
    assert len(list(state.visits.known_pages())) == 2


def test_paths_with_their_known_queries_the_largest_first(place: Place) -> None:
    store = place.open()
    store.begin_run(NOW, "s")
    urls = ["http://h/cal?1", "http://h/cal?2", "http://h/cal", "http://h/x?a?b", "http://i/cal?1"]
    for number, url in enumerate(urls, 1):
        store.records.discover_url(QueueEntry(number, url, "h", 0, number), NOW)
    store.flush()
    sizes = store.visits.path_sizes(10)
    assert sizes == {"http://h/cal": 2, "http://h/x": 1, "http://i/cal": 1}
    assert store.visits.path_sizes(1) == {"http://h/cal": 2}
