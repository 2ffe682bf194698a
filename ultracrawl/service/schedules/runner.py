"""The schedule runner: launches plans when they are due, and stores their states and runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable

from ultracrawl.errors import StateError, UserError
from ultracrawl.model import ScheduleStatus
from ultracrawl.service.orders import Clock, Event, EventKind, EventStream, Launcher, ScheduleState
from ultracrawl.service.schedules.managed_plan import ManagedPlan
from ultracrawl.service.schedules.plan_crawls import NEVER, KnownSources, RunnerPorts
from ultracrawl.service.schedules.plans import Plan
from ultracrawl.stores.port.schedule_store import (
    KeptSchedule,
    ScheduleRun,
    ScheduleStore,
)

logger = logging.getLogger(__name__)

MIN_SLEEP = 0.001
"""Minimum seconds between two checks, as the float of a clock may not reach a due time exactly."""
_MAX_UNWRITTEN_RUNS = 100
"""Runs per schedule that are kept in memory while the store cannot be written."""
CLOCK_SET_BACK = 60.0
"""Seconds by which a clock has to go back for its earlier times to count as wrong."""


class _ScheduleWriter:
    """Writes states and runs of plans; keeps in memory what cannot be written yet."""

    def __init__(self, store: ScheduleStore) -> None:
        self._store = store
        self._unwritten: dict[str, tuple[KeptSchedule, list[ScheduleRun]]] = {}
        self._has_warned = False

    def put_schedule(self, row: KeptSchedule, run: ScheduleRun | None) -> None:
        """Write the state of a plan, and a run that has ended."""
        _, runs = self._unwritten.pop(row.name, (row, []))
        self._unwritten[row.name] = (row, [*runs, run][-_MAX_UNWRITTEN_RUNS:] if run else runs)
        self.write_pending()

    def write_pending(self) -> None:
        """Try to write everything that is not written yet."""
        try:
            for name, (row, runs) in list(self._unwritten.items()):
                while len(runs) > 1:
                    self._store.put_schedule(row, runs[0])
                    del runs[0]
                self._store.put_schedule(row, runs[0] if runs else None)
                del self._unwritten[name]
            self._has_warned = False
        except StateError as error:
            if not self._has_warned:
                logger.warning("The state of the schedules cannot be stored: %s", error)
            self._has_warned = True


class ScheduleRunner:
    """Launches plans when they are due, in the order of their due times; the launcher limits concurrent crawls.

    A source is never ordered while its run is active, or while `sources` reports a crawl by another process. If the
    store cannot be written (full disk), states and runs are written as soon as possible.
    """

    max_sleep = 30.0
    """Seconds after which the clock is checked again: it may have been set, or the machine suspended."""

    def __init__(
        self,
        plans: Iterable[Plan],
        launcher: Launcher,
        store: ScheduleStore,
        clock: Clock,
        *,
        events: EventStream | None = None,
        sources: KnownSources | None = None,
    ) -> None:
        """`events` are those of the launcher, for the start of ordered crawls."""
        self._store = store
        self._clock = clock
        self._events = events or EventStream()
        self._wake = asyncio.Event()
        self._writer = _ScheduleWriter(store)
        self._ending = False
        self._last_check = clock.now()
        self._paused = set(store.paused_sources())
        self._ports = RunnerPorts(
            clock,
            launcher,
            self._writer.put_schedule,
            self._wake.set,
            lambda source: source in self._paused,
            sources or KnownSources(),
        )
        self._plans: dict[str, ManagedPlan] = {}
        self._removed: set[str] = set()
        """Keys of removed plans whose runs are still active."""
        self.replace_plans(plans)

    # ---- states

    def states(self) -> list[ScheduleState]:
        """Return the states of all schedules, without those of sources at their own interval."""
        return [managed.state() for managed in self._plans.values() if not managed.plan.own]

    def next_runs(self) -> dict[str, float]:
        """Return the next due time of each source that waits for one."""
        return {source: at for managed in self._plans.values() for source, at in managed.next_runs().items()}

    @property
    def busy(self) -> bool:
        """Whether any run is active."""
        return any(managed.busy for managed in self._plans.values())

    def is_idle(self, key: str) -> bool:
        """Return whether a plan neither runs nor is due."""
        managed = self._plans.get(key)
        if managed is None or managed.busy:
            return managed is None
        due = managed.next_run
        return due is None or due > self._clock.now()

    def read_paused(self) -> None:
        """Read again which sources are paused, as another process may have changed it. Raises `StateError`."""
        self._paused = set(self._store.paused_sources())

    def paused_sources(self) -> frozenset[str]:
        """Return the sources that are not started until a person resumes them."""
        return frozenset(self._paused)

    @property
    def all_stopped(self) -> bool:
        """Whether a person has stopped all plans with crawls, so that there is nothing left to do."""
        crawling = (managed for managed in self._plans.values() if managed.plan.launcher is None)
        return all(managed.row.status is ScheduleStatus.STOPPED for managed in crawling)

    # ---- the loop

    async def run(self, until: Callable[[], bool] = lambda: False) -> None:
        """Launch plans when they are due, until `end_crawls` is called or `until` returns True."""
        with self._events.listening(self.note_event):
            while not (self._ending or until()):
                seconds = min(self._check() - self._clock.now(), self.max_sleep)
                await self._sleep(max(seconds, MIN_SLEEP))

    def _check(self) -> float:
        """Launch and stop what is due; returns the time of the next check."""
        if (now := self._clock.now()) < self._last_check - CLOCK_SET_BACK:
            for managed in self._plans.values():
                managed.clock_set_back(now)
        self._last_check = now
        self._writer.write_pending()
        for key in [key for key in self._removed if not self._plans[key].busy]:
            self._removed.discard(key)
            del self._plans[key]
        by_due = sorted(self._plans.values(), key=lambda managed: managed.due_since)
        return min((managed.check(now) for managed in by_due), default=NEVER)

    async def _sleep(self, seconds: float) -> None:
        """Wait for some seconds, or until `_wake` is set."""
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

    def note_event(self, event: Event) -> None:
        """Record that a crawl starts, or waits in the queue of the launcher."""
        plan = self._plan_of(event.source)
        if plan is not None and event.kind in {EventKind.RUN_BEGAN, EventKind.RUN_WAITS}:
            plan.note_begun(event.source, begun=event.kind is EventKind.RUN_BEGAN)

    def begin_end(self) -> list[asyncio.Task[None]]:
        """Launch nothing more and end all crawls cleanly; returns the tasks to wait for."""
        self._ending = True
        self._wake.set()
        return [task for managed in self._plans.values() for task in managed.suspend()]

    async def end_crawls(self) -> None:
        """Launch nothing more, end all crawls cleanly, and wait for them; the next runner resumes them."""
        if tasks := self.begin_end():
            await asyncio.wait(tasks)
        self._writer.write_pending()

    def replace_plans(self, plans: Iterable[Plan]) -> None:
        """Replace the plans; the crawls of a removed plan continue to their end."""
        wanted = {plan.key: plan for plan in plans}
        active = {key: managed for key, managed in self._plans.items() if key not in wanted and managed.busy}
        for managed in active.values():
            managed.replace_plan(None)
        self._plans = {key: self._managed(key, plan) for key, plan in wanted.items()} | active
        self._removed = set(active)
        self._wake.set()

    def _managed(self, key: str, plan: Plan) -> ManagedPlan:
        if (known := self._plans.get(key)) is None:
            return ManagedPlan(plan, self._ports, self._store.get_schedule(key) if plan.restored else None)
        known.replace_plan(plan)
        return known

    # ---- orders

    @property
    def schedules(self) -> list[str]:
        """The names of the schedules of this runner."""
        return [managed.plan.name for managed in self._plans.values() if not managed.plan.own]

    @property
    def sources(self) -> list[str]:
        """The names of the sources of this runner."""
        return [source for managed in self._plans.values() for source in managed.plan.sources]

    def find_schedule(self, name: str) -> ManagedPlan:
        """Return a schedule, and let the loop check it. Raises `UserError` if it is unknown."""
        if name not in self._plans:
            raise UserError(f"no schedule is named {name!r}")
        self._wake.set()
        return self._plans[name]

    def _plan_of(self, source: str) -> ManagedPlan | None:
        """Return the plan that crawls a source, else the one that will."""
        plans = [managed for managed in self._plans.values() if source in managed.plan.sources]
        return next((managed for managed in plans if managed.is_crawling(source)), next(iter(plans), None))

    def launch_source(self, source: str) -> None:
        """Crawl a source at its own interval now, unless it is being crawled or a person has stopped it."""
        plan = self._plan_of(source)
        if plan is not None and plan.plan.own and not (plan.busy or plan.stopped_by_hand):
            plan.launch_by_hand()

    def pause_source(self, source: str) -> None:
        """Do not start a source until it is resumed; its active crawl is not affected. Raises `StateError`."""
        self._store.set_paused(source, paused=True)
        self._paused.add(source)

    def resume_source(self, source: str) -> None:
        """Start a source again when it is due. Raises `StateError`."""
        self._store.set_paused(source, paused=False)
        self._paused.discard(source)
        if (plan := self._plan_of(source)) is not None and plan.stopped_by_hand:
            plan.resume_by_hand()
        self._wake.set()

    def is_held(self, source: str) -> bool:
        """Whether a person has paused or stopped a source, so that it is not started until it is resumed."""
        plan = self._plan_of(source)
        return source in self._paused or (plan is not None and plan.stopped_by_hand)

    def stop_source(self, source: str) -> None:
        """End the crawl of a source; one at its own interval is not started until it is resumed. Raises `UserError`."""
        if (plan := self._plan_of(source)) is None:
            raise UserError(f"no schedule or interval starts the source {source!r}")
        plan.stop_source(source)
        self._wake.set()
