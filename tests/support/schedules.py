"""A world for runners of schedules: virtual time, and crawls that only last."""

from __future__ import annotations

import asyncio
import random
import selectors
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from support.launching import Crawl
from ultracrawl.errors import WorkError
from ultracrawl.model import RunReport
from ultracrawl.rules.schedules.times import CalendarTimes
from ultracrawl.service.orders import CrawlEnd, CrawlHandle, CrawlOrder, EventStream, Launcher, ScheduleState
from ultracrawl.service.schedules.plan_crawls import KnownSources
from ultracrawl.service.schedules.plans import OwnInterval, Plan, ScheduleTiming
from ultracrawl.service.schedules.runner import ScheduleRunner
from ultracrawl.service.supervisor.pool import CrawlPool
from ultracrawl.service.supervisor.slots import SlotLimits
from ultracrawl.sources.definition import DataSource
from ultracrawl.stores import RunMark
from ultracrawl.stores.port.schedule_store import ScheduleStore
from ultracrawl.stores.shared.schedule_store import SqlScheduleStore
from ultracrawl.stores.sqlite.shared import SCHEDULES, SqliteTables

T = TypeVar("T")
S = TypeVar("S", bound=SqlScheduleStore)


def opened_schedules(path: Path | str, kind: type[S]) -> S:
    """Open the store of schedules in a file of SQLite, or in memory."""
    return kind(SqliteTables(SCHEDULES, path))


class _Selector(selectors.DefaultSelector):  # type: ignore[misc, valid-type]  # it depends on the system
    loop: VirtualLoop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise AssertionError("everything waits, and nothing will come")
        if not ready and timeout is not None and timeout > 0:
            self.loop.seconds += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop on which waiting takes no time."""

    def __init__(self) -> None:
        self.seconds = 0.0
        selector = _Selector()
        selector.loop = self
        super().__init__(selector)
        self._clock_resolution = 1e-6  # what is less the numbers of a year do not tell apart

    def time(self) -> float:
        return self.seconds


def run_virtual(work: Coroutine[Any, Any, T]) -> T:
    """Run something on a loop of its own on which waiting takes no time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)


async def pass_by(seconds: float) -> None:
    """Let so much time go by, which takes none."""
    assert isinstance(asyncio.get_running_loop(), VirtualLoop)
    await asyncio.sleep(seconds)


@dataclass(slots=True)
class VirtualClock:
    """The clock on the wall of a world; somebody may set it."""

    start: float
    skew: float = 0.0
    """By how much it was set since the beginning."""

    def now(self) -> float:
        return self.start + self.skew + asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await pass_by(seconds)


def report(source: str, *problems: str, interrupted: bool = False) -> RunReport:
    """The report of a crawl."""
    return RunReport(source, "1", "2026-01-01T00:00:00Z", problems=list(problems), interrupted=interrupted)


@dataclass(slots=True)
class Lasted:
    """A crawl on record."""

    order: CrawlOrder
    begun: float
    ended: float = 0.0
    end: CrawlEnd | None = None


@dataclass(slots=True)
class Marks:
    """What the states of sources say of their latest runs."""

    clock: VirtualClock
    rules: dict[str, DataSource] = field(default_factory=dict)
    latest: dict[str, RunMark] = field(default_factory=dict)

    def plan(self, name: str, **refresh: Any) -> Plan:
        """Return the plan of a source with an interval of its own, whose runs are marked from now on."""
        source = self.rules[name] = DataSource(name=name, refresh=refresh)
        return Plan(name, (name,), OwnInterval(source, partial(self.latest.get, name)), own=True)

    def begin(self, source: str) -> bool:
        """Begin a run, or resume the last one; returns whether it is resumed."""
        known, now = self.latest.get(source), self.clock.now()
        rule = self.rules[source].refresh.rule
        if known is not None and not known.finished and not rule.is_over(known.place, known.started, now):
            return True
        place = rule.following(known.place if known else None, now, nothing_stored=known is None)
        self.latest[source] = RunMark.at(1, now, "", place)
        return False

    def end(self, source: str) -> None:
        self.latest[source] = replace(self.latest[source], finished=self.clock.now())


class SlowCrawl(Crawl):
    """A crawl that needs some seconds to end when it is stopped."""

    def __init__(self, order: CrawlOrder, begun: float, seconds: float) -> None:
        super().__init__(order, begun)
        self._seconds = seconds
        self._stop: asyncio.Future[None] | None = None

    async def stop_crawl(self) -> None:
        if self._stop is None:
            self._stop = asyncio.ensure_future(self._stop_later())

    async def _stop_later(self) -> None:
        await asyncio.sleep(self._seconds)
        await super().stop_crawl()


