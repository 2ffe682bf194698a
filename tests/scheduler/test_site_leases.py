"""Crawls of two sources that ask the same sites: turns, waiting, stalls and deaths, by a clock of the tests."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.context import made_context
from support.frontier import delay_of, made_frontier

from ultracrawl.errors import WorkError
from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.rules.frontier.mirrors import Mirrors
from ultracrawl.rules.frontier.politeness.backoff import BackOff
from ultracrawl.rules.frontier.politeness.pace import Pace
from ultracrawl.scheduler.leases import (
    DRAIN_TIMEOUT,
    EXPIRY_MARGIN,
    POLL_INTERVAL,
    TURN_SECONDS,
    SiteLeases,
)
from ultracrawl.stores import QueueEntry, SqliteSiteStore
from ultracrawl.stores.port.leases import LEASE_SECONDS

STEP = 0.1


class Time:
    """The time of all crawls of a test; the wall clock is far ahead of the monotonic one."""

    def __init__(self) -> None:
        self.at = 1000.0
        self.suspended = 0.0
        """Seconds that the monotonic clock did not count."""

    def monotonic(self) -> float:
        return self.at

    def wall(self) -> float:
        return self.at + self.suspended + 1_700_000_000.0


class Crawl:
    """A crawl that asks its sites as fast as it may, and notes when."""

    def __init__(
        self,
        store: SqliteSiteStore,
        time: Time,
        source: str,
        *,
        delay: float = 1.0,
        concurrency: int = 1,
        aliases: dict[str, str] | None = None,
        per_address: bool = False,
        max_sites: int | None = None,
        ahead: float = 0.0,
    ) -> None:
        self._time = time
        self.asked: list[tuple[str, float]] = []
        self.paused = False
        self.woken = 0
        self.keeps = False
        """Whether requests are answered at once."""
        pace = Pace(
            delay,
            concurrency,
            per_address,
            backoff=BackOff(limit=99),
            wall_clock=lambda at: at + 1_700_000_000.0,
        )
        self.frontier: Frontier[QueueEntry] = made_frontier(pace, max_sites=max_sites, leases=True)
        self.mirrors = Mirrors(aliases or {})
        context = made_context(SimpleNamespace(name=source), clock=lambda: time.wall() + ahead, sites=store)
        self.renewer = context.leases
        self.leases = SiteLeases(
            context, self.frontier, self.mirrors, self._wake, lambda: self.paused, time.monotonic
        )
        self.leases.begin()

    def _wake(self) -> None:
        self.woken += 1

    def queue(self, **sites: int) -> None:
        for site, number in sites.items():
            for key in range(number):
                entry = QueueEntry(key, f"http://{site}/{key}", site, 0, key)
                assert self.frontier.add_entry(entry)

    @property
    def done(self) -> bool:
        return not self.frontier.pending

    @property
    def sites(self) -> list[str]:
        return [site for site, _ in self.asked]

    def run(self) -> None:
        """Do what is due now."""
        self.leases.tick()
        if self.paused:
            return
        while True:
            self.leases.lease_wanted_sites()
            entry = self.frontier.pop_entry(self._time.at)
            if entry is None:
                return
            self.asked.append((entry.site, self._time.at))
            if not self.keeps:
                self.frontier.finish_entry(entry.site)

    def finish(self) -> None:
        """Release everything, as at the end of a crawl."""
        self.leases.close()


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def store(time: Time) -> SqliteSiteStore:
    return SqliteSiteStore(":memory:", clock=time.wall)


def go_on(
    time: Time, *crawls: Crawl, seconds: float = 2000.0, end: Callable[[], object] | None = None
) -> None:
    """Let time pass, and the crawls run, until all are done or something else holds."""
    for _ in range(int(seconds / STEP)):
        for crawl in crawls:
            crawl.run()
        if end() if end is not None else all(crawl.done for crawl in crawls):
            return
        time.at += STEP
    assert end is None, "it did not come to that"


def all_times(*crawls: Crawl, site: str = "a") -> list[float]:
    return sorted(at for crawl in crawls for name, at in crawl.asked if name == site)


def least(times: Iterable[float]) -> float:
    return min(later - earlier for earlier, later in pairwise(times)) + 1e-6


@pytest.mark.parametrize("delay", [0.0, 0.5, 1.0, 7.0, 60.0])
def test_two_crawls_take_turns_and_never_break_the_delay(
    store: SqliteSiteStore, time: Time, delay: float
) -> None:
    one, two = Crawl(store, time, "one", delay=delay), Crawl(store, time, "two", delay=delay)
    number = 12 if delay else 200
    one.queue(a=number)
    two.queue(a=number)
    go_on(time, one, two)
    assert (len(one.asked), len(two.asked)) == (number, number)
    assert least(all_times(one, two)) >= delay
    if delay:
        order = sorted((at, name) for name, crawl in (("1", one), ("2", two)) for _, at in crawl.asked)
        assert sum(before[1] != after[1] for before, after in pairwise(order)) > 2, "each had several turns"


def test_each_source_keeps_its_own_delay_to_what_the_other_asked(store: SqliteSiteStore, time: Time) -> None:
    quick, slow = Crawl(store, time, "quick", delay=0.5), Crawl(store, time, "slow", delay=4.0)
    quick.queue(a=60)
    slow.queue(a=10)
    go_on(time, quick, slow)
    assert (len(quick.asked), len(slow.asked)) == (60, 10)
    of_slow = {at for _, at in slow.asked}
    for before, after in pairwise(all_times(quick, slow)):
        assert after - before + 1e-6 >= (4.0 if after in of_slow else 0.5)


def test_a_crawl_that_waits_goes_on_with_its_other_sites_and_does_not_spin(
    store: SqliteSiteStore, time: Time
) -> None:
    one, two = Crawl(store, time, "one", delay=30.0), Crawl(store, time, "two", delay=0.5)
    one.queue(a=2)
    go_on(time, one, end=lambda: one.asked)
    calls: Counter[str] = Counter()
    store._tables._db.set_trace_callback(lambda text: calls.update([text.split()[0]]))
    two.queue(a=1, b=20)
    go_on(time, two, end=lambda: two.sites.count("b") == 20)
    waited = 20 * 0.5
    assert "a" not in two.sites
    assert not two.done, "it neither ends nor forgets"
    assert calls["BEGIN"] <= 2 + waited / POLL_INTERVAL + waited / 2, "a look now and then"


def test_one_crawl_alone_asks_the_store_once_a_site(store: SqliteSiteStore, time: Time) -> None:
    crawl = Crawl(store, time, "one", delay=0.0)
    calls: Counter[str] = Counter()
    store._tables._db.set_trace_callback(lambda text: calls.update([text.split()[0]]))
    crawl.queue(a=500, b=500)
    go_on(time, crawl)
    assert len(crawl.asked) == 1000
    assert calls["BEGIN"] <= 3


def test_who_is_killed_counts_as_having_asked_until_its_lease_was_over(
    store: SqliteSiteStore, time: Time
) -> None:
    one, two = Crawl(store, time, "one", delay=3.0), Crawl(store, time, "two", delay=3.0)
    one.queue(a=9)
    go_on(time, one, end=lambda: len(one.asked) == 3)
    one.leases.store_clocks(["a"])
    killed = time.at
    two.queue(a=2)
    go_on(time, two)
    assert killed + LEASE_SECONDS + 3.0 - 5.0 - STEP <= two.asked[0][1] <= killed + LEASE_SECONDS + 3.0 + 1.0
    assert two.asked[0][1] - killed > 3.0


def test_the_next_crawl_of_a_killed_source_goes_on_after_one_delay(tmp_path: Path, time: Time) -> None:
    store = SqliteSiteStore(tmp_path / "sites.sqlite", clock=time.wall)
    one = Crawl(store, time, "one", delay=3.0)
    one.queue(a=9)
    go_on(time, one, end=lambda: len(one.asked) == 3)
    store.close()  # as the system does when a process ends
    killed = time.at
    with closing(SqliteSiteStore(tmp_path / "sites.sqlite", clock=time.wall)) as reopened:
        again = Crawl(reopened, time, "one", delay=3.0)
        again.queue(a=1)
        go_on(time, again)
    assert killed + 3.0 <= again.asked[0][1] + 1e-6 <= killed + 3.5


@pytest.mark.parametrize(
    "stall", [LEASE_SECONDS - EXPIRY_MARGIN - 6.0, LEASE_SECONDS + 1.0, 3 * LEASE_SECONDS]
)
def test_a_crawl_that_stood_still_asks_for_its_sites_again(
    store: SqliteSiteStore, time: Time, stall: float
) -> None:
    one, two = Crawl(store, time, "one", delay=1.0), Crawl(store, time, "two", delay=1.0)
    one.queue(a=30, b=3)
    go_on(time, one, end=lambda: len(one.asked) >= 5)
    two.queue(a=30)
    for _ in range(int(stall / STEP)):
        two.run()
        time.at += STEP
    assert bool(two.asked) is (stall > LEASE_SECONDS)
    go_on(time, one, two)
    assert (one.sites.count("a"), len(two.asked)) == (30, 30)
    assert least(all_times(one, two)) >= 1.0


@pytest.mark.parametrize("ahead", [300.0, -300.0])
def test_the_clock_of_a_machine_decides_nothing(ahead: float) -> None:
    asked = []
    for difference in (0.0, ahead):
        time = Time()
        with closing(SqliteSiteStore(":memory:", clock=time.wall)) as store:
            crawls = Crawl(store, time, "one"), Crawl(store, time, "two", ahead=difference)
            for crawl in crawls:
                crawl.queue(a=30)
            go_on(time, *crawls)
        asked.append([crawl.asked for crawl in crawls])
    assert asked[0] == asked[1]


def test_a_slow_answer_about_a_lease_does_not_lengthen_it(
    store: SqliteSiteStore, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = Crawl(store, time, "one", delay=1.0)
    crawl.queue(a=99)
    go_on(time, crawl, end=lambda: crawl.asked)
    renew = store.renew_leases

    def late(number: int, lease: float) -> bool:
        renewed = renew(number, lease)
        time.at += 15.0
        return renewed

    monkeypatch.setattr(store, "renew_leases", late)
    time.at += 6.0
    crawl.leases.tick()
    assert "a" in crawl.leases
    time.at += LEASE_SECONDS - EXPIRY_MARGIN - 15.0
    assert "a" not in crawl.leases


def test_a_suspended_machine_lets_its_leases_end(store: SqliteSiteStore, time: Time) -> None:
    crawl = Crawl(store, time, "one", delay=1.0)
    crawl.queue(a=9)
    go_on(time, crawl, end=lambda: crawl.asked)
    time.suspended = LEASE_SECONDS
    assert "a" not in crawl.leases


def test_a_crawl_whose_source_another_took_over_does_not_go_on(store: SqliteSiteStore, time: Time) -> None:
    one = Crawl(store, time, "one", delay=1.0)
    one.queue(a=9)
    go_on(time, one, end=lambda: one.asked)
    time.at += LEASE_SECONDS + 1.0
    other = Crawl(store, time, "one", delay=1.0)
    other.queue(a=9)
    go_on(time, other, end=lambda: other.asked)
    with pytest.raises(WorkError):
        one.leases.tick()
    assert "a" not in one.leases
    assert "a" in other.leases


@pytest.fixture
def files(tmp_path: Path, time: Time) -> Iterator[Callable[[], SqliteSiteStore]]:
    """Opens the sites as another process does."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(
            closing(SqliteSiteStore(tmp_path / "sites.sqlite", clock=time.wall))
        )


