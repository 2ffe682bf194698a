"""The crawls of one run of a plan: starts and stops them, and collects their results."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Collection, Mapping
from enum import Enum

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import UltracrawlError, WorkError
from ultracrawl.model import RunReport
from ultracrawl.rules.schedules.status import ScheduleEvent
from ultracrawl.service.orders import Clock, CrawlEnd, CrawlHandle, CrawlOrder, Launcher
from ultracrawl.service.schedules.plans import Plan
from ultracrawl.stores.port.schedule_store import KeptSchedule, ScheduleRun

logger = logging.getLogger(__name__)

NEVER = math.inf
RETRY_INTERVAL = 5.0
"""Seconds between two attempts to start a source that another process crawls."""


class KnownSources:
    """What a runner asks about sources; this one knows nothing of them."""

    def is_crawled(self, source: str) -> bool:
        """Return whether a source is crawled already, here or by another process."""
        return False

    def log_of(self, source: str) -> str:
        """Return the log file of the latest run of a source."""
        return ""

    def has_pending(self, source: str) -> bool:
        """Return whether documents of a source wait for approval."""
        return False


@dataclass(frozen=True, slots=True)
class RunnerPorts:
    """What a plan uses of its runner."""

    clock: Clock
    launcher: Launcher
    store_state: Callable[[KeptSchedule, ScheduleRun | None], None]
    """Stores the state of a plan, and a finished run."""
    wake: Callable[[], None]
    """Lets the runner check its plans."""
    is_paused: Callable[[str], bool]
    sources: KnownSources


class Reason(Enum):
    """Why the runner stopped a crawl."""

    PERSON = 1
    WINDOW = 2
    CYCLE_OVER = 3
    RUNNER_ENDS = 4


@dataclass(slots=True, eq=False)
class _Crawl:
    """A crawl that was ordered and has not ended."""

    source: str
    plan: Plan
    """The plan by which it was ordered; a run that begins meanwhile may have another."""
    closes: float
    """When its window closes: it is stopped then, whether it has begun or waits."""
    stops: float
    """The stop time of its schedule, whether it has begun or waits."""
    over: float = NEVER
    """When its cycle is over; it is known while the crawl runs, and an order that waits has none."""
    handle: CrawlHandle | None = None
    stopped_for: Reason | None = None
    work: asyncio.Task[None] | None = None


class PlanCrawls:
    """The active crawls of a plan, and the results of those that have ended in its current run."""

    def __init__(self, ports: RunnerPorts, began: Callable[[], None], ended: Callable[[str], None]) -> None:
        """Call `began` when a crawl has started, and `ended` with the source of each that has ended."""
        self._ports = ports
        self._began = began
        self._ended = ended
        self._crawls: dict[str, _Crawl] = {}
        self._orders: set[asyncio.Task[None]] = set()
        self.results: dict[str, str] = {}
        """Source that is done -> why it failed; empty if it did not fail."""
        self.stopped: set[str] = set()
        """Sources stopped by a person."""
        self.begun = False
        """Whether any of the ended crawls had started."""

    def begin_run(self) -> None:
        """Forget the results of the run before; crawls that are active go on, and belong to the new run."""
        self.results, self.stopped, self.begun = {}, set(), False

    @property
    def active(self) -> Collection[str]:
        """The sources of crawls that were ordered and have not ended."""
        return self._crawls.keys()

    @property
    def failed_sources(self) -> dict[str, str]:
        """Failed source -> reason."""
        return {name: reason for name, reason in self.results.items() if reason and name not in self.stopped}

    def event(self) -> ScheduleEvent:
        """Return what a run with these results is for its schedule."""
        if self.stopped and len(self.stopped) == len(self.results):
            return ScheduleEvent.STOPPED
        if failed := self.failed_sources:
            is_all = len(failed) == len(self.results)
            return ScheduleEvent.FAILED if is_all else ScheduleEvent.PARTLY_FAILED
        pending = any(map(self._ports.sources.has_pending, self.results))
        return ScheduleEvent.ENDED_PENDING if pending else ScheduleEvent.ENDED

    def order_crawls(self, plan: Plan, left: Collection[str], due: Mapping[str, float], now: float) -> float:
        """Order the crawls of the remaining sources that may start; returns the time of the next attempt.

        Orders are queued by the time since when their sources are `due`. None is given while the window is closed.
        """
        next_attempt = NEVER
        if not plan.window.is_open(now):
            return next_attempt
        for source in left:
            if source in self._crawls or self._ports.is_paused(source):
                continue
            if self._ports.sources.is_crawled(source):
                next_attempt = now + RETRY_INTERVAL
                continue
            closes = plan.window.closes(now) or NEVER
            crawl = self._crawls[source] = _Crawl(source, plan, closes, plan.stops_after(now))
            crawl.work = asyncio.ensure_future(self._crawl(crawl, due.get(source, now)))
        return next_attempt

    def stop_overdue(self, now: float) -> float:
        """Stop the crawls whose time is over; returns the time of the next one."""
        next_stop = NEVER
        for crawl in self._crawls.values():
            if crawl.stopped_for is not None:
                continue
            if crawl.closes <= now:
                self._stop(crawl, Reason.WINDOW)
            elif min(crawl.over, crawl.stops) <= now:
                self._stop(crawl, Reason.CYCLE_OVER)
            else:
                next_stop = min(next_stop, crawl.closes, crawl.over, crawl.stops)
        return next_stop

    def note_begun(self, source: str) -> None:
        """Record that a crawl begins, perhaps again: its cycle counts from now, waiting is not crawling."""
        if (crawl := self._crawls.get(source)) is not None:
            over = crawl.plan.timing.over_at(self._ports.clock.now())
            crawl.over = NEVER if over is None else over
            self._began()
            self._ports.wake()

    def note_waits(self, source: str) -> None:
        """Record that a crawl waits for a slot; its cycle may pass meanwhile, and it keeps its place."""
        if (crawl := self._crawls.get(source)) is not None:
            crawl.over = NEVER

    def stop_source(self, source: str) -> None:
        """Stop a crawl by order of a person."""
        self._stop(self._crawls[source], Reason.PERSON)

    def suspend(self) -> list[asyncio.Task[None]]:
        """End all crawls so that the next runner resumes them; returns the tasks to wait for."""
        for crawl in self._crawls.values():
            if crawl.stopped_for is None:
                self._stop(crawl, Reason.RUNNER_ENDS)
        return [crawl.work for crawl in self._crawls.values() if crawl.work is not None]

    def skip_source(self, source: str) -> None:
        """Count a source that was not started as stopped by a person."""
        self.results[source] = ""
        self.stopped.add(source)

    async def _crawl(self, crawl: _Crawl, due: float) -> None:
        plan, source = crawl.plan, crawl.source
        schedule = "" if plan.own else plan.name
        order = CrawlOrder(source, plan.force, plan.mode, schedule, plan.profile, due, node=plan.node)
        try:
            end = await self._launched(crawl, order)
        except Exception as error:  # whatever a launcher raises, the run has to end
            failure = (
                error if isinstance(error, UltracrawlError) else WorkError(f"{type(error).__name__}: {error}")
            )
            logger.debug("The crawl of %s could not be started or monitored", source, exc_info=error)
            end = CrawlEnd(source, RunReport.not_begun(source, failure), str(failure))
        self._handle_end(crawl, end)

    async def _launched(self, crawl: _Crawl, order: CrawlOrder) -> CrawlEnd:
        crawl.handle = await (crawl.plan.launcher or self._ports.launcher).launch(order)
        if crawl.stopped_for is not None:
            await crawl.handle.stop_crawl()
        if crawl.handle.begun:
            self.note_begun(crawl.source)
        return await crawl.handle.finished()

    def _stop(self, crawl: _Crawl, reason: Reason) -> None:
        crawl.stopped_for = reason
        if crawl.handle is not None:
            ending = asyncio.ensure_future(crawl.handle.stop_crawl())
            self._orders.add(ending)
            ending.add_done_callback(self._orders.discard)

    def _handle_end(self, crawl: _Crawl, end: CrawlEnd) -> None:
        source, reason, stopped = crawl.source, crawl.stopped_for, _was_stopped(crawl, end)
        del self._crawls[source]
        withdrawn = reason is None and end.report is None and self._ports.is_paused(source)
        if not (stopped and (withdrawn or reason in {Reason.WINDOW, Reason.RUNNER_ENDS})):
            self.begun = self.begun or end.report is None or end.report.begun
            if (stopped and reason in {None, Reason.PERSON}) or (end.last and crawl.plan.own):
                self.stopped.add(source)
            self.results[source] = "" if stopped and reason is Reason.CYCLE_OVER else end.line
        self._ended(source)


def _was_stopped(crawl: _Crawl, end: CrawlEnd) -> bool:
    """Return whether a crawl was ended by request before it was done."""
    if end.report is None:
        return not end.died and bool(end.error)
    ended_early = bool(end.report.ended_by) and crawl.stopped_for is not None
    return end.report.begun and (end.report.interrupted or ended_early)
