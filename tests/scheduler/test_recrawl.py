"""Known URLs that are fetched in a run: those that something links to, changed records, shorter routes."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from support.context import made_context

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.candidates.rules import CandidateRules
from ultracrawl.rules.recrawl.cycle import RefreshMode
from ultracrawl.rules.urls.canonical import UrlPolicy, url_key
from ultracrawl.run import CrawlContext, Visit
from ultracrawl.run.ending import Ending
from ultracrawl.scheduler.candidate_filter import CandidateFilter, CandidateListeners, LinkPage
from ultracrawl.scheduler.link_urls import LinkUrls
from ultracrawl.scheduler.recrawl import RecrawlActivator, RepeatVisits
from ultracrawl.stores import QueueEntry, RunMark, SqliteStore

SITE = "http://h.test"
BEGAN = 1000.0


def url(path: str) -> str:
    return f"{SITE}{path}"


def key(path: str) -> int:
    return url_key(url(path))


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    """A store in which an earlier run has fetched /a to /d at depth 3."""
    state = SqliteStore(":memory:", "s")
    state.begin_run(1.0, "")
    for path in ("/a", "/b", "/c", "/d"):
        entry = QueueEntry(key(path), url(path), "h.test", 3, state.queue.next_seq())
        state.records.discover_url(entry, 1.0)
        known = UrlRecord(url(path), "s", 3, outcome=UrlOutcome.NEW, last_fetched=2.0, indexed=True)
        state.records.finish_url(entry, known)
    state.end_run(RunMark(1, 1.0, finished=3.0))
    state.begin_run(BEGAN, "")
    yield state
    state.close()


def context_over(store: SqliteStore, mode: RefreshMode = RefreshMode.SCRATCH, **rules: Any) -> CrawlContext:
    """Return the context of a run that began at `BEGAN`."""
    named = {"depth_limit": None, "counts_links": False, "listed": False, **rules}
    context = made_context(
        rules=SimpleNamespace(levels=SimpleNamespace(of=lambda _: 1), **named), store=store
    )
    context.run.mark = RunMark(2, BEGAN, mode=mode)
    return context


class Activated:
    """An activator whose queued entries are collected."""

    def __init__(self, context: CrawlContext, *, sitemaps: tuple[str, ...] = ()) -> None:
        def ignore(_: str) -> None:
            """What is rejected does not matter."""

        self.queued: list[QueueEntry] = []
        self.expected: list[str] = []
        files = {key(path) for path in sitemaps}
        self.links = CandidateFilter(
            LinkUrls(UrlPolicy(), ignore),
            CandidateRules(Boundary()),
            context.store,
            lambda: BEGAN,
            CandidateListeners(ignore),
        )
        self.activator = RecrawlActivator(
            context, self.links, self.queued.append, self.expected.append, files.__contains__
        )
        self.links.on_known, self.links.on_late = self.activator.note_linked, self.activator.note_late

    def paths(self) -> list[str]:
        """Return what is queued when all that waits is looked up."""
        if self.links.late and self.activator.requests_linked:
            self.links.settle(list(self.links.late), self.activator.look_up_late())
        found = [one.url.removeprefix(SITE) for one in self.queued]
        self.queued.clear()
        return sorted(found)


# ---- URLs that something links to


def test_a_known_url_is_queued_once_in_a_cycle_when_something_links_to_it(store: SqliteStore) -> None:
    one = Activated(context_over(store))
    one.activator.note_linked([key("/a"), key("/b")])
    one.activator.note_linked([key("/a")])
    assert one.paths() == ["/a", "/b"]
    assert store.queue.is_waiting(key("/a"))
    assert not one.activator.is_fresh(key("/a"))
    assert one.activator.is_fresh(key("/c"))


@pytest.mark.parametrize(
    ("mode", "queued"),
    [(RefreshMode.KNOWN, []), (RefreshMode.ADAPTIVE, []), (RefreshMode.APPEND, ["/a"])],
)
def test_links_queue_known_urls_in_the_modes_that_begin_with_the_start_urls(
    store: SqliteStore, mode: RefreshMode, queued: list[str]
) -> None:
    one = Activated(context_over(store, mode))
    one.activator.note_linked([key("/a")])
    assert one.paths() == queued
    assert one.activator.on is (mode is not RefreshMode.KNOWN)


def test_a_sitemap_is_not_queued_as_a_page(store: SqliteStore) -> None:
    one = Activated(context_over(store), sitemaps=("/a",))
    one.activator.note_linked([key("/a"), key("/b")])
    assert one.paths() == ["/b"]


def test_a_start_url_of_an_adaptive_cycle_is_queued_in_its_first_part_only(store: SqliteStore) -> None:
    for minor, queued in ((0, ["/a"]), (1, [])):
        context = context_over(store, RefreshMode.ADAPTIVE)
        context.run.mark = replace(context.run.mark, minor=minor)
        one = Activated(context)
        seeds = one.activator.meet_seeds([key("/a" if minor == 0 else "/b")])
        assert [one.activator.queue_known_seed(seed) for seed in seeds.values()] == [True] * (minor == 0)
        assert one.paths() == queued


def visit_of(path: str, record: UrlRecord, outcome: UrlOutcome, links: bytes = b"") -> Visit:
    visit = Visit(QueueEntry(key(path), url(path), "h.test", record.depth, 1), record)
    visit.note_links(links)
    visit.note_ending(Ending(outcome))
    return visit


def test_an_unchanged_page_counts_as_leading_to_its_stored_links(store: SqliteStore) -> None:
    one = Activated(context_over(store))
    links = array("q", [key("/b"), key("/c"), url_key(url("/never"))]).tobytes()
    record = store.records.get_record(key("/a"))
    assert record is not None
    one.activator.visit_ended(visit_of("/a", replace(record, links=links), UrlOutcome.MODIFIED))
    assert one.paths() == [], "a page that was read has given its links itself"
    one.activator.visit_ended(visit_of("/a", replace(record, links=links), UrlOutcome.NOT_MODIFIED))
    assert one.paths() == ["/b", "/c"]


def test_a_page_that_is_not_indexed_and_not_modified_counts_as_leading_to_its_links(
    store: SqliteStore,
) -> None:
    one = Activated(context_over(store))
    record = store.records.get_record(key("/a"))
    assert record is not None
    known = replace(record, links=array("q", [key("/b")]).tobytes())
    visit = visit_of("/a", known, UrlOutcome.NOT_INDEXED)
    one.activator.visit_ended(visit)
    assert one.paths() == []
    visit.note_answer(visit.fetch._replace(status=304))
    one.activator.visit_ended(visit)
    assert one.paths() == ["/b"]


def test_the_links_of_a_page_that_a_sitemap_vouches_for_follow_after_the_refill(store: SqliteStore) -> None:
    one = Activated(context_over(store))
    record = store.records.get_record(key("/a"))
    assert record is not None
    one.activator.unchanged_skipped(replace(record, links=array("q", [key("/d")]).tobytes()))
    assert one.paths() == []
    one.activator.catch_up()
    assert one.paths() == ["/d"]
    one.activator.catch_up()
    assert one.paths() == []


def test_links_of_pages_keep_their_places_in_the_queue_until_they_are_looked_up(store: SqliteStore) -> None:
    """A new URL behind a known one stays behind it, and what one more page leads to is queued once."""
    one = Activated(context_over(store))
    assert store.records.known_urls([7]) == {}  # the keys are loaded
    new: list[QueueEntry] = []
    for links in (["/b", "/new", "/a"], ["/a", "/c", "/later"]):
        found, inside = one.links.admit_resolved(
            [url(path) for path in links], LinkPage(url("/"), 1, may_wait=True)
        )
        new += found
        assert len(inside) == 3
    assert one.queued == []
    assert one.expected == ["h.test"] * 3
    assert one.links.settle(list(one.links.late), one.activator.look_up_late()) == []
    by_place = sorted((*new, *one.queued), key=lambda entry: entry.seq)
    assert [one.url.removeprefix(SITE) for one in by_place] == ["/b", "/a", "/new", "/c", "/later"]
    assert one.links.shorter_routes == [(key(path), 1) for path in ("/b", "/a", "/c")]
    assert not any(map(one.activator.is_fresh, map(key, ("/a", "/b", "/c"))))


def test_links_of_an_adaptive_cycle_count_as_seen_without_a_look_up(store: SqliteStore) -> None:
    one = Activated(context_over(store, RefreshMode.ADAPTIVE))
    assert store.records.known_urls([7]) == {}  # the keys are loaded
    statements: list[str] = []
    store._db.set_trace_callback(statements.append)
    one.links.admit_resolved([url("/a"), url("/new")], LinkPage(url("/"), 1, may_wait=True))
    assert (statements, one.expected, one.queued) == ([], [], [])
    assert not one.activator.is_fresh(key("/a"))
    assert one.activator.is_fresh(key("/b"))


def test_an_orphan_is_asked_for_and_counts_as_seen(store: SqliteStore) -> None:
    one = Activated(context_over(store))
    one.activator.queue_orphan(key("/a"))
    one.activator.queue_orphan(url_key(url("/never")))
    assert one.paths() == ["/a"]
    assert not one.activator.is_fresh(key("/a"))


# ---- URLs that are fetched again


class Repeated:
    """Repeats over a store, whose placed entries are collected."""

    def __init__(self, store: SqliteStore, **rules: Any) -> None:
        self.store, self.placed = store, list[QueueEntry]()
        self.context = context_over(store, **rules)
        self.fresh: set[int] = set()
        self.waiting: dict[int, Visit] = {}
        self.repeats = RepeatVisits(
            self.context, self.placed.append, self.fresh.__contains__, self.waiting.get
        )

    def record(self, path: str) -> UrlRecord:
        found = self.store.records.get_record(key(path))
        assert found is not None
        return found

    def fetch(self, path: str) -> None:
        """Have the run fetch a page."""
        self.store.records.amend_record(key(path), replace(self.record(path), last_fetched=BEGAN + 1))

    def paths(self) -> list[tuple[str, int]]:
        found = [(one.url.removeprefix(SITE), one.depth) for one in self.placed]
        self.placed.clear()
        return found


def test_a_changed_record_is_fetched_again_if_the_run_was_there_already(store: SqliteStore) -> None:
    one = Repeated(store)
    one.repeats.fetch_again(one.record("/a"))
    assert one.paths() == [], "it waits for its turn in this run anyway"
    one.fetch("/a")
    one.repeats.fetch_again(one.record("/a"))
    assert one.paths() == [("/a", 3)]
    assert one.repeats.must_fetch(key("/a"))
    assert one.repeats.pop_unconditional(key("/a"))
    assert not one.repeats.pop_unconditional(key("/a")), "once"
    assert not one.repeats.must_fetch(key("/a"))


def test_what_waits_to_be_fetched_again_is_not_queued_a_second_time(store: SqliteStore) -> None:
    one = Repeated(store, depth_limit=4)
    one.fetch("/a")
    one.repeats.fetch_again(one.record("/a"))
    one.repeats.fetch_again(one.record("/a"))
    one.repeats.apply_shorter_routes([(key("/a"), 1)])
    assert one.paths() == [("/a", 3)]
    (entry,) = [
        found for found in store.queue.entries_of("h.test", 9) if found.key == key("/a") and found.seq > 3
    ]
    assert one.repeats.shorter_depth(entry, one.record("/a")) == 1
    one.repeats.forget([key("/a")])
    one.repeats.fetch_again(one.record("/a"))
    assert one.paths() == [("/a", 3)], "it was taken out of the queue"


def test_a_changed_record_that_nothing_has_led_to_yet_is_fetched(store: SqliteStore) -> None:
    one = Repeated(store)
    one.fresh.add(key("/b"))
    one.repeats.fetch_again(one.record("/b"))
    assert one.paths() == [("/b", 3)]


def test_a_record_that_changes_while_its_page_is_fetched_is_fetched_once_more(store: SqliteStore) -> None:
    one = Repeated(store)
    visit = visit_of("/a", one.record("/a"), UrlOutcome.UNMODIFIED)
    one.context.visits[key("/a")] = visit
    changed = replace(one.record("/a"), display_url="http://shown.test/")
    one.repeats.fetch_again(changed)
    assert (one.paths(), visit.record) == ([], changed)
    del one.context.visits[key("/a")]
    one.repeats.visit_finished(visit)
    assert one.paths() == [("/a", 3)]
    one.repeats.visit_finished(visit)
    assert one.paths() == [], "once"


def test_a_page_that_waits_for_a_retry_is_read_in_full_then_and_not_queued(store: SqliteStore) -> None:
    one = Repeated(store, depth_limit=4)
    visit = visit_of("/a", one.record("/a"), UrlOutcome.UNMODIFIED)
    one.waiting[key("/a")] = visit
    one.repeats.fetch_now([one.record("/a")])
    assert visit.rescan
    assert not one.repeats.must_fetch(key("/a")), "nothing else is queued for that"
    one.repeats.fetch_again(replace(one.record("/a"), display_url="http://shown.test/"))
    assert visit.display_url == "http://shown.test/"
    one.fetch("/a")
    one.repeats.apply_shorter_routes([(key("/a"), 1)])
    assert (visit.depth, one.paths()) == (1, [])


def test_a_document_that_a_lister_vouched_for_is_fetched_if_its_record_changes(store: SqliteStore) -> None:
    one = Repeated(store, listed=True)
    one.repeats.fetch_again(one.record("/a"))
    assert one.paths() == [], "it waits for its turn"
    (entry,) = [found for found in store.queue.entries_of("h.test", 9) if found.key == key("/a")]
    store.records.finish_url(entry, one.record("/a"))
    store.flush()
    one.repeats.fetch_again(one.record("/a"))
    assert one.paths() == [("/a", 3)]


def test_without_a_limit_of_depth_a_shorter_route_changes_nothing(store: SqliteStore) -> None:
    one = Repeated(store)
    one.fetch("/a")
    one.repeats.apply_shorter_routes([(key("/a"), 1)])
    assert (one.paths(), one.record("/a").depth) == ([], 3)


def test_a_shorter_route_to_a_page_that_was_read_fetches_it_again_for_its_links(store: SqliteStore) -> None:
    one = Repeated(store, depth_limit=4)
    one.fetch("/a")
    one.repeats.apply_shorter_routes([(key("/a"), 1), (key("/b"), 2)])
    assert one.paths() == [("/a", 1)], "the other is still to come in this run"
    assert one.record("/b").depth == 2, "it is stored: a crawl that is killed goes on with it"
    waiting = QueueEntry(key("/b"), url("/b"), "h.test", 3, 9)
    assert one.repeats.shorter_depth(waiting, one.record("/b")) == 2
    assert one.repeats.shorter_depth(waiting, replace(one.record("/b"), depth=3)) is None, "it is forgotten"


def test_a_shorter_route_to_a_page_in_flight_is_taken_when_it_ends(store: SqliteStore) -> None:
    one = Repeated(store, depth_limit=4)
    visit = visit_of("/a", one.record("/a"), UrlOutcome.UNMODIFIED)
    one.context.visits[key("/a")] = visit
    one.repeats.apply_shorter_routes([(key("/a"), 1)])
    assert one.paths() == []
    one.repeats.visit_finished(visit)
    assert one.paths() == [("/a", 1)]
