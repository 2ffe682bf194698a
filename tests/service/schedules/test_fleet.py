"""A day and a year of a fleet of thirty sources, half of them ill: how long a healthy one waits for its next crawl.

The bound is that of docs/service.md: the interval, the crawl itself, and the time of one crawl of every other source,
divided by the slots. A source that never ends or never answers counts with one turn.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from support.schedules import (
    Asked,
    Lasted,
    Marks,
    VirtualClock,
    World,
    opened_schedules,
    pass_by,
    pool_of,
    report,
    run_virtual,
)

from ultracrawl.rules.schedules.times import IntervalTimes
from ultracrawl.service.orders import CrawlEnd, CrawlOrder, EventStream
from ultracrawl.service.schedules.plans import Plan, ScheduleTiming
from ultracrawl.service.schedules.runner import ScheduleRunner
from ultracrawl.stores.shared.schedule_store import SqlScheduleStore

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
START = datetime(2026, 6, 1, 12, tzinfo=UTC).timestamp()
YEAR = 365 * DAY
SLOTS, TURN = 4, 15 * MINUTE
STOPPING = MINUTE
"""Seconds that a crawl whose server is silent needs to end."""
ENDLESS = 1000 * DAY

LASTS = {"fast": 20.0, "middle": 4 * MINUTE, "slow": 13 * MINUTE, "dies": 40.0, "bad": 1.0}
"""Kind -> how long its crawls take; those of other kinds never end."""
HEALTHY = frozenset({"fast", "middle", "slow"})
OWN = {
    "fast": (10 * MINUTE, 5),
    "middle": (45 * MINUTE, 3),
    "slow": (3 * HOUR, 3),
    "endless": (HOUR, 2),
    "silent": (HOUR, 2),
    "bad": (10 * MINUTE, 2),
    "dies": (10 * MINUTE, 1),
}
"""Kind -> interval, and how many sources have it."""
SCHEDULES = {
    "half-hourly": (30 * MINUTE, ("fast", "fast", "fast", "endless", "bad", "dies")),
    "hourly": (HOUR, ("middle", "middle", "silent")),
    "alone": (2 * HOUR, ("slow",)),
    "ill": (HOUR, ("silent", "endless")),
}


class Fleet:
    """The sources, a world in which they are crawled, and what is on record of it."""

    def __init__(self, span: float) -> None:
        """`span` is for how long it is crawled, in seconds."""
        self.span = span
        self.clock = VirtualClock(START)
        self.marks = Marks(self.clock)
        self.world = World(
            self.clock, self.lasts, self.ends, stops=lambda order: STOPPING * (kind(order.source) == "silent")
        )
        self.world.marks = self.marks
        self.intervals: dict[str, float] = {}
        self.plans = list(self._plans())
        self._latest: dict[str, Lasted] = {}
        self._left: dict[str, float] = {}

    def _plans(self) -> Iterator[Plan]:
        for one, (interval, number) in OWN.items():
            for count in range(number):
                name = f"{one}-own-{count}"
                self.intervals[name] = interval
                yield self.marks.plan(name, interval=f"{interval:.0f} s")
        for schedule, (interval, kinds) in SCHEDULES.items():
            names = tuple(f"{one}-{schedule}-{count}" for count, one in enumerate(kinds))
            self.intervals |= dict.fromkeys(names, interval)
            yield Plan(schedule, names, ScheduleTiming(IntervalTimes(interval)))

    def lasts(self, order: CrawlOrder) -> float:
        """Return how long a crawl takes; one that is resumed takes what is left."""
        source, left = order.source, LASTS.get(kind(order.source), ENDLESS)
        mark, before = self.marks.latest.get(source), self._latest.get(source)
        begins = mark is not None and mark.started == self.clock.now()
        if before is not None and before.end is not None and not begins:
            ended = before.end.report
            if ended is not None and ended.interrupted:
                left = max(self._left[source] - (before.ended - before.begun), 1.0)
        self._latest[source], self._left[source] = self.world.crawls[-1], left
        return left

    def ends(self, order: CrawlOrder) -> CrawlEnd:
        if kind(order.source) == "dies":
            return CrawlEnd(order.source, None, "its process was killed by SIGKILL", died=True)
        problems = ("nothing could be read",) if kind(order.source) == "bad" else ()
        return CrawlEnd(order.source, report(order.source, *problems))

    async def live(self) -> None:
        events = EventStream()
        with contextlib.closing(opened_schedules(":memory:", SqlScheduleStore)) as store:
            pool = pool_of(self.world, self.clock, events, jobs=SLOTS, turn=TURN, restarts=5)
            runner = ScheduleRunner(
                self.plans,
                pool,
                store,
                self.clock,
                events=events,
                sources=Asked(is_crawled=pool.crawls.__contains__),
            )
            runner.max_sleep = HOUR
            keeping = asyncio.ensure_future(runner.run())
            await pass_by(self.span)
            assert not keeping.done()
            keeping.cancel()

    def hold(self, source: str) -> float:
        """Return for how long one crawl of a source keeps a slot while others wait."""
        return LASTS.get(kind(source), TURN + STOPPING)

    def bound(self, source: str) -> float:
        """Return the longest time between the ends of two complete crawls of a healthy source."""
        others = sum(self.hold(other) for other in self.intervals if other != source)
        return self.intervals[source] + self.hold(source) + others / SLOTS

    def gaps(self) -> dict[str, float]:
        """Return for each healthy source the longest time without a complete crawl."""
        done = defaultdict(list)
        for one in self.world.crawls:
            if one.end is not None and one.end.report is not None and not one.end.report.interrupted:
                done[one.order.source].append(one.ended)
        return {
            source: max(
                after - before for before, after in pairwise([START, *done[source], START + self.span])
            )
            for source in self.intervals
            if kind(source) in HEALTHY
        }


def kind(source: str) -> str:
    """Return the kind of a source."""
    return source.partition("-")[0]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(DAY, id="day"),
        pytest.param(YEAR, id="year", marks=[pytest.mark.night, pytest.mark.timeout(7200)]),
    ],
)
def fleet(request: pytest.FixtureRequest) -> Fleet:
    lived = Fleet(request.param)
    run_virtual(lived.live())
    return lived


def test_it_is_a_fleet_of_thirty_that_has_more_to_do_than_slots(fleet: Fleet) -> None:
    assert len(fleet.intervals) == 30
    assert sum(kind(source) in HEALTHY for source in fleet.intervals) == 17
    begun = Counter(kind(one.order.source) for one in fleet.world.crawls)
    assert min(begun.values()) >= 10, begun
    interrupted = [
        one for one in fleet.world.crawls if one.end and one.end.report and one.end.report.interrupted
    ]
    assert len(interrupted) > 50, "endless and silent sources are stopped for the others"


def test_no_healthy_source_waits_longer_than_its_interval_and_one_crawl_of_each_other(fleet: Fleet) -> None:
    late = {
        source: (round(gap / MINUTE), round(fleet.bound(source) / MINUTE))
        for source, gap in fleet.gaps().items()
        if gap > fleet.bound(source)
    }
    assert not late, "source: the longest gap and the bound in minutes"


def test_the_bound_is_no_better_than_it_has_to_be(fleet: Fleet) -> None:
    """A fleet in which nobody waits would not show anything."""
    gaps = fleet.gaps()
    assert max(gap - fleet.intervals[source] for source, gap in gaps.items()) > TURN
