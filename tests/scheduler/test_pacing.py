"""What requests teach about sites: answers, errors, walls, mirrors, robots.txt; what is stored of it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from support.context import made_context
from support.frontier import delay_of, made_frontier

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.frontier.politeness.backoff import BackOff
from ultracrawl.rules.frontier.politeness.pace import Pace
from ultracrawl.rules.robots.policy import RobotsPolicy
from ultracrawl.rules.robots.rules import RobotsRules
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run import Visit
from ultracrawl.run.ending import Ending
from ultracrawl.run.results import FetchResult
from ultracrawl.run.run_counters import MAX_NAMED
from ultracrawl.scheduler.pacing import LISTED_CONCURRENCY, Pacing, lowest_address
from ultracrawl.stores import QueueEntry, RunMark, SiteClock, StoredSite
from ultracrawl.stores.sqlite.shared import SqliteSiteStore

NOW = 1000.0


class Sites:
    """What the store of a source knows of sites."""

    def __init__(self, *rows: StoredSite) -> None:
        self.rows = {row.site: row for row in rows}
        self.renewed: tuple[str, ...] = ()
        self.get_site = self.rows.get

    def special_sites(self) -> list[StoredSite]:
        return list(self.rows.values())

    def put_site(self, row: StoredSite) -> None:
        self.rows[row.site] = row


class Course:
    """The pacing of a source over a frontier with a delay of two seconds."""

    def __init__(
        self,
        *rows: StoredSite,
        aliases: dict[str, str] | None = None,
        limit: int = 3,
        kind: str = "web",
        robots: RobotsPolicy | None = None,
        clock: SiteClock | None = None,
    ) -> None:
        """`clock` is what an earlier crawl has stored about a site."""
        self.frontier = made_frontier(Pace(2.0, 1, backoff=BackOff(limit=limit)), leases=True)
        self.sites, self.abandoned = Sites(*rows), list[int]()
        self.woken = 0
        self.shared = SqliteSiteStore(":memory:")
        if clock is not None:
            earlier = self.shared.register_crawl("earlier", 60.0)
            self.shared.lease_sites(earlier, {clock.site: [clock.site]})
            now = self.shared.now()
            self.shared.release_sites(
                earlier, [replace(clock, requested=now - clock.delay, next_at=now + clock.delay)]
            )
            self.shared.close_crawl(earlier)
        source = SimpleNamespace(name="s", type=kind, sites=SimpleNamespace(aliases=aliases or {}))
        queue = SimpleNamespace(number_by_level=lambda _: {1: 4})
        context = made_context(
            source,
            rules=SimpleNamespace(robots=robots or RobotsPolicy()),
            store=SimpleNamespace(sites=self.sites, queue=queue, flush=lambda: None),
            sites=self.shared,
            documents=SimpleNamespace(writer=SimpleNamespace(sync=lambda: None)),
            clock=lambda: NOW,
        )
        context.run.mark = RunMark(7, 900.0)
        self.context = context
        self.pacing = Pacing(
            context,
            self.frontier,
            cast("Any", None),
            self.abandoned.append,
            wake=self._wake,
            paused=lambda: False,
        )
        self.pacing.begin()

    def _wake(self) -> None:
        self.woken += 1

    def queue(self, site: str = "h.test", seq: int = 1) -> QueueEntry:
        url = f"http://{site}/{seq}"
        entry = QueueEntry(url_key(url), url, site, 0, seq)
        self.frontier.add_entry(entry)
        return entry

    def visit(self, entry: QueueEntry, outcome: UrlOutcome = UrlOutcome.NEW, **fetch: Any) -> None:
        """Have a visit begin and end."""
        visit = Visit(entry, UrlRecord(entry.url, "s"))
        self.pacing.visit_begun(visit)
        visit.note_answer(FetchResult(**fetch))
        visit.note_ending(Ending(outcome))
        self.pacing.note_end(visit)


def test_errors_slow_a_site_and_answers_make_it_quicker_again() -> None:
    one = Course()
    entry = one.queue()
    one.visit(entry, UrlOutcome.NETWORK_ERROR, error="refused")
    assert delay_of(one.frontier, "h.test") == 4.0
    for status in (503, 429):
        one.visit(entry, status=status)
        assert delay_of(one.frontier, "h.test") == 4.0, "it answered, but not well"
    one.visit(entry, status=200)
    assert delay_of(one.frontier, "h.test") == 2.0


def test_a_site_with_too_many_errors_is_given_up_with_its_sitemaps_and_its_entries_stay() -> None:
    one = Course(limit=2)
    entry, sitemap = one.queue(), one.queue(seq=0)
    one.visit(entry, UrlOutcome.NETWORK_ERROR, error="refused")
    assert "h.test" not in one.frontier.given_up
    one.visit(entry, UrlOutcome.NETWORK_ERROR, error="refused")
    assert one.frontier.given_up == {"h.test"}
    assert one.abandoned == [sitemap.key]
    assert one.sites.rows["h.test"].given_up == 7
    one.pacing.release_sites()
    assert one.context.counters.as_report().given_up == {"h.test": 4}


@pytest.mark.parametrize(
    ("outcome", "fetch", "errors"),
    [
        (UrlOutcome.NETWORK_ERROR, {"error": "refused"}, True),
        (UrlOutcome.ROBOTS, {"error": "refused"}, False),
        (UrlOutcome.NEW, {"status": 200, "wall": "challenge"}, True),
        (UrlOutcome.HTTP_ERROR, {"status": 404}, False),
    ],
    ids=["network", "robots.txt", "wall", "not found"],
)
def test_network_errors_and_walls_count_against_a_site(
    outcome: UrlOutcome, fetch: dict[str, Any], errors: bool
) -> None:
    one = Course(limit=1)
    one.visit(one.queue(), outcome, **fetch)
    assert ("h.test" in one.frontier.given_up) is errors


@pytest.mark.parametrize(
    ("fetch", "outcome", "delay"),
    [
        ({"status": 200}, UrlOutcome.NEW, 2.0),
        ({"status": 404}, UrlOutcome.GONE, 2.0),
        ({"status": 503}, UrlOutcome.HTTP_ERROR, 64.0),
        ({"status": 403, "wall": "challenge"}, UrlOutcome.HTTP_ERROR, 128.0),
        ({"error": "refused"}, UrlOutcome.NETWORK_ERROR, 128.0),
        ({"error": "refused"}, UrlOutcome.ROBOTS, 2.0),
    ],
    ids=["answer", "not found", "overload", "wall", "error", "no request"],
)
def test_the_first_answer_of_a_site_decides_about_the_back_off_of_an_earlier_crawl(
    fetch: dict[str, Any], outcome: UrlOutcome, delay: float
) -> None:
    one = Course(limit=99, clock=SiteClock("h.test", delay=64.0, errors=5, slowed=64.0))
    entry = one.queue()
    one.pacing.prepare_sites()
    one.visit(entry, outcome, **fetch)
    assert delay_of(one.frontier, "h.test") == delay


def test_a_site_that_is_left_alone_for_long_is_reported_until_it_answers() -> None:
    one = Course(limit=9)
    entry, run = one.queue(), one.context.run
    for _ in range(2):
        one.visit(entry, UrlOutcome.NETWORK_ERROR, error="refused")
    assert not run.waits, "it is asked again soon"
    one.visit(entry, UrlOutcome.NETWORK_ERROR, error="refused")
    wait = run.waits["h.test"]
    assert (wait.site, wait.until) == ("h.test", NOW), "the test has sent no request that a delay counts from"
    assert run.failing_sites.keys() == {"h.test"}
    one.visit(entry, status=200)
    assert (run.waits, run.failing_sites) == ({}, {})


def test_what_a_crawl_waits_for_is_what_ends_with_its_next_request() -> None:
    one = Course()
    run = one.context.run
    one.queue("a.test")
    one.queue("b.test")
    one.pacing.prepare_sites()
    one.pacing.hold_site("a.test", 120.0)
    one.pacing.tick()
    assert run.wait is None, "the other site may be requested"
    one.pacing.hold_site("b.test", 60.0)
    one.pacing.tick()
    assert run.wait is not None
    assert (run.wait.site, run.wait.until) == ("b.test", NOW + 60.0)
    one.pacing.end_hold("a.test")
    one.pacing.tick()
    assert run.wait is None


def test_a_wait_that_an_earlier_crawl_has_left_is_reported() -> None:
    one = Course(clock=SiteClock("h.test", on_hold=True, delay=120.0))
    one.queue()
    one.pacing.prepare_sites()
    one.pacing.tick()
    assert one.context.run.wait is not None
    assert one.context.run.wait.site == "h.test"


def test_a_report_names_some_of_many_failing_sites() -> None:
    run = Course().context.run
    for number in range(MAX_NAMED + 2):
        run.note_failing_site(f"h{number}.test", "refused", 3, NOW)
    told = run.failing_remarks
    assert told[:-1] == list(run.failing_sites.values())[:MAX_NAMED]
    assert {"2", "sites"} <= set(told[-1].split())


def test_a_site_that_is_given_up_has_no_next_try() -> None:
    one = Course(limit=4)
    entry = one.queue()
    for _ in range(4):
        one.visit(entry, UrlOutcome.NETWORK_ERROR, error="refused")
    assert (one.context.run.waits, one.context.run.failing_sites) == ({}, {})


def test_a_visit_without_a_request_teaches_nothing() -> None:
    one = Course(limit=1)
    visit = Visit(one.queue(), UrlRecord("http://h.test/1", "s"))
    visit.note_answer(FetchResult(error="x"))
    visit.note_ending(Ending(UrlOutcome.NETWORK_ERROR, requested=False))
    one.pacing.note_end(visit)
    assert one.frontier.given_up == set()


def test_a_site_that_asks_for_a_pause_gets_it() -> None:
    one = Course()
    one.visit(one.queue(), status=429, retry_after=60.0)
    site = one.frontier.site("h.test")
    assert site is not None
    assert site.clock.hold_until > site.clock.due


def test_a_mirror_takes_the_place_of_a_site_that_is_given_up() -> None:
    one = Course(aliases={"mirror.test": "h.test"}, limit=1)
    first, second = one.queue(), one.queue(seq=2)
    before = Visit(second, UrlRecord(second.url, "s"))
    one.pacing.visit_begun(before)  # of the site itself, still in flight
    one.visit(first, UrlOutcome.NETWORK_ERROR, error="refused")
    assert one.frontier.given_up == set()
    assert one.pacing.mirrors.request_url(first.url) == "http://mirror.test/1"
    assert one.sites.rows["h.test"].stand_in == "mirror.test"
    before.note_answer(FetchResult(error="refused"))
    before.note_ending(Ending(UrlOutcome.NETWORK_ERROR))
    one.pacing.note_end(before)
    assert one.frontier.given_up == set(), "an error of the former host is none of the mirror"
    one.visit(first, UrlOutcome.NETWORK_ERROR, error="refused")
    assert one.frontier.given_up == {"h.test"}, "there is no other mirror"


def test_an_unavailable_robots_txt_turns_to_a_mirror() -> None:
    one = Course(aliases={"mirror.test": "h.test"})
    one.queue()
    one.pacing.apply_robots("h.test", RobotsRules((), name="ultracrawl", unavailable="timeout"))
    assert one.pacing.mirrors.active_mirror("h.test") == "mirror.test"
    one.pacing.apply_robots("h.test", RobotsRules((), name="ultracrawl", unavailable="timeout"))
    assert one.sites.rows["h.test"].robots == "timeout"


@pytest.mark.parametrize(("obeys", "delay"), [(True, 9.0), (False, 2.0)])
def test_the_crawl_delay_of_a_robots_txt_is_that_of_its_site(obeys: bool, delay: float) -> None:
    one = Course(robots=RobotsPolicy(obey_delay=obeys))
    one.queue()
    rules = RobotsRules.parse(b"User-agent: *\nCrawl-delay: 9\nDisallow: /x\n")
    one.pacing.apply_robots("h.test", rules)
    assert delay_of(one.frontier, "h.test") == delay
    one.pacing.before_flush()
    assert one.sites.rows["h.test"].own_delay == (9.0 if obeys else None)
    one.pacing.apply_robots("h.test", RobotsRules.parse(b""))
    assert delay_of(one.frontier, "h.test") == 2.0


def test_what_earlier_runs_stored_of_sites_is_loaded() -> None:
    one = Course(
        StoredSite("slow.test", own_delay=30.0),
        StoredSite("old.test", given_up=6),
        StoredSite("gone.test", given_up=7),
        StoredSite("h.test", stand_in="mirror.test"),
        aliases={"mirror.test": "h.test"},
        robots=RobotsPolicy(obey_delay=True),
    )
    assert delay_of(one.frontier, "slow.test") == 30.0
    assert one.frontier.given_up == {"gone.test"}, "only in the run that gave it up"
    assert one.pacing.mirrors.active_mirror("h.test") == "mirror.test"


def test_documents_that_a_lister_delivers_wait_for_nobody() -> None:
    one = Course(kind="table")
    for number in range(LISTED_CONCURRENCY + 1):
        one.queue("s", number)
    one.frontier.lease_site("s")
    handed = [one.frontier.pop_entry(0.0) for _ in range(LISTED_CONCURRENCY + 1)]
    assert handed.count(None) == 1


def test_only_sites_that_changed_are_stored() -> None:
    one = Course()
    one.queue()
    one.pacing.before_flush()
    assert one.sites.rows == {}
    one.pacing.note_request("h.test")
    one.pacing.before_flush()
    assert one.sites.rows["h.test"].seen == 1000.0


def test_the_next_request_is_looked_for_when_a_crawl_is_resumed() -> None:
    one = Course()
    one.pacing.resumed()
    assert one.woken == 1


@pytest.mark.parametrize(
    ("addresses", "lowest"),
    [(["10.0.0.9", "10.0.0.10"], "10.0.0.9"), (["::1", "10.0.0.9"], "10.0.0.9"), (["::1"], "::1"), ([], "")],
)
def test_hosts_with_the_same_addresses_share_a_clock_whatever_their_order(
    addresses: list[str], lowest: str
) -> None:
    assert lowest_address(addresses) == lowest
    assert lowest_address(addresses[::-1]) == lowest