def pool_of(
    launcher: Launcher, clock: VirtualClock, events: EventStream, *, jobs: int, turn: float, **options: Any
) -> CrawlPool:
    """Return a pool of some slots."""
    limits = SlotLimits(jobs, starts=jobs, turn=turn)
    pool = CrawlPool(launcher, clock, events, limits=limits, **options)
    pool.check_interval = 10.0
    return pool


class Asked(KnownSources):
    """What a runner asks about sources, answered by functions."""

    def __init__(self, **answers: Callable[[str], Any]) -> None:
        vars(self).update(answers)


@dataclass(slots=True)
class World:
    """A launcher whose crawls last as long as they are told to, and end as they are told to."""

    clock: VirtualClock
    lasts: Callable[[CrawlOrder], float] = lambda _: 60.0
    ends: Callable[[CrawlOrder], CrawlEnd] = lambda order: CrawlEnd(order.source, report(order.source))
    crawls: list[Lasted] = field(default_factory=list)
    going: dict[str, Crawl] = field(default_factory=dict)
    refuses: set[str] = field(default_factory=set)
    stops: Callable[[CrawlOrder], float] = lambda _: 0.0
    """How many seconds a crawl needs to end when it is stopped."""
    marks: Marks | None = None

    async def complete_dead(self, order: CrawlOrder, death: str) -> None:
        """Do nothing: no source has a completion command."""

    async def launch(self, order: CrawlOrder) -> CrawlHandle:
        if order.source in self.refuses:
            raise WorkError(f"the password of {order.source} cannot be read")
        assert order.source not in self.going, f"{order.source} is started twice"
        marked = self.marks if self.marks is not None and order.source in self.marks.rules else None
        if marked is not None:
            marked.begin(order.source)
        seconds = self.stops(order)
        now = self.clock.now()
        crawl = SlowCrawl(order, now, seconds) if seconds else Crawl(order, now)
        lasted = Lasted(order, crawl.begun)
        self.going[order.source] = crawl
        self.crawls.append(lasted)
        over = asyncio.get_running_loop().call_later(self.lasts(order), self._over, crawl)

        def note(done: asyncio.Future[CrawlEnd]) -> None:
            over.cancel()
            if self.going.get(order.source) is crawl:
                del self.going[order.source]
            lasted.ended = self.clock.now()
            lasted.end = None if done.cancelled() else done.result()
            if marked is not None and lasted.end and lasted.end.report and not lasted.end.report.interrupted:
                marked.end(order.source)

        crawl.end.add_done_callback(note)
        return crawl

    def _over(self, crawl: Crawl) -> None:
        if not crawl.end.done():
            crawl.end.set_result(self.ends(crawl.order))

    def die(self) -> None:
        """Have all crawls be gone, as with a machine that loses its power."""
        for crawl in list(self.going.values()):
            crawl.end.cancel()
        self.going.clear()

    def begun(self, source: str) -> list[float]:
        """Return when the crawls of a source began."""
        return [one.begun for one in self.crawls if one.order.source == source]


NIGHTLY = ScheduleTiming(CalendarTimes(("0 3 * * *",)))


def plan(*sources: str, name: str = "nightly", **options: Any) -> Plan:
    """Return a schedule of sources, every night at three unless said otherwise."""
    return Plan(name, sources or ("a",), options.pop("timing", NIGHTLY), **options)


class Kept:
    """A runner with all that it needs; time goes by when somebody waits."""

    def __init__(
        self,
        plans: Iterable[Plan],
        store: ScheduleStore,
        *,
        clock: VirtualClock,
        jobs: int | None = None,
        turn: float = float("inf"),
        **options: Any,
    ) -> None:
        """With `jobs`, at most so many crawls go on at a time, in a pool."""
        self.plans, self.store, self.clock = list(plans), store, clock
        self.options = options
        self.world = World(clock)
        self.jobs, self.turn = jobs, turn

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[ScheduleRunner]:
        events, launcher = EventStream(), self._launcher
        runner = ScheduleRunner(
            self.plans, launcher(events), self.store, self.clock, events=events, sources=Asked(**self.options)
        )
        runner.max_sleep = 600.0
        keeping = asyncio.ensure_future(runner.run())
        try:
            yield runner
            assert not keeping.done() or keeping.result() is None
        finally:
            keeping.cancel()

    def _launcher(self, events: EventStream) -> Launcher:
        if self.jobs is None:
            return self.world
        return pool_of(self.world, self.clock, events, jobs=self.jobs, turn=self.turn)

    def hours(self, source: str) -> list[float]:
        """Return when the crawls of a source began, in hours since the beginning."""
        return [round((one - self.clock.start) / 3600, 3) for one in self.world.begun(source)]


def only(runner: ScheduleRunner) -> ScheduleState:
    """Return the state of the only schedule."""
    (state,) = runner.states()
    return state


class Dice(random.Random):
    """Randomness that is the same in every run of a test."""

    def chance(self, share: float) -> bool:
        """Whether something happens that does in this share of the cases."""
        return self.random() < share
