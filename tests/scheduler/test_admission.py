"""From links to queue entries: what is new, what is known, what is excluded, and what that costs the store."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.boundary.rules import BoundaryRules, CrawlMode, DomainRule, Kind
from ultracrawl.rules.candidates.rules import CandidateRules
from ultracrawl.rules.urls import canonical
from ultracrawl.rules.urls.canonical import UrlPolicy, url_key
from ultracrawl.run.run_counters import RunCounters
from ultracrawl.scheduler import candidate_filter
from ultracrawl.scheduler.candidate_filter import (
    OUTSIDE_BOUNDARY,
    CandidateFilter,
    CandidateListeners,
    LinkPage,
    SeenUrls,
)
from ultracrawl.scheduler.link_urls import MALFORMED, TOO_LONG, LinkUrls
from ultracrawl.stores import SqliteStore

PAGE = "http://a.example/dir/page"


class CountingStore(SqliteStore):
    """Counts the look-ups that reach the document table."""

    def __init__(self) -> None:
        super().__init__(":memory:", "s")
        self._queries: list[str] = []
        self._db.set_trace_callback(self._queries.append)

    @property
    def lookups(self) -> int:
        return sum(query.startswith("SELECT key, url, depth FROM url") for query in self._queries)


@pytest.fixture
def state() -> CountingStore:
    store = CountingStore()
    store.begin_run(1.0, "")
    return store


def filter_of(
    state: SqliteStore,
    boundary: Boundary,
    count: Callable[[str], None] = lambda rule: None,
    **listeners: Any,
) -> CandidateFilter:
    urls = LinkUrls(UrlPolicy(), count, excluded=listeners.get("excluded", ()))
    told = CandidateListeners(count, **listeners)
    return CandidateFilter(urls, CandidateRules(boundary), state, lambda: 5.0, told)


def admit_with(state: SqliteStore, depth: int | None = None) -> tuple[CandidateFilter, Counter[str]]:
    rules = BoundaryRules(domains=(DomainRule(Kind.EXACT, "a.example"),), mode=CrawlMode(depth=depth))
    counters = RunCounters("s")
    return filter_of(state, Boundary(rules), counters.count_excluded), counters.rejected_by


def test_links_become_entries_once_in_their_order(state: CountingStore) -> None:
    admit, rejected = admit_with(state)
    found, inside = admit.admit(["x", "/y", "x#part", "HTTP://A.example:80/y", "mailto:me"], PAGE, 1)
    assert [one.url for one in found] == ["http://a.example/dir/x", "http://a.example/y"]
    assert list(inside) == [one.key for one in found]
    assert all((one.depth, one.site) == (1, "a.example") for one in found)
    assert not rejected


def test_a_rejected_link_is_counted_once_and_remembered(state: CountingStore) -> None:
    admit, rejected = admit_with(state)
    for _ in range(3):
        found, inside = admit.admit(["http://b.example/"], PAGE, 1)
        assert (found, list(inside)) == ([], [])
    assert rejected == {"no include domain matches": 1}
    assert state.lookups == 0, "a table of few URLs is not asked for one that it cannot hold"


def test_links_outside_are_logged_for_those_who_look_for_them(
    state: CountingStore, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        admit_with(state)[0].admit(["http://b.example/", "http://["], PAGE, 1)
    assert [(record.levelname, record.getMessage()[:5]) for record in caplog.records] == [
        ("DEBUG", "30030"),
        ("DEBUG", "30027"),
    ]


def test_navigation_bars_cost_no_query(state: CountingStore) -> None:
    admit, _ = admit_with(state)
    bar = [f"/nav/{number}" for number in range(50)]
    admit.admit(bar, PAGE, 1)
    before = state.lookups
    found, inside = admit.admit(bar, "http://a.example/other", 1)
    assert (found, len(inside), state.lookups) == ([], 50, before)


def test_known_urls_of_an_earlier_run_are_asserted_not_queued(state: CountingStore) -> None:
    first, _ = admit_with(state)
    (entry,), _ = first.admit(["/known"], PAGE, 1)
    state.flush()
    second, _ = admit_with(state)
    found, inside = second.admit(["/known"], PAGE, 1)
    assert (found, list(inside)) == ([], [entry.key])


def test_too_deep_links_may_come_back_by_a_shorter_route(state: CountingStore) -> None:
    admit, rejected = admit_with(state, depth=2)
    assert admit.admit(["/x"], PAGE, 3)[0] == []
    assert rejected == {"depth 2": 1}
    assert [one.url for one in admit.admit(["/x"], PAGE, 2)[0]] == ["http://a.example/x"]


def test_a_shorter_route_to_a_known_url_is_reported(state: CountingStore) -> None:
    admit, _ = admit_with(state)
    admit.admit(["/x"], PAGE, 5)
    admit.admit(["/x"], PAGE, 2)
    assert admit.shorter_routes == [(url_key("http://a.example/x"), 2)]


@pytest.mark.parametrize(("depth", "shorter"), [(2, [2]), (5, []), (6, [])])
def test_a_shorter_route_to_a_url_of_an_earlier_run_is_reported(
    state: CountingStore, depth: int, shorter: list[int]
) -> None:
    admit_with(state)[0].admit(["/x"], PAGE, 5)
    state.flush()
    later, _ = admit_with(state)
    for _ in range(2):
        later.admit(["/x"], PAGE, depth)
        assert later.shorter_routes == [(url_key("http://a.example/x"), one) for one in shorter], (
            "at once, and once"
        )


def test_what_was_met_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidate_filter, "GENERATION_SIZE", 10)
    seen = SeenUrls()
    for key in range(100):
        seen.add_url(key, f"http://a.example/{key}", 1)
    assert seen.get(0) is None
    assert seen.get(99) >> candidate_filter.HASH_BITS == 1
    assert len(seen._young) + len(seen._old) <= 20


@pytest.mark.parametrize(
    ("href", "told"),
    [
        ("http://a.example/" + "x" * 3000, ("URL too long", TOO_LONG)),
        ("http://a..example/", ("malformed URL", MALFORMED)),
        ("http://b.example/", ("no include domain matches", OUTSIDE_BOUNDARY)),
        ("mailto:me", None),
        ("ftp://a.example/", None),
    ],
)
def test_what_is_excluded_is_reported_once_with_its_message(
    state: CountingStore, href: str, told: tuple[str, str] | None
) -> None:
    rules = BoundaryRules(domains=(DomainRule(Kind.EXACT, "a.example"),))
    screened: list[tuple[str, ...]] = []
    admit = filter_of(state, Boundary(rules), excluded=[lambda *words: screened.append(words)])
    for _ in range(2):
        admit.admit([href], PAGE, 1)
    assert screened == ([(href, told[0], PAGE, told[1])] if told else [])


def test_a_page_is_its_url_and_not_what_its_links_are_joined_to(state: CountingStore) -> None:
    boundary = Boundary(BoundaryRules(mode=CrawlMode(fwdlinks=False)))
    admit = filter_of(state, boundary)
    found, _ = admit.admit(["x"], "http://cdn.example/base/", 1, PAGE)
    assert found == [], "the page of a.example links to another host"
    found, _ = admit.admit(["/x"], "http://a.example/base/", 1, PAGE)
    assert [one.url for one in found] == ["http://a.example/x"]


def test_a_new_url_that_is_not_admitted_in_this_cycle_is_known_and_waits_nowhere(
    state: CountingStore,
) -> None:
    full = {"a.example"}
    gates = [lambda site: site not in full]
    admit = filter_of(state, Boundary(), gates=gates)
    found, inside = admit.admit(["/x"], PAGE, 1)
    assert (found, list(inside)) == ([], [url_key("http://a.example/x")])
    state.flush()
    assert state.records.known_urls(list(inside)) == {inside[0]: ("http://a.example/x", 1)}
    assert state.queue.entries_of("a.example", 9) == []
    full.clear()
    assert [one.url for one in admit.admit(["/y"], PAGE, 1)[0]] == ["http://a.example/y"]


# ---- two URLs with one key


@pytest.fixture
def same_keys(monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Two URLs with one key, as keys have 16 bits."""
    digest = canonical.xxh3_64_intdigest
    monkeypatch.setattr(canonical, "xxh3_64_intdigest", lambda data: digest(data) & 0xFFFF)
    urls: dict[int, str] = {}
    for number in range(100_000):
        url = f"http://a.example/{number}"
        if (first := urls.setdefault(url_key(url), url)) != url:
            return first, url
    raise AssertionError("no two URLs share a key")


