"""A year of thirty sources: faults, changes of clocks, missed times, a full disk, restarts, a suspended machine."""

from __future__ import annotations

import asyncio
import contextlib
from bisect import bisect_left
from collections import defaultdict
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from support.schedules import (
    Dice,
    Marks,
    VirtualClock,
    World,
    opened_schedules,
    pass_by,
    pool_of,
    report,
    run_virtual,
)

from ultracrawl.errors import StateError
from ultracrawl.rules.schedules.times import (
    CalendarTimes,
    ScheduleTimes,
    Step,
    Unit,
    calendar_times,
    interval_times,
)
from ultracrawl.rules.schedules.window import RunWindow, parse_span
from ultracrawl.service.orders import CrawlEnd, CrawlOrder, Event, EventStream
from ultracrawl.service.schedules.plans import Plan, ScheduleTiming
from ultracrawl.service.schedules.runner import ScheduleRunner
from ultracrawl.service.supervisor.pool import CrawlPool
from ultracrawl.stores.port.schedule_store import KeptSchedule, ScheduleRun
from ultracrawl.stores.shared.schedule_store import SqlScheduleStore

pytestmark = pytest.mark.timeout(600)  # half a minute where nothing else goes on

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
START = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
YEAR = 365 * DAY

NIGHT = RunWindow((span for span in parse_span("21:00-07:00")), BERLIN)
SCHEDULES: dict[str, tuple[ScheduleTimes, int, dict[str, object]]] = {
    "nightly": (CalendarTimes(("30 2 * * *",), BERLIN), 5, {}),
    "noon": (CalendarTimes(("0 12 * * *",), NEW_YORK), 3, {}),
    "often": (interval_times(Step(6, Unit.HOUR)), 2, {}),
    "windowed": (CalendarTimes(("0 18 * * *",), BERLIN), 2, {"window": NIGHT}),
    "weekly": (calendar_times(Step(1, Unit.WEEK), ("mon", "thu"), [(4, 0)], BERLIN), 3, {}),
    "fortnightly": (calendar_times(Step(2, Unit.WEEK), ("sun",), [(1, 30)], None), 2, {}),
    "monthly": (calendar_times(Step(1, Unit.MONTH), ("1", "last"), [(2, 30)], BERLIN), 3, {}),
}
INTERVALS = [3 * HOUR, 8 * HOUR, *[12 * HOUR] * 2, *[DAY] * 4, 36 * HOUR, 7 * DAY]


class UnreliableStore(SqlScheduleStore):
    """A store whose disk may be full."""

    full = False

    def put_schedule(self, schedule: KeptSchedule, run: ScheduleRun | None = None) -> None:
        if self.full:
            raise StateError("the state file cannot be used: database or disk is full")
        super().put_schedule(schedule, run)


class Faults:
    """A year in which much goes wrong, each thing so that no source could be helped by luck."""

    def __init__(self, dice: Dice, clock: VirtualClock) -> None:
        self._dice = dice
        self._clock = clock
        self._failed: set[str] = set()
        """Sources whose latest crawl failed: their next one does not."""
        self.counted: dict[str, int] = defaultdict(int)

    def lasts(self, order: CrawlOrder) -> float:
        return self._dice.uniform(MINUTE, 40 * MINUTE)

    def ends(self, order: CrawlOrder) -> CrawlEnd:
        source = order.source
        if source not in self._failed and self._dice.chance(0.04):
            self._failed.add(source)
            self.counted["failed"] += 1
            return CrawlEnd(source, report(source, "nothing could be read"))
        if self._dice.chance(0.02):
            self.counted["died"] += 1
            return CrawlEnd(source, None, "its process was killed by SIGKILL", died=True)
        self._failed.discard(source)
        return CrawlEnd(source, report(source))


