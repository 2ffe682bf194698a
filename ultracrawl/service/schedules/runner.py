"""Keeps schedules over a clock: looks when the next is due, launches it, and writes down what becomes of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable

from ultracrawl.errors import StateError, UserError
from ultracrawl.model import ScheduleStatus
from ultracrawl.service.orders import Clock, CrawlEnd, EventKind, EventStream, Launcher, ScheduleState
from ultracrawl.service.schedules.kept_plan import KeptPlan
from ultracrawl.service.schedules.plan_crawls import NEVER, RunnerPorts
from ultracrawl.service.schedules.plans import Plan
from ultracrawl.stores.port.schedule_store import (
    KeptSchedule,
    ScheduleRun,
    ScheduleStore,
)

logger = logging.getLogger(__name__)

LONGEST_REST = 30.0
"""Seconds after which the clock is looked at again: it may have been set, or the machine suspended."""
SHORTEST_REST = 0.001
"""Seconds between two looks: a clock may not come nearer to a time than its numbers tell apart."""
_MOST_WAITING = 100
"""Runs of a schedule that wait to be written, as long as the disk is full."""
SET_BACK = 60.0
"""Seconds by which a clock has to go back to count as one that was wrong."""


def _never(_: str) -> bool:
    return False


def _no_log(_: str) -> str:
    return ""


class _ScheduleWriter:
    """Writes what plans do; what cannot be written waits until it can."""

    def __init__(self, store: ScheduleStore) -> None:
        self._store = store
        self._waiting: dict[str, tuple[KeptSchedule, list[ScheduleRun]]] = {}
        self._told = False
        """Whether it was said that something cannot be written."""

    def put_schedule(self, row: KeptSchedule, run: ScheduleRun | None) -> None:
        """Write what a plan does, and a run that has ended."""
        _, runs = self._waiting.pop(row.name, (row, []))
        self._waiting[row.name] = (row, [*runs, run][-_MOST_WAITING:] if run else runs)
        self.write_again()

    def write_again(self) -> None:
        """Write what waits."""
        try:
            for name, (row, runs) in list(self._waiting.items()):
                while len(runs) > 1:
                    self._store.put_schedule(row, runs[0])
                    del runs[0]
                self._store.put_schedule(row, runs[0] if runs else None)
                del self._waiting[name]
            self._told = False
        except StateError as error:
            if not self._told:
                logger.warning("What schedules do is not written down yet: %s", error)
            self._told = True


class ScheduleRunner:
    """Launches plans when they are due, through a launcher that knows how many crawls may go on at once.

    What is due first is ordered first. A source is never ordered twice at once: neither while its run goes on nor
    while `is_crawled` says that somebody else crawls it. If the store cannot be written (a full disk), what is to be
    kept is written as soon as that works again.
    """

    def __init__(
        self,
        plans: Iterable[Plan],
        launcher: Launcher,
        store: ScheduleStore,
        clock: Clock,
        *,
        events: EventStream | None = None,
        crawl_ended: Callable[[CrawlEnd], None] = lambda _: None,
        is_crawled: Callable[[str], bool] = _never,
        log_of: Callable[[str], str] = _no_log,
        has_pending: Callable[[str], bool] = _never,
        longest_rest: float = LONGEST_REST,
        forgets_sources: bool = False,
    ) -> None:
        """Hear from `events` of the launcher when a crawl that was ordered begins.

        With `forgets_sources`, sources at their own interval are taken up whatever they were told earlier.
        """
        self._store = store
        self._clock = clock
        self._events = events or EventStream()
        self._longest_rest = longest_rest
        self._forgets_sources = forgets_sources
        self._wake = asyncio.Event()
        self._writer = _ScheduleWriter(store)
        self._ending = False
        self._last_look = clock.now()
        self._paused = set(store.paused_sources())
        self._ports = RunnerPorts(
            clock,
            launcher,
            self._writer.put_schedule,
            self._wake.set,
            crawl_ended,
            lambda source: source in self._paused,
            is_crawled,
            log_of,
            has_pending,
        )
        self._kept: dict[str, KeptPlan] = {}
        self._leaving: set[str] = set()
        """Plans that are no more, and whose runs go on."""
        self.replace_plans(plans)

    # ---- looking

    def states(self) -> list[ScheduleState]:
        """Return what all schedules do; sources with an interval of their own are none."""
        return [one.state() for one in self._kept.values() if not one.plan.own]

    def next_runs(self) -> dict[str, float]:
        """Return when each source is crawled next, of those that wait for a time."""
        return {
            source: one.next_run
            for one in self._kept.values()
            if one.next_run is not None
            for source in one.plan.sources
        }

    @property
    def busy(self) -> bool:
        """Whether a run of something goes on."""
        return any(one.busy for one in self._kept.values())

    def paused_sources(self) -> frozenset[str]:
        """Return the sources that are not begun until they are resumed."""
        return frozenset(self._paused)

    @property
    def all_stopped(self) -> bool:
        """Whether a person has stopped everything that is kept, so that nothing is left to be waited for."""
        plans = self._kept.values()
        return all(one.row.status is ScheduleStatus.STOPPED for one in plans if one.plan.launcher is None)

    # ---- the loop

    async def keep(self, until: Callable[[], bool] = lambda: False) -> None:
        """Keep all plans, until `end_crawls` or something holds."""
        hearing = asyncio.ensure_future(_hear_events(self._events, self.note_begun))
        try:
            while not (self._ending or until()):
                rest = min(self._look() - self._clock.now(), self._longest_rest)
                await self._rest(max(rest, SHORTEST_REST))
        finally:
            hearing.cancel()

    def _look(self) -> float:
        """Do what is due; returns when to look again."""
        if (now := self._clock.now()) < self._last_look - SET_BACK:
            for one in self._kept.values():
                one.clock_set_back(now)
        self._last_look = now
        self._writer.write_again()
        for key in [key for key in self._leaving if not self._kept[key].busy]:
            self._leaving.discard(key)
            del self._kept[key]
        by_due = sorted(self._kept.values(), key=lambda one: one.row.due or NEVER)
        return min((one.look(now) for one in by_due), default=NEVER)

    async def _rest(self, seconds: float) -> None:
        """Wait so long, or until something happens."""
        if self._wake.is_set():
            await asyncio.sleep(0)
        else:
            sleep = asyncio.ensure_future(self._clock.sleep(seconds))
            wake = asyncio.ensure_future(self._wake.wait())
            try:
                await asyncio.wait((sleep, wake), return_when=asyncio.FIRST_COMPLETED)
            finally:
                sleep.cancel()
                wake.cancel()
        self._wake.clear()

    def note_begun(self, source: str) -> None:
        """Take note that the crawl of a source is under way, which may have waited for its turn."""
        if (plan := self._plan_of(source)) is not None:
            plan.note_begun()

    def begin_end(self) -> list[asyncio.Task[None]]:
        """Launch nothing more and have all crawls end cleanly; returns what to wait for."""
        self._ending = True
        self._wake.set()
        return [work for one in self._kept.values() for work in one.put_off()]

    async def end_crawls(self) -> None:
        """Launch nothing more, have all crawls end cleanly, and return when they have; the next runner goes on."""
        if works := self.begin_end():
            await asyncio.wait(works)
        self._writer.write_again()

    def replace_plans(self, plans: Iterable[Plan]) -> None:
        """Keep these plans from now on; a run of one that is no more goes on to its end."""
        wanted = {plan.key: plan for plan in plans}
        going = {key: one for key, one in self._kept.items() if key not in wanted and one.busy}
        self._kept = {key: self._taken(key, plan) for key, plan in wanted.items()} | going
        self._leaving = set(going)
        self._wake.set()

    def _taken(self, key: str, plan: Plan) -> KeptPlan:
        if (known := self._kept.get(key)) is None:
            forgotten = plan.own and self._forgets_sources
            return KeptPlan(plan, self._ports, None if forgotten else self._store.get_schedule(key))
        known.take_plan(plan)
        return known

    # ---- orders

    @property
    def schedules(self) -> list[str]:
        """The names of the schedules that are kept here."""
        return [one.plan.name for one in self._kept.values() if not one.plan.own]

    @property
    def sources(self) -> list[str]:
        """The names of the sources that are kept here."""
        return [source for one in self._kept.values() for source in one.plan.sources]

    def find_schedule(self, name: str) -> KeptPlan:
        """Return a schedule. Raises `UserError` if it is not kept here."""
        if name not in self._kept:
            raise UserError(f"no schedule is named {name!r}")
        self._wake.set()
        return self._kept[name]

    def _plan_of(self, source: str) -> KeptPlan | None:
        return next((one for one in self._kept.values() if source in one.plan.sources), None)

    def pause_source(self, source: str) -> None:
        """Do not begin a source until it is resumed; a crawl that goes on is not touched. Raises `StateError`."""
        self._store.set_paused(source, paused=True)
        self._paused.add(source)

    def resume_source(self, source: str) -> None:
        """Begin a source again when it is due. Raises `StateError`."""
        self._store.set_paused(source, paused=False)
        self._paused.discard(source)
        if (plan := self._plan_of(source)) is not None and plan.stopped_by_hand:
            plan.resume_by_hand()
        self._wake.set()

    def is_held(self, source: str) -> bool:
        """Whether a person wants a source not to be begun until it is resumed."""
        plan = self._plan_of(source)
        return source in self._paused or (plan is not None and plan.stopped_by_hand)

    def stop_source(self, source: str) -> None:
        """End the crawl of a source; one with an interval of its own is begun no more. Raises `UserError`."""
        if (plan := self._plan_of(source)) is None:
            raise UserError(f"nothing keeps the source {source!r}")
        plan.stop_source(source)
        self._wake.set()


async def _hear_events(events: EventStream, began: Callable[[str], None]) -> None:
    subscription = events.subscribe()
    try:
        async for event in subscription:
            if event.kind is EventKind.RUN_BEGAN:
                began(event.source)
    finally:
        subscription.close()