@pytest.mark.parametrize("between", ["", "a page", "a flush", "a run"])
def test_of_two_urls_with_one_key_the_second_is_reported_and_the_first_stays(
    state: CountingStore, same_keys: tuple[str, str], between: str
) -> None:
    shared: list[tuple[str, str]] = []

    def made() -> CandidateFilter:
        return filter_of(state, Boundary(), shares_key=lambda *urls: shared.append(urls))

    admit, (first, second) = made(), same_keys
    pages = [[first], [second]] if between else [[first, second]]
    found: list[str] = []
    for links in pages:
        found += [one.url for one in admit.admit(links, PAGE, 1)[0]]
        if between == "a flush":
            state.flush()
        elif between == "a run":
            state.flush()
            admit = made()
    assert found == [first]
    assert shared == [(second, first)]
    assert state.records.known_urls([url_key(first)]) == {url_key(first): (first, 1)}
    assert [one.url for one in admit.admit([first], PAGE, 0)[0]] == []
    assert admit.shorter_routes == [(url_key(first), 0)], "the first one is followed as before"


def test_a_rejected_url_does_not_keep_another_with_its_key_out(
    state: CountingStore, same_keys: tuple[str, str]
) -> None:
    rejected: list[str] = []
    elsewhere = Boundary(BoundaryRules(domains=(DomainRule(Kind.EXACT, "b.example"),)))
    admit = filter_of(state, elsewhere, rejected.append)
    for url in (*same_keys, *same_keys):
        admit.admit([url], PAGE, 1)
    assert len(rejected) == 2, "each is judged, once"