class Year:
    """The year, and what is on record of it."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.clock = VirtualClock(START)
        self.dice = Dice(seed)
        self.faults = Faults(self.dice, self.clock)
        self.marks = Marks(self.clock)
        self.world = World(self.clock, self.faults.lasts, self.faults.ends, marks=self.marks)
        self.plans = list(self._plans())
        self.downs: list[tuple[float, float]] = []
        """When nothing was kept: from when to when."""
        self.done: dict[str, list[tuple[float, float]]] = defaultdict(list)
        """Of each source its crawls that were done: from when to when."""

    def _plans(self) -> list[Plan]:
        plans, number = list[Plan](), 0
        for name, (times, sources, options) in SCHEDULES.items():
            names = tuple(f"{name}-{one}" for one in range(sources))
            number += sources
            plans.append(Plan(name, names, ScheduleTiming(times), **options))  # type: ignore[arg-type]
        for one, interval in enumerate(INTERVALS):
            plans.append(self.marks.plan(f"own-{one}", interval=f"{interval:.0f} s"))
        assert number + len(INTERVALS) == 30
        return plans

    async def live(self) -> None:
        """Let the year pass, with one process after the other."""
        while self.clock.now() < START + YEAR:
            await self._one_process()
            down = self.clock.now()
            # Often a moment, now and then most of a day.
            await pass_by(self.dice.choice([5.0, 5.0, 5 * MINUTE, 5 * MINUTE, 2 * HOUR, 20 * HOUR]))
            self.downs.append((down, self.clock.now()))

    async def _one_process(self) -> None:
        store = opened_schedules(self.folder / "schedules.sqlite", UnreliableStore)
        events = EventStream()
        pool = pool_of(self.world, self.clock, events, jobs=4, restarts=5, turn=HOUR)
        events.add_listener(self._note_event)
        runner = ScheduleRunner(self.plans, pool, store, self.clock, events=events)
        runner.max_sleep = HOUR
        keeping = asyncio.ensure_future(runner.run())
        ends = self.clock.now() + self.dice.uniform(2 * DAY, 30 * DAY)
        while self.clock.now() < min(ends, START + YEAR) and not keeping.done():
            await pass_by(self.dice.uniform(HOUR, DAY))
            await self._trouble(store)
        if keeping.done():
            keeping.result()  # nothing ends it but we
        if self.dice.chance(0.5):
            await runner.end_crawls()
        else:
            self._kill(pool)
        keeping.cancel()
        store.full = False
        store.close()

    async def _trouble(self, store: UnreliableStore) -> None:
        if self.dice.chance(0.05):
            self.faults.counted["disk full"] += 1
            store.full = True
            await pass_by(self.dice.uniform(HOUR, 10 * HOUR))
            store.full = False
        if self.dice.chance(0.03):
            self.faults.counted["suspended"] += 1
            before = self.clock.now()
            self.clock.skew += self.dice.uniform(HOUR, 10 * HOUR)
            self.downs.append((before, self.clock.now()))

    def _kill(self, pool: CrawlPool) -> None:
        """Kill the process, and all crawls with it."""
        self.faults.counted["killed"] += 1
        for crawl in pool.crawls.values():
            crawl._work.cancel()
        self.world.die()

    def _note_event(self, event: Event) -> None:
        if (end := event.end) is None or end.report is None or end.report.failed:
            return
        (crawl,) = [one for one in self.world.crawls[-200:] if one.end is end]
        self.done[end.source].append((crawl.begun, self.clock.now()))

    # ---- judging

    def awake_between(self, plan: Plan, begin: float, end: float) -> float:
        """Return for how long something could have crawled a plan: kept it, inside its window."""
        asleep = 0.0
        for down, up in self.downs:
            asleep += _open_between(plan, max(begin, down), min(end, up))
        return _open_between(plan, begin, end) - asleep


def _open_between(plan: Plan, begin: float, end: float) -> float:
    """Return for how long the window of a plan was open."""
    opened = 0.0
    while (begin := plan.window.opens(begin)) < end:
        closes = plan.window.closes(begin)
        until = end if closes is None else min(closes, end)
        opened, begin = opened + until - begin, until
    return opened


@pytest.fixture(scope="module")
def year(tmp_path_factory: pytest.TempPathFactory) -> Year:
    lived = Year(tmp_path_factory.mktemp("year"), seed=18)
    run_virtual(lived.live())
    return lived


def test_much_went_wrong(year: Year) -> None:
    assert (
        min(year.faults.counted[name] for name in ("failed", "died", "disk full", "suspended", "killed")) >= 3
    )
    assert len(year.downs) > 20


def test_none_is_started_twice(year: Year) -> None:
    """The world asserts it at each start; here the record says so."""
    for source in {one.order.source for one in year.world.crawls}:
        spans = sorted((one.begun, one.ended) for one in year.world.crawls if one.order.source == source)
        assert all(before[1] <= after[0] for before, after in pairwise(spans)), source


def test_every_schedule_keeps_its_times(year: Year) -> None:
    """Each time began a crawl of each source then, or soon after; at most a run that still went on leaves one out."""
    for plan in year.plans:
        if not isinstance(plan.timing, ScheduleTiming):
            continue
        for source in plan.sources:
            begun = sorted(year.world.begun(source))
            at, missed = START, 0
            while (at := plan.timing.times.next_after(at)) < START + YEAR - 2 * DAY:
                opens = plan.window.opens(at)
                found = bisect_left(begun, opens)
                assert found < len(begun), source
                missed += year.awake_between(plan, opens, begun[found]) > 7 * HOUR
            assert missed == 0, source


def test_none_is_staler_than_two_intervals(year: Year) -> None:
    """Counted while something was awake, and from the beginning of one crawl that was done to the end of the next."""
    for plan in year.plans:
        for source in plan.sources:
            done = year.done[source]
            assert done, source
            for (begun, _), (_, ended) in pairwise(done):
                allowed = plan.timing.stale_after(begun)
                assert allowed is not None
                opens = plan.window.opens(allowed)
                bound = _open_between(plan, begun, opens) + 4 * HOUR
                assert year.awake_between(plan, begun, ended) <= bound, (source, begun)


def test_own_intervals_count_from_the_first_cycle(year: Year) -> None:
    """Cycles are dated by the interval, whatever happened to those before (FAST 5.1 J60)."""
    for source, definition in year.marks.rules.items():
        interval = definition.refresh.interval
        assert interval is not None
        begun = year.world.begun(source)
        expected = YEAR / interval
        assert len(begun) >= 0.85 * expected - 2, source


def test_the_history_adds_up(year: Year) -> None:
    with contextlib.closing(opened_schedules(year.folder / "schedules.sqlite", SqlScheduleStore)) as store:
        for name in SCHEDULES:
            runs = store.runs(name, 1000)
            assert runs, name
            assert all(one.begun <= one.ended for one in runs), name
            assert all(later.begun >= earlier.ended for later, earlier in pairwise(runs)), name
            kept = store.get_schedule(name)
            assert kept is not None
            assert kept.due is not None
