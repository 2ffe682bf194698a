"""Visits in flight and the page budget of their sites: places are given back once, retries keep their visit."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.context import made_context
from support.frontier import made_frontier

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.rules.urls.site_table import NO_SITES
from ultracrawl.run import Visit
from ultracrawl.run.control.second_attempts import MAX_IN_VAIN
from ultracrawl.run.ending import Ending
from ultracrawl.run.results import FetchResult
from ultracrawl.scheduler.flight import EntryGate, PageBudget, VisitsInFlight
from ultracrawl.scheduler.recrawl import RepeatVisits
from ultracrawl.sources.sections.fetching.limits import LimitsSection
from ultracrawl.stores import QueueEntry


def entry(path: str, site: str = "h.test", seq: int = 1) -> QueueEntry:
    url = f"http://{site}{path}"
    return QueueEntry(url_key(url), url, site, 2, seq)


class Flight:
    """Visits over a frontier with two places a site; what the parts around them are told is kept."""

    def __init__(self, *, pages_per_site: int | None = None, stored: tuple[QueueEntry, ...] = ()) -> None:
        self.frontier = made_frontier(delay=10.0, concurrency=2)
        self.records: dict[int, UrlRecord] = {}
        self.excluded: list[str] = []
        self.abandoned: list[int] = []
        self.ended: list[Visit] = []
        self.watched: list[str] = []
        self.woken = 0
        self.stored = list(stored)
        self.jobs: dict[int, Any] = {}
        sites = {one.site: 1 for one in stored}
        store = SimpleNamespace(
            records=SimpleNamespace(get_record=self.records.get),
            queue=SimpleNamespace(
                waiting_sites=sites.items,
                entries_of=self._entries_of,
                next_seq=lambda: 9,
                requeue_url=lambda _: None,
            ),
            visits=SimpleNamespace(fetched_since=lambda _: {"h.test": 1}),
            sites=SimpleNamespace(get_sitemap=lambda _: None),
        )
        source = SimpleNamespace(
            name="s", type="web", limits=LimitsSection.model_validate({"pages_per_site": pages_per_site})
        )
        rules = SimpleNamespace(
            overlays=NO_SITES, overlay_of=NO_SITES.find, levels=SimpleNamespace(of=lambda _: 1)
        )
        endings = SimpleNamespace(exclude_queued=lambda one, rule: self.excluded.append(one.url))
        self.context = made_context(source, rules=rules, store=store, endings=endings, clock=lambda: 5.0)
        self.sitemaps = SimpleNamespace(
            waiting_sites=set(), abandon=self.abandoned.append, job_of=self.jobs.get
        )
        self.gate = EntryGate(self.context, self.frontier, cast("Any", self.sitemaps))
        pacing = SimpleNamespace(note_end=self.ended.append, visit_begun=lambda _: None, wake=self._wake)
        self.repeats = RepeatVisits(self.context, self.gate.add_entry, lambda _: False, self.gate.retry_of)
        watch = SimpleNamespace(
            begin_visit=lambda _: self.watched.append("begin"),
            suspend_visit=lambda _: self.watched.append("suspend"),
        )
        parts: tuple[Any, ...] = (self.context, self.frontier, pacing, self.gate, self.repeats, watch)
        self.flight = VisitsInFlight(*parts)

    def _entries_of(self, site: str, limit: int) -> list[QueueEntry]:
        found = [one for one in self.stored if one.site == site][:limit]
        self.stored = [one for one in self.stored if one not in found]
        return found

    def _wake(self) -> None:
        self.woken += 1

    def begin(self, now: float = 0.0) -> Visit:
        found = self.frontier.pop_entry(now)
        assert found is not None
        return self.flight.begin_visit(found)

    def end(self, visit: Visit, outcome: UrlOutcome = UrlOutcome.NEW, status: int = 200) -> None:
        visit.note_answer(FetchResult(status=status))
        visit.note_ending(Ending(outcome))
        self.flight.visit_ended(visit)

    @property
    def places(self) -> int:
        site = self.frontier.site("h.test")
        return 0 if site is None else site.in_flight


# ---- visits


def test_a_visit_takes_a_place_at_its_site_and_gives_it_back_when_it_ends() -> None:
    one = Flight()
    one.gate.add_entry(entry("/1"))
    visit = one.begin()
    assert (one.places, one.context.visits) == (1, {visit.entry.key: visit})
    assert (visit.record.url, visit.record.first_seen) == ("http://h.test/1", 5.0), "it is not known yet"
    one.end(visit)
    assert (one.places, one.context.visits, one.ended) == (0, {}, [visit])


def test_a_place_is_given_back_early_once() -> None:
    one = Flight()
    one.gate.add_entry(entry("/1"))
    visit = one.begin()
    for _ in range(2):
        one.flight.release_place(visit)
    assert (one.places, one.woken) == (0, 1)
    one.end(visit)
    assert one.places == 0


def test_the_place_of_a_sitemap_is_kept_until_it_is_read() -> None:
    one = Flight()
    one.gate.add_sitemap(entry("/sitemap.xml", seq=0))
    visit = one.begin()
    assert one.context.visits == {}, "it is no page"
    one.flight.release_place(visit)
    assert one.places == 1


def test_pages_keep_their_places_where_they_are_counted_at_their_end() -> None:
    one = Flight(pages_per_site=3)
    one.gate.add_entry(entry("/1"))
    visit = one.begin()
    one.flight.release_place(visit)
    assert one.places == 1


def test_a_visit_that_ends_without_a_request_returns_the_turn_of_its_site() -> None:
    one = Flight()
    for path in ("/1", "/2"):
        one.gate.add_entry(entry(path))
    visit = one.begin()
    assert one.frontier.pop_entry(1.0) is None, "the delay is ten seconds"
    visit.note_ending(Ending(UrlOutcome.ROBOTS, requested=False))
    one.flight.visit_ended(visit)
    assert one.frontier.pop_entry(1.0) is not None


def test_a_retry_is_the_same_visit_later() -> None:
    one = Flight()
    one.gate.add_entry(entry("/1"))
    visit = one.begin()
    one.records[visit.entry.key] = UrlRecord(visit.url, "s", 1)  # a shorter route was found meanwhile
    one.flight.retry_visit(visit, 0.0)
    assert (one.places, one.context.visits, visit.attempts) == (0, {}, 1)
    assert one.flight.must_fetch(visit.entry.key)
    again = one.begin(1e9)
    assert again is visit
    assert (again.depth, one.watched) == (1, ["begin", "suspend", "begin"])
    assert not one.flight.must_fetch(visit.entry.key)


def test_a_page_that_is_to_be_fetched_again_is_fetched_once_if_it_waits_for_a_retry() -> None:
    one = Flight()
    one.gate.add_entry(entry("/1"))
    visit = one.begin()
    one.flight.retry_visit(visit, 0.0)
    changed = UrlRecord(visit.url, "s", 2, display_url="http://shown.test/", last_fetched=4.0)
    one.repeats.fetch_again(changed)  # the run has fetched it before
    one.repeats.requeue(visit.entry.key, changed, 1)
    again = one.begin(1e9)
    assert again is visit
    assert (again.record, again.rescan, again.depth) == (changed, True, 1)
    assert again.display_url == "http://shown.test/"
    one.end(again)
    assert one.frontier.pop_entry(2e9) is None
    one.repeats.fetch_again(changed)
    assert one.frontier.pop_entry(3e9) is not None, "from now on it is not waiting"


def test_a_visit_that_is_set_aside_is_made_once_more_when_nothing_else_is_left() -> None:
    one = Flight()
    for path in ("/1", "/2"):
        one.gate.add_entry(entry(path))
    visit = one.begin()
    assert one.flight.set_aside(visit, "too slow")
    assert (visit.done, visit.outcome, one.places) == (True, None, 0)
    waiting = one.gate.retry_of(visit.entry.key)
    assert waiting is not visit, "what still comes of the first one counts no more"
    assert (one.context.visits, visit.entry.key in one.flight.second) == ({}, True)
    other = one.begin(1e9)
    one.end(other)
    assert one.flight.begin_second_attempts()
    again = one.begin(2e9)
    assert (again, again.alone, again.attempts) == (waiting, True, 0)
    assert not one.flight.set_aside(again, "too slow"), "it was the last attempt"
    one.end(again)
    assert (one.context.visits, one.flight.begin_second_attempts()) == ({}, False)


def test_visits_that_are_set_aside_are_made_one_by_one() -> None:
    one = Flight()
    for path in ("/1", "/2", "/3"):
        one.gate.add_entry(entry(path))
    for now in (1e9, 2e9, 3e9):
        one.flight.set_aside(one.begin(now), "too slow")
    seen = []
    for now in (4e9, 5e9, 6e9):
        assert one.flight.begin_second_attempts()
        seen.append(one.begin(now).url[-2:])
        assert one.frontier.pop_entry(now + 5e8) is None
        one.end(one.context.visits[url_key(f"http://h.test{seen[-1]}")])
    assert (seen, one.flight.begin_second_attempts()) == (["/1", "/2", "/3"], False)


def test_a_visit_that_is_set_aside_stays_in_the_store_if_its_site_is_given_up() -> None:
    one = Flight()
    one.gate.add_entry(entry("/1"))
    one.flight.set_aside(one.begin(), "too slow")
    one.frontier.give_up_site("h.test")
    assert not one.flight.begin_second_attempts()
    assert (one.excluded, one.context.visits) == ([], {})


@pytest.mark.parametrize("in_vain", [False, True])
def test_second_attempts_keep_to_the_pages_of_a_site(in_vain: bool) -> None:
    one = Flight(pages_per_site=3)
    if in_vain:
        for number in range(MAX_IN_VAIN):
            one.flight.second.add(Visit(entry(f"/vain{number}"), UrlRecord("u", "s"), alone=True), "slow")
    one.gate.add_entry(entry("/fine"))
    one.end(one.begin())
    for number in range(4):
        one.gate.add_entry(entry(f"/slow{number}"))
    for number in range(4):
        assert one.flight.set_aside(one.begin(1e9 * (number + 1)), "too slow")
    began, now = [], 1e10
    while one.flight.begin_second_attempts():
        visit = one.begin(now := now + 1e9)
        began.append(visit.url)
        one.end(visit)
    assert began == ["http://h.test/slow0", "http://h.test/slow1"], "three pages in all"
    assert sorted(one.excluded) == ["http://h.test/slow2", "http://h.test/slow3"]
    assert not one.flight.second
    assert not one.frontier.pending


def test_a_site_waits_before_a_retry() -> None:
    one = Flight()
    one.gate.add_entry(entry("/1"))
    one.flight.retry_visit(one.begin(), 3600.0)
    at = one.frontier.next_at()
    assert at is not None
    assert at > 3000.0


def test_the_retry_of_a_sitemap_of_a_site_that_is_given_up_is_abandoned() -> None:
    one = Flight()
    one.gate.add_sitemap(entry("/sitemap.xml", seq=0))
    visit = one.begin()
    one.frontier.give_up_site("h.test")
    one.flight.retry_visit(visit, 0.0)
    assert one.abandoned == [visit.entry.key]
    assert one.frontier.pop_entry(1e9) is None
    assert not one.flight.must_fetch(visit.entry.key)


def test_an_entry_that_is_refused_ends_and_uses_no_turn() -> None:
    one = Flight()
    for path in ("/1", "/2"):
        one.gate.add_entry(entry(path))
    found = one.frontier.pop_entry(0.0)
    assert found is not None
    one.flight.refuse_entry(found, "a rule")
    assert (one.excluded, one.places) == (["http://h.test/1"], 0)
    assert one.frontier.pop_entry(0.0) is not None


def test_a_record_that_changes_reaches_the_visit_in_flight_or_waiting_for_a_retry() -> None:
    one = Flight()
    one.gate.add_entry(entry("/1"))
    visit = one.begin()
    changed = UrlRecord(visit.url, "s", 7)
    one.flight.replace_record(changed)
    assert visit.record is changed
    one.flight.retry_visit(visit, 0.0)
    later = UrlRecord(visit.url, "s", 8)
    one.flight.replace_record(later)
    assert visit.record is later


# ---- the budget


@pytest.mark.parametrize(
    ("status", "counts"), [(200, True), (206, True), (304, True), (301, False), (404, False), (0, False)]
)
def test_pages_that_were_read_or_are_unchanged_count(status: int, counts: bool) -> None:
    budget = PageBudget(1)
    visit = Visit(entry("/1"), UrlRecord("http://h.test/1", "s"), fetch=FetchResult(status=status))
    assert budget.count(visit) is counts
    assert (budget.is_spent("h.test"), budget.left("h.test"), budget.left("other")) == (
        counts,
        0 if counts else 1,
        1,
    )


def test_without_a_limit_nothing_is_counted() -> None:
    budget = PageBudget(None)
    visit = Visit(entry("/1"), UrlRecord("http://h.test/1", "s"), fetch=FetchResult(status=200))
    assert (budget.count(visit), budget.is_spent("h.test"), budget.is_begun("h.test")) == (
        False,
        False,
        False,
    )


def test_the_waiting_pages_of_a_site_that_used_up_its_budget_end() -> None:
    one = Flight(pages_per_site=1, stored=(entry("/stored", seq=9),))
    for path in ("/1", "/2"):
        one.gate.add_entry(entry(path))
    one.end(one.begin())
    assert one.excluded == ["http://h.test/2", "http://h.test/stored"]
    one.gate.add_entry(entry("/3"))
    assert one.excluded[-1] == "http://h.test/3"
    assert not one.gate.add_sitemap(entry("/sitemap.xml", seq=0))
    assert one.abandoned == [entry("/sitemap.xml").key]


def test_a_site_has_no_more_requests_at_a_time_than_pages_left() -> None:
    one = Flight(pages_per_site=2)
    for path in ("/1", "/2", "/3"):
        one.gate.add_entry(entry(path))
    one.end(one.begin())
    one.begin(100.0)
    assert one.frontier.pop_entry(1e9) is None, "one page is left, and in flight"


def test_a_resumed_run_goes_on_with_its_budget() -> None:
    one = Flight(pages_per_site=1, stored=(entry("/stored", seq=9), entry("/1", "other.test")))
    one.context.counters.resumed = True
    one.gate.load_stored_queue()
    assert one.excluded == ["http://h.test/stored"]
    assert one.frontier.hungry == {"other.test"}


def test_the_pages_of_a_site_that_waits_for_its_sitemaps_stay_in_the_store() -> None:
    one = Flight()
    one.sitemaps.waiting_sites.add("h.test")
    one.gate.add_entry(entry("/1"))
    assert (one.frontier.pop_entry(0.0), one.context.counters.scheduled) == (None, 1)
    one.gate.release_site("h.test")
    assert one.frontier.hungry == {"h.test"}