def test_a_url_that_was_too_deep_is_compared_again(state: CountingStore, same_keys: tuple[str, str]) -> None:
    shared: list[tuple[str, str]] = []
    first, second = same_keys
    rules = BoundaryRules(mode=CrawlMode(depth=2))
    admit = filter_of(state, Boundary(rules), shares_key=lambda *urls: shared.append(urls))
    admit.admit([second], PAGE, 3)
    admit.admit([first], PAGE, 1)
    admit.admit([second], PAGE, 2)
    assert shared == [(second, first)]


def test_a_url_is_compared_again_after_another_left_the_table(
    state: CountingStore, same_keys: tuple[str, str]
) -> None:
    shared: list[tuple[str, str]] = []
    first, second = same_keys
    admit = filter_of(state, Boundary(), shares_key=lambda *urls: shared.append(urls))
    admit.admit([first], PAGE, 1)
    state.drop_urls([url_key(first)])
    admit.forget([url_key(first)])
    assert [one.url for one in admit.admit([second], PAGE, 1)[0]] == [second]
    admit.admit([first], PAGE, 1)
    assert shared == [(first, second)]


# ---- links that wait for the next flush


def waiting_page(depth: int = 1) -> LinkPage:
    return LinkPage(PAGE, depth, may_wait=True)


def flushed(state: CountingStore, admit: CandidateFilter) -> list[str]:
    """Flush as a crawl does; returns the URLs that turned out to be new."""
    state.records.look_up_later(admit.late)
    state.flush()
    return [one.url for one in admit.settle(list(admit.late), state.records.looked_up())]


@pytest.fixture
def grown(state: CountingStore) -> CountingStore:
    """A store with a URL of an earlier run at depth 5."""
    admit_with(state)[0].admit(["/x"], PAGE, 5)
    state.flush()
    return state


@pytest.mark.parametrize(("depth", "shorter"), [(2, [2]), (5, []), (6, [])])
def test_a_link_to_a_known_url_costs_no_look_up_of_its_own(
    grown: CountingStore, depth: int, shorter: list[int]
) -> None:
    (admit, rejected), x = admit_with(grown), "http://a.example/x"
    assert not grown.records.known_urls([7])  # the keys are loaded
    before = grown.lookups
    for deeper in (0, 1, 0):
        found, inside = admit.admit_resolved([x], waiting_page(depth + deeper))
        assert (found, list(inside)) == ([], [url_key(x)])
    assert grown.lookups == before
    assert admit.shorter_routes == []
    assert flushed(grown, admit) == []
    assert grown.lookups == before + 1
    assert admit.shorter_routes == [(url_key(x), one) for one in shorter]
    admit.admit_resolved([x], waiting_page(depth))
    assert (grown.lookups, admit.late, rejected) == (before + 1, {}, {})