def look_beside(crawl: Crawl) -> None:
    """Have the thread of a crawl look after its leases, and end."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(crawl.renewer.look).result()
        thread.submit(crawl.leases._renewal.end_beside).result()


def test_a_crawl_that_is_held_up_keeps_its_sites_by_another_thread(
    files: Callable[[], SqliteSiteStore], time: Time
) -> None:
    one, two = Crawl(files(), time, "one", delay=1.0), Crawl(files(), time, "two", delay=1.0)
    one.queue(a=30)
    go_on(time, one, end=lambda: len(one.asked) >= 5)
    two.queue(a=30)
    for _ in range(5):
        time.at += LEASE_SECONDS - 1
        assert "a" not in one.leases, "it sends nothing meanwhile"
        look_beside(one)
        time.at += 2
        two.run()
    assert not two.asked
    assert "a" in one.leases
    go_on(time, one, two)
    assert (one.sites.count("a"), len(two.asked)) == (30, 30)
    assert least(all_times(one, two)) >= 1.0


def test_another_thread_takes_no_site_back(files: Callable[[], SqliteSiteStore], time: Time) -> None:
    one, two = Crawl(files(), time, "one", delay=1.0), Crawl(files(), time, "two", delay=1.0)
    one.queue(a=9)
    go_on(time, one, end=lambda: one.asked)
    two.queue(a=9)
    two.run()
    time.at += LEASE_SECONDS + 1
    go_on(time, two, end=lambda: two.asked)
    look_beside(one)
    assert "a" not in one.leases
    go_on(time, one, two)
    assert (one.sites.count("a"), len(two.asked)) == (9, 9)
    assert least(all_times(one, two)) >= 1.0


def test_another_thread_keeps_nothing_of_a_crawl_that_has_ended(
    files: Callable[[], SqliteSiteStore], time: Time
) -> None:
    one = Crawl(files(), time, "one", delay=1.0)
    one.queue(a=9)
    go_on(time, one, end=lambda: one.asked)
    one.finish()
    time.at += LEASE_SECONDS
    look_beside(one)
    assert files().lease_holder("a") is None


def test_requests_in_flight_keep_a_site_whose_turn_is_over(store: SqliteSiteStore, time: Time) -> None:
    one, two = Crawl(store, time, "one", delay=1.0), Crawl(store, time, "two", delay=1.0)
    one.keeps = True
    one.queue(a=2)
    two.queue(a=1)
    go_on(time, one, end=lambda: one.asked)
    began = time.at
    for _ in range(int((TURN_SECONDS + 3.0) / STEP)):
        one.run()
        two.run()
        time.at += STEP
    assert not two.asked
    one.frontier.finish_entry("a")
    go_on(time, one, two, end=lambda: two.asked)
    assert two.asked[0][1] <= began + TURN_SECONDS + 3.0 + 2.0
    go_on(time, one, two, end=lambda: len(one.asked) == 2)


def test_a_request_that_never_ends_does_not_keep_a_site_for_ever(store: SqliteSiteStore, time: Time) -> None:
    one, two = Crawl(store, time, "one", delay=1.0), Crawl(store, time, "two", delay=1.0)
    one.keeps = True
    one.queue(a=2)
    go_on(time, one, end=lambda: one.asked)
    two.queue(a=1)
    go_on(time, one, two, end=lambda: two.asked)
    assert (
        TURN_SECONDS + DRAIN_TIMEOUT
        <= two.asked[0][1] - one.asked[0][1]
        <= TURN_SECONDS + DRAIN_TIMEOUT + 3.0
    )


def test_a_site_that_has_nothing_to_do_goes_at_once_and_takes_its_delay_along(
    store: SqliteSiteStore, time: Time
) -> None:
    one, two = Crawl(store, time, "one", delay=50.0), Crawl(store, time, "two", delay=2.0)
    one.queue(a=1)
    go_on(time, one)
    two.queue(a=1)
    go_on(time, one, two)
    assert two.asked[0][1] - one.asked[0][1] >= 50.0


def test_a_crawl_that_ends_leaves_its_clock(store: SqliteSiteStore, time: Time) -> None:
    one = Crawl(store, time, "one", delay=10.0)
    one.queue(a=1)
    go_on(time, one)
    one.finish()
    one.leases.tick()
    two = Crawl(store, time, "two", delay=10.0)
    two.queue(a=1)
    go_on(time, two)
    assert two.asked[0][1] - one.asked[0][1] + 1e-6 >= 10.0
    assert store.lease_holder("a") is not None
    two.finish()
    assert store.lease_holder("a") is None


def failed_crawl(store: SqliteSiteStore, time: Time, *, per_address: bool = False) -> Crawl:
    """Return a crawl that has ended after three errors of a site, the last one just now."""
    one = Crawl(store, time, "one", delay=1.0, per_address=per_address)
    one.queue(a=2)
    if per_address:
        one.frontier.set_address("a", "10.0.0.1")
    one.run()
    for _ in range(3):
        one.frontier.note_failure("a")
    one.leases.note_error("a", "connection refused")
    if per_address:
        time.at += 8.0
        one.run()
    one.finish()
    known = store.get_clock("a")
    assert known is not None
    assert (known.errors, known.slowed, known.last_error) == (3, 8.0, "connection refused")
    return one


def test_errors_and_back_off_go_along_to_a_crawl_that_runs_already(
    store: SqliteSiteStore, time: Time
) -> None:
    two = Crawl(store, time, "two", delay=1.0)
    one = failed_crawl(store, time)
    two.queue(a=1)
    go_on(time, two)
    assert two.asked[0][1] - one.asked[0][1] + 1e-6 >= 8.0
    assert delay_of(two.frontier, "a") == 8.0


@pytest.mark.parametrize("well", [True, False])
def test_a_crawl_that_begins_later_tries_the_site_and_its_first_answer_decides(
    store: SqliteSiteStore, time: Time, *, well: bool
) -> None:
    one = failed_crawl(store, time)
    time.at += STEP
    two = Crawl(store, time, "two", delay=1.0)
    two.queue(a=3)
    go_on(time, two, end=lambda: two.asked)
    assert 1.0 <= two.asked[0][1] - one.asked[0][1] + 1e-6 < 2.0, "its own delay counts"
    two.leases.store_clocks(["a"])
    known = store.get_clock("a")
    assert known is not None
    assert (known.errors, known.slowed) == (3, 8.0), "nothing is decided yet"
    two.leases.failures.end_trial("a", well=well)
    two.frontier.note_answer("a", well=well)
    assert delay_of(two.frontier, "a") == (1.0 if well else 8.0)
    two.leases.failures.end_trial("a", well=not well)
    assert delay_of(two.frontier, "a") == (1.0 if well else 8.0), "the first one has decided"
    two.finish()
    known = store.get_clock("a")
    assert known is not None
    assert (known.errors, known.slowed) == ((0, 0.0) if well else (3, 8.0))


def test_a_site_that_is_tried_has_one_request_at_a_time(store: SqliteSiteStore, time: Time) -> None:
    failed_crawl(store, time)
    time.at += 1.0
    two = Crawl(store, time, "two", delay=0.0, concurrency=4)
    two.queue(a=6)
    two.keeps = True
    two.run()
    assert two.sites == ["a"]
    two.leases.failures.end_trial("a", well=True)
    two.frontier.note_answer("a")
    two.run()
    assert two.sites == ["a"] * 4


def test_a_crawl_that_ends_before_it_has_tried_a_site_leaves_its_back_off(
    store: SqliteSiteStore, time: Time
) -> None:
    failed_crawl(store, time)
    time.at += STEP
    two = Crawl(store, time, "two", delay=9.0)
    two.queue(a=1)
    two.run()
    assert not two.asked
    two.finish()
    known = store.get_clock("a")
    assert known is not None
    assert (known.errors, known.slowed, known.last_error) == (3, 8.0, "connection refused")


def test_a_site_beside_one_that_failed_at_the_same_address_does_not_wait_for_its_back_off(
    store: SqliteSiteStore, time: Time
) -> None:
    failed_crawl(store, time, per_address=True)
    time.at += 1.0
    two = Crawl(store, time, "two", delay=1.0, per_address=True)
    two.queue(b=1)
    two.frontier.set_address("b", "10.0.0.1")
    began = time.at
    go_on(time, two)
    assert two.asked[0][1] - began <= 1.0


def test_what_a_server_asked_for_goes_along(store: SqliteSiteStore, time: Time) -> None:
    one = Crawl(store, time, "one", delay=1.0)
    one.queue(a=1)
    go_on(time, one)
    one.frontier.hold_site("a", time.at + 120.0)
    one.finish()
    two = Crawl(store, time, "two", delay=1.0)
    two.queue(a=1)
    go_on(time, two)
    assert two.asked[0][1] - one.asked[0][1] + 1e-6 >= 120.0


def test_a_paused_crawl_lets_others_have_its_sites_and_goes_on_afterwards(
    store: SqliteSiteStore, time: Time
) -> None:
    one, two = Crawl(store, time, "one", delay=2.0), Crawl(store, time, "two", delay=2.0)
    one.queue(a=9)
    go_on(time, one, end=lambda: len(one.asked) == 2)
    one.paused = True
    two.queue(a=9)
    go_on(time, one, two, end=lambda: two.done)
    assert len(one.asked) == 2
    assert all(later - earlier < 3.0 for (_, earlier), (_, later) in pairwise(two.asked)), (
        "nobody else had a turn"
    )
    one.paused = False
    go_on(time, one, two)
    assert len(one.asked) == 9
    assert least(all_times(one, two)) >= 2.0


def test_a_crawl_that_is_paused_while_it_waits_keeps_nobody_back(store: SqliteSiteStore, time: Time) -> None:
    one, two, three = (Crawl(store, time, name) for name in ("one", "two", "three"))
    one.queue(a=30)
    go_on(time, one, end=lambda: one.asked)
    two.queue(a=3)
    go_on(time, one, two, seconds=1.0)
    two.paused = True
    three.queue(a=3)
    go_on(time, one, two, three, end=lambda: three.done)
    assert not two.asked
    two.paused = False
    go_on(time, one, two, three)
    assert len(two.asked) == 3


def test_a_site_that_waits_gives_its_place_to_another_one(store: SqliteSiteStore, time: Time) -> None:
    one, two = Crawl(store, time, "one", delay=60.0), Crawl(store, time, "two", max_sites=1)
    one.queue(a=2)
    go_on(time, one, end=lambda: one.asked)
    two.queue(a=2, b=4)
    go_on(time, two, end=lambda: two.sites.count("b") == 4)
    assert two.sites == ["b"] * 4
    go_on(time, one, two)
    assert two.sites.count("a") == 2


def test_hosts_with_one_address_are_asked_by_one_crawl_at_a_time(store: SqliteSiteStore, time: Time) -> None:
    crawls = [Crawl(store, time, name, delay=2.0, per_address=True) for name in ("one", "two")]
    one, two = crawls
    one.queue(a=5, c=5)
    two.queue(b=10)
    for crawl in crawls:
        for site in ("a", "b", "c"):
            if crawl.frontier.site(site):
                crawl.frontier.set_address(site, "10.0.0.1")
    go_on(time, one, two)
    assert (len(one.asked), len(two.asked)) == (10, 10)
    assert least(sorted(at for crawl in crawls for _, at in crawl.asked)) >= 2.0


def test_a_copy_that_stands_in_is_a_site_of_its_own_to_others(store: SqliteSiteStore, time: Time) -> None:
    one, two = Crawl(store, time, "one", aliases={"b": "a"}), Crawl(store, time, "two")
    one.queue(a=5)
    two.queue(b=5)
    go_on(time, one, two, end=lambda: one.asked and two.asked)
    asked = len(one.asked)
    assert one.mirrors.switch_mirror("a") == "b"
    one.leases.change_host("a")
    go_on(time, one, two)
    times = sorted([at for _, at in one.asked[asked:]] + [at for _, at in two.asked])
    assert len(times) == 10 - asked
    assert least(times) >= 1.0
    assert store.lease_holder("a") is None


def test_what_is_forgotten_is_given_back(store: SqliteSiteStore, time: Time) -> None:
    crawl = Crawl(store, time, "one", delay=1.0)
    crawl.queue(a=1, b=3)
    go_on(time, crawl)
    crawl.run()
    assert store.lease_holder("a") is None
    known = store.get_clock("a")
    assert known is not None
    assert known.requested == pytest.approx(crawl.asked[0][1] + 1_700_000_000.0)


def test_a_request_that_is_no_entry_waits_for_the_site(store: SqliteSiteStore, time: Time) -> None:
    one, two = Crawl(store, time, "one", delay=0.0), Crawl(store, time, "two", delay=0.0)
    one.queue(a=1)
    go_on(time, one)

    async def ask() -> None:
        turn = asyncio.ensure_future(two.leases.take_turn("a"))
        await asyncio.sleep(0)
        assert not turn.done()
        for _ in range(int(2 * POLL_INTERVAL / STEP) + 1):
            time.at += STEP
            two.leases.tick()
            one.leases.tick()
        async with asyncio.timeout(30):
            while not turn.done():
                time.at += STEP
                two.leases.tick()
                await asyncio.sleep(0)
        await turn
        assert "a" in two.leases
        async with asyncio.timeout(30):
            await two.leases.take_turn("a")

    asyncio.run(ask())
