"""The next entry: stored entries are loaded, robots.txt and sitemaps are waited for, barriers hold entries back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, cast

from support.context import made_context
from support.frontier import made_frontier

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run import Visit
from ultracrawl.run.control.second_attempts import SecondAttempts
from ultracrawl.scheduler.picking import EntryPicker, Refill, RobotsBarrier, SitemapBarrier
from ultracrawl.stores import QueueEntry


def entry(path: str, site: str = "h.test", seq: int = 1) -> QueueEntry:
    url = f"http://{site}{path}"
    return QueueEntry(url_key(url), url, site, 0, seq)


class Robots:
    """The robots.txt of sites that are named as known; others are fetched when `answer` is called."""

    def __init__(self, *known: str) -> None:
        self.known_sites = set(known)
        self.asked: list[str] = []
        self.blocked: set[str] = set()
        self.task: asyncio.Future[Any] | None = None

    def ready(self, url: str) -> bool:
        return url.split("/")[2] in self.known_sites

    def known(self, url: str) -> Any:
        return SimpleNamespace(blocks=self.blocked.__contains__) if self.ready(url) else None

    def reserves(self, _url: str) -> bool:
        return False

    def fetch(self, url: str, *, has_turn: bool) -> asyncio.Future[Any]:
        assert has_turn, "the site has spent its turn on it"
        self.asked.append(url)
        self.task = asyncio.get_running_loop().create_future()
        return self.task


class Sitemaps:
    """Sitemaps of which those of `missing` sites are not read yet."""

    def __init__(self, *missing: str, trusts_dates: bool = True) -> None:
        self.missing, self.waiting_sites = set(missing), set[str]()
        self.discovers, self.trusts_dates = True, trusts_dates

    def needs_discovery(self, one: QueueEntry) -> bool:
        return one.site in self.missing

    def discover_sitemaps(self, one: QueueEntry, _rules: object) -> bool:
        self.missing.discard(one.site)
        self.waiting_sites.add(one.site)
        return True


class Paces:
    def __init__(self) -> None:
        self.noted: list[str] = []
        self.applied: list[tuple[str, object]] = []
        self.prepared = 0

    def note_request(self, site: str) -> None:
        self.noted.append(site)

    def apply_robots(self, site: str, rules: object) -> None:
        self.applied.append((site, rules))

    def prepare_sites(self) -> None:
        self.prepared += 1


# ---- the picker


def test_an_entry_that_a_barrier_holds_back_makes_room_for_the_next() -> None:
    frontier = made_frontier(delay=0.0, concurrency=1)
    for one in (entry("/1", "a"), entry("/1", "b")):
        frontier.add_entry(one)
    asked: list[tuple[str, str]] = []

    def first(one: QueueEntry) -> bool:
        asked.append(("first", one.site))
        if one.site == "a":
            frontier.finish_entry("a")
        return one.site == "a"

    def second(one: QueueEntry) -> bool:
        asked.append(("second", one.site))
        return False

    filled: list[int] = []
    refill = cast("Any", SimpleNamespace(fill=lambda: filled.append(len(frontier))))
    pacing = Paces()
    picker = EntryPicker(frontier, refill, cast("Any", pacing), (first, second))
    found = picker.next_entry()
    assert found is not None
    assert found.site == "b"
    assert asked == [("first", "a"), ("first", "b"), ("second", "b")]
    assert (filled, pacing.prepared) == ([2, 1], 2), (
        "stored entries and sites are looked after for each choice"
    )
    assert picker.next_entry() is None


# ---- stored entries


class Shelf:
    """A refill over a list of stored entries in place of a store."""

    def __init__(self, stored: list[QueueEntry], *, needed: Iterable[str] | None = None) -> None:
        self.frontier = made_frontier(capacity=64)
        self.stored, self.asked = stored, list[range]()
        self.woken = self.caught_up = 0
        self.visits: dict[int, object] = {}
        self.waiting: set[str] = set()
        urls = None if needed is None else set(needed)
        barrier = SimpleNamespace(
            number_aside=0,
            is_waiting=self.waiting.__contains__,
            needing_request=lambda found: [one for one in found if urls is None or one.url in urls],
        )
        store = SimpleNamespace(queue=SimpleNamespace(entries_of=self._entries_of))
        context = made_context(rules=SimpleNamespace(levels=SimpleNamespace(levels=1)), store=store)
        context.visits.update(cast("Any", self.visits))
        self.context = context
        activator = SimpleNamespace(catch_up=self._catch_up)
        self.settled: list[int] = []
        """How often the store had been asked when what waits was to be settled."""
        self.refill = Refill(
            context,
            self.frontier,
            cast("Any", barrier),
            cast("Any", activator),
            self._wake,
            lambda: self.settled.append(len(self.asked)),
        )

    def _entries_of(self, site: str, limit: int, levels: range) -> list[QueueEntry]:
        self.asked.append(levels)
        found = [one for one in self.stored if one.site == site][:limit]
        self.stored = [one for one in self.stored if one not in found]
        return found

    def _wake(self) -> None:
        self.woken += 1

    def _catch_up(self) -> None:
        self.caught_up += 1

    def popped(self) -> list[str]:
        found = []
        while (one := self.frontier.pop_entry(0.0)) is not None:
            self.frontier.finish_entry(one.site)
            found.append(one.url)
        return found


def test_stored_entries_are_loaded_in_their_order() -> None:
    shelf = Shelf([entry(f"/{number}") for number in range(3)])
    shelf.frontier.mark_stored("h.test")
    shelf.refill.fill()
    assert shelf.popped() == [f"http://h.test/{number}" for number in range(3)]
    assert (shelf.woken, shelf.caught_up) == (0, 1)
    assert not shelf.frontier.hungry, "the store has no more"


def test_an_entry_whose_visit_is_under_way_is_not_loaded_again() -> None:
    shelf = Shelf([entry("/1"), entry("/2")])
    shelf.context.visits[entry("/1").key] = cast("Any", object())
    shelf.frontier.mark_stored("h.test")
    shelf.refill.fill()
    assert shelf.popped() == ["http://h.test/2"]


def test_a_full_batch_that_needs_no_request_is_followed_by_another_in_a_later_call() -> None:
    stored = [entry(f"/{number}") for number in range(70)]
    shelf = Shelf(stored, needed=[stored[-1].url])
    shelf.frontier.mark_stored("h.test")
    shelf.refill.fill()
    assert (shelf.woken, shelf.popped(), len(shelf.asked)) == (1, [], 1)
    assert shelf.frontier.hungry == {"h.test"}
    shelf.refill.fill()
    assert shelf.popped() == [stored[-1].url]


def test_the_stored_entries_of_a_site_that_waits_for_its_sitemaps_stay_in_the_store() -> None:
    shelf = Shelf([entry("/1")])
    shelf.waiting.add("h.test")
    shelf.frontier.mark_stored("h.test")
    shelf.refill.fill()
    assert (shelf.asked, shelf.popped(), shelf.frontier.hungry) == ([], [], set())


# ---- robots.txt


class Gate:
    """A barrier for robots.txt over a frontier of one entry."""

    def __init__(self, robots: Robots, sitemaps: Sitemaps | None = None) -> None:
        self.frontier = made_frontier(concurrency=1)
        self.frontier.add_entry(entry("/1"))
        self.context, self.pacing, self.robots = made_context(), Paces(), robots
        self.alarm = SimpleNamespace(closed=False, times=[])
        self.alarm.set_timer = self.alarm.times.append
        self.barrier = RobotsBarrier(
            self.context,
            self.frontier,
            cast("Any", self.pacing),
            cast("Any", self.alarm),
            cast("Any", robots),
            cast("Any", sitemaps or Sitemaps()),
        )

    def ask(self) -> bool:
        found = self.frontier.pop_entry(0.0)
        assert found is not None
        return self.barrier.holds_back(found)


def test_an_entry_of_a_site_whose_robots_txt_is_known_goes_on() -> None:
    gate = Gate(Robots("h.test"))
    assert not gate.ask()
    assert (gate.robots.asked, gate.pacing.noted) == ([], ["h.test"])


def test_a_site_is_asked_for_its_robots_txt_once_and_goes_on_with_its_rules() -> None:
    async def run() -> None:
        gate = Gate(Robots())
        assert gate.ask()
        assert gate.frontier.pop_entry(0.0) is None, "the site waits"
        assert gate.robots.asked == ["http://h.test/1"]
        assert gate.robots.task is not None
        gate.robots.task.set_result("rules")
        await asyncio.sleep(0)
        assert gate.pacing.applied == [("h.test", "rules")]
        assert gate.alarm.times == [0.0]
        found = gate.frontier.pop_entry(0.0)
        assert found is not None
        assert found.url == "http://h.test/1"

    asyncio.run(run())


def test_a_robots_txt_that_cannot_be_judged_ends_the_crawl() -> None:
    async def run() -> None:
        gate = Gate(Robots())
        gate.ask()
        assert gate.robots.task is not None
        gate.robots.task.set_exception(ValueError("no"))
        await asyncio.sleep(0)
        assert (gate.context.run.failed, gate.pacing.applied) == (True, [])

    asyncio.run(run())


def test_nothing_happens_to_a_site_after_the_crawl_has_ended() -> None:
    async def run() -> None:
        gate = Gate(Robots())
        gate.ask()
        gate.alarm.closed = True
        assert gate.robots.task is not None
        gate.robots.task.set_result("rules")
        await asyncio.sleep(0)
        assert (gate.pacing.applied, gate.alarm.times) == ([], [])

    asyncio.run(run())


def test_a_robots_txt_that_is_not_obeyed_is_fetched_where_it_may_name_sitemaps() -> None:
    class Unneeded(Robots):
        def ready(self, _url: str) -> bool:
            return True

        def known(self, _url: str) -> Any:
            return None

    async def run() -> None:
        assert Gate(Unneeded(), Sitemaps("h.test")).ask()
        assert not Gate(Unneeded(), Sitemaps()).ask()

    asyncio.run(run())


# ---- sitemaps


class Site:
    """A barrier for sitemaps, with records of pages."""

    def __init__(self, sitemaps: Sitemaps, **dates: int) -> None:
        self.frontier = made_frontier(concurrency=1)
        self.robots = Robots("h.test")
        self.records: dict[int, UrlRecord] = {}
        self.skipped: list[str] = []
        self.must: set[int] = set()
        announced = {entry(f"/{path}").key: date for path, date in dates.items()}
        sites = SimpleNamespace(
            dates_announced=bool(announced),
            announced_dates=lambda keys: {key: announced[key] for key in keys if key in announced},
        )
        store = SimpleNamespace(sites=sites, records=SimpleNamespace(get_record=self.records.get))
        endings = SimpleNamespace(skip_unchanged=lambda one, _: self.skipped.append(one.url))
        rules = SimpleNamespace(robots=SimpleNamespace(obey=True))
        context = made_context(rules=rules, store=store, endings=endings, clock=lambda: 2000.0)
        self.second = SecondAttempts()
        self.barrier = SitemapBarrier(
            context,
            self.frontier,
            cast("Any", sitemaps),
            cast("Any", self.robots),
            self.must.__contains__,
            self.second,
        )

    def indexed(self, path: str, **changes: Any) -> None:
        url = entry(path).url
        known: dict[str, Any] = {
            "outcome": UrlOutcome.NEW,
            "last_fetched": 1000.0,
            "indexed": True,
            "checksum": b"x",
            **changes,
        }
        self.records[url_key(url)] = UrlRecord(url, "s", **known)

    def needed(self, *paths: str) -> list[str]:
        found = self.barrier.needing_request([entry(path) for path in paths])
        return [one.url.removeprefix("http://h.test") for one in found]


def test_pages_that_were_set_aside_stay_in_the_store_for_now() -> None:
    site = Site(Sitemaps())
    aside = entry("/1")
    site.second.add(Visit(aside, UrlRecord(aside.url, "s")), "too slow")
    assert (site.needed("/1", "/2"), site.barrier.number_aside) == (["/2"], 1)
    site.second.take_next()
    assert (site.needed("/1", "/2"), site.barrier.number_aside) == (["/1", "/2"], 0)


def test_the_pages_of_a_site_wait_until_its_sitemaps_are_read() -> None:
    site = Site(Sitemaps("h.test"))
    for one in (entry("/1"), entry("/robot", seq=0), entry("/2")):
        site.frontier.add_entry(one)
    first = site.frontier.pop_entry(0.0)
    assert first is not None
    assert site.barrier.holds_back(first)
    assert site.barrier.is_waiting("h.test")
    left = site.frontier.pop_entry(0.0)
    assert left is not None
    assert left.url == "http://h.test/robot", "what is in no store stays; the others are loaded again later"
    site.frontier.finish_entry("h.test")
    assert site.frontier.pop_entry(0.0) is None
    assert not site.barrier.holds_back(entry("/1")), "they are looked for once"


def test_a_page_that_its_sitemap_proves_unchanged_needs_no_request() -> None:
    site = Site(Sitemaps(), same=10, newer=1900, forced=10, gone=10, unknown=10)
    for path in ("/same", "/newer", "/forced"):
        site.indexed(path)
    site.indexed("/gone", outcome=UrlOutcome.GONE, indexed=False)
    site.indexed("/undated")
    site.must.add(entry("/forced").key)
    paths = ("/same", "/newer", "/forced", "/gone", "/unknown", "/undated")
    assert site.needed(*paths) == ["/newer", "/forced", "/gone", "/unknown", "/undated"]
    assert site.skipped == ["http://h.test/same"]


def test_dates_that_are_not_trusted_spare_no_request() -> None:
    site = Site(Sitemaps(trusts_dates=False), same=10)
    site.indexed("/same")
    assert (site.needed("/same"), site.skipped) == (["/same"], [])


def test_a_page_that_robots_txt_forbids_by_now_is_visited_so_that_it_leaves() -> None:
    site = Site(Sitemaps(), same=10)
    site.indexed("/same")
    site.robots.blocked.add("http://h.test/same")
    assert site.needed("/same") == ["/same"]