def test_a_new_url_waits_for_nothing(grown: CountingStore) -> None:
    admit, rejected = admit_with(grown)
    found, inside = admit.admit_resolved(
        ["http://a.example/y", "http://b.example/", "http://a.example/x"], waiting_page()
    )
    assert [one.url for one in found] == ["http://a.example/y"]
    assert (len(inside), list(admit.late), sum(rejected.values())) == (2, [url_key("http://a.example/x")], 1)


@pytest.mark.parametrize(("url", "found"), [("http://a.example/x", 1), ("http://b.example/x", 0)])
def test_a_url_that_was_taken_for_known_is_admitted_by_the_rules_after_the_flush(
    state: CountingStore, url: str, found: int
) -> None:
    filter_of(state, Boundary()).admit([url], PAGE, 5)
    assert state.records.known_urls([url_key(url)])
    state.drop_urls([url_key(url)])
    admit, rejected = admit_with(state)
    assert admit.admit_resolved([url], waiting_page())[0] == []
    assert len(flushed(state, admit)) == found
    assert rejected.total() == 1 - found
    assert (url_key(url) in state.records.known_urls([url_key(url)])) is bool(found)
    assert admit.admit_resolved([url], waiting_page())[0] == []
    assert flushed(state, admit) == []


@pytest.mark.parametrize("links", [[1], [0, 1]], ids=["alone", "behind-the-other"])
def test_a_url_with_the_key_of_a_known_one_is_reported_after_the_flush(
    state: CountingStore, same_keys: tuple[str, str], links: list[int]
) -> None:
    shared: list[tuple[str, str]] = []
    filter_of(state, Boundary()).admit([same_keys[0]], PAGE, 1)
    state.flush()
    admit = filter_of(state, Boundary(), shares_key=lambda *urls: shared.append(urls))
    for link in links:
        assert admit.admit_resolved([same_keys[link]], waiting_page())[0] == []
    assert flushed(state, admit) == []
    assert shared == [(same_keys[1], same_keys[0])]


def test_links_of_pages_do_not_wait_without_end(
    grown: CountingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidate_filter, "MAX_LATE_KEYS", 0)
    admit, _ = admit_with(grown)
    admit.admit_resolved(["http://a.example/x"], waiting_page())
    assert admit.late == {}


def test_what_waits_for_a_url_is_done_when_its_turn_comes(grown: CountingStore) -> None:
    (admit, _), x = admit_with(grown), "http://a.example/x"
    assert not grown.records.known_urls([7])  # the keys are loaded
    admit.admit_resolved([x], waiting_page(3))
    before = grown.lookups
    admit.settle_one(url_key(x), x, 5)
    assert (admit.shorter_routes, admit.late) == ([(url_key(x), 3)], {})
    admit.admit_resolved([x], waiting_page(2))
    assert admit.shorter_routes == [(url_key(x), 3), (url_key(x), 2)], (
        "it is known from now on, and its depth"
    )
    assert grown.lookups == before


@pytest.mark.parametrize("order", [1, -1], ids=["open-first", "closed-first"])
def test_a_url_that_was_taken_for_known_is_admitted_by_the_page_that_may(
    state: CountingStore, order: int
) -> None:
    url = "http://a.example/x"
    filter_of(state, Boundary()).admit([url], PAGE, 5)
    assert state.records.known_urls([url_key(url)])
    state.drop_urls([url_key(url)])
    admit, hops = filter_of(state, Boundary()), list[tuple[int, int]]()
    admit.on_late_admitted = lambda *found: hops.append(found)
    pages = [waiting_page(4)._replace(hops=2), waiting_page(1)._replace(closed="focused")]
    for page in pages[::order]:
        assert admit.admit_resolved([url], page)[0] == []
    assert flushed(state, admit) == [url]
    assert hops == [(url_key(url), 2)]
    assert state.records.known_urls([url_key(url)]) == {url_key(url): (url, 1)}
