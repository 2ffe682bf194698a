"""The crawls of one run of a plan: starts and stops them, and collects their results."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum

from ultracrawl.errors import UltracrawlError, WorkError
from ultracrawl.model import RunReport
from ultracrawl.service.orders import Clock, CrawlEnd, CrawlHandle, CrawlOrder, Launcher
from ultracrawl.service.schedules.plans import Plan
from ultracrawl.stores.port.schedule_store import KeptSchedule, ScheduleRun

logger = logging.getLogger(__name__)

NEVER = math.inf
RETRY_INTERVAL = 5.0
"""Seconds between two attempts to start a source that another process crawls."""


@dataclass(frozen=True, slots=True)
class RunnerPorts:
    """What a plan uses of its runner."""

    clock: Clock
    launcher: Launcher
    store_state: Callable[[KeptSchedule, ScheduleRun | None], None]
    """Stores the state of a plan, and a finished run."""
    wake: Callable[[], None]
    """Lets the runner check its plans."""
    crawl_ended: Callable[[CrawlEnd], None]
    """Called with the end of each crawl."""
    is_paused: Callable[[str], bool]
    is_crawled: Callable[[str], bool]
    """Whether another process crawls a source."""
    log_of: Callable[[str], str]
    """Returns the log file of the latest run of a source."""
    has_pending: Callable[[str], bool]
    """Whether documents of a source wait for approval."""


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
    ends_at: float
    """When it is stopped at the latest."""
    end_reason: Reason
    """Why it is stopped then."""
    handle: CrawlHandle | None = None
    stopped_for: Reason | None = None
    work: asyncio.Task[None] | None = None


class PlanCrawls:
    """The active crawls of a run, and the results of those that have ended."""

    def __init__(self, plan: Plan, ports: RunnerPorts, changed: Callable[[str, bool], None]) -> None:
        """Call `changed` with each source and False when its crawl has started, and True when it has ended."""
        self._plan = plan
        self._ports = ports
        self._changed = changed
        self._crawls: dict[str, _Crawl] = {}
        self._orders: set[asyncio.Task[None]] = set()
        self.results: dict[str, str] = {}
        """Source that is done -> why it failed; empty if it did not fail."""
        self.stopped: set[str] = set()
        """Sources stopped by a person."""
        self.begun = False
        """Whether any of the ended crawls had started."""

    @property
    def active(self) -> Collection[str]:
        """The sources of crawls that were ordered and have not ended."""
        return self._crawls.keys()

    @property
    def failed_sources(self) -> dict[str, str]:
        """Failed source -> reason."""
        return {name: reason for name, reason in self.results.items() if reason and name not in self.stopped}

    def order_crawls(self, left: Collection[str], now: float) -> float:
        """Start the crawls of the remaining sources that may start; returns the time of the next attempt."""
        next_attempt = NEVER
        for source in left:
            if source in self._crawls or self._ports.is_paused(source):
                continue
            if self._ports.is_crawled(source):
                next_attempt = now + RETRY_INTERVAL
                continue
            closes, over = self._plan.window.closes(now), self._plan.timing.over_at(now)
            ends_at = min(limit for limit in (closes, over, NEVER) if limit is not None)
            crawl = _Crawl(source, ends_at, Reason.WINDOW if ends_at == closes else Reason.CYCLE_OVER)
            self._crawls[source] = crawl
            crawl.work = asyncio.ensure_future(self._crawl(crawl))
        return next_attempt

    def stop_overdue(self, now: float) -> float:
        """Stop the crawls whose time is over; returns the time of the next one."""
        for crawl in self._crawls.values():
            if crawl.ends_at <= now and crawl.stopped_for is None:
                self._stop(crawl, crawl.end_reason)
        limits = (crawl.ends_at for crawl in self._crawls.values() if crawl.stopped_for is None)
        return min(limits, default=NEVER)

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

    async def _crawl(self, crawl: _Crawl) -> None:
        plan, source = self._plan, crawl.source
        order = CrawlOrder(source, plan.force, plan.mode, "" if plan.own else plan.name, plan.profile)
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
        crawl.handle = await (self._plan.launcher or self._ports.launcher).launch(order)
        if crawl.stopped_for is not None:
            await crawl.handle.stop_crawl()
        if crawl.handle.begun:
            self._changed(crawl.source, False)
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
        self._ports.crawl_ended(end)
        if not (stopped and reason in {Reason.WINDOW, Reason.RUNNER_ENDS}):
            self.begun = self.begun or end.report is None or end.report.begun
            if stopped and reason in {None, Reason.PERSON}:
                self.stopped.add(source)
            self.results[source] = "" if stopped and reason is Reason.CYCLE_OVER else end.line
        self._changed(source, True)


def _was_stopped(crawl: _Crawl, end: CrawlEnd) -> bool:
    """Return whether a crawl was ended by request before it was done."""
    if end.report is None:
        return not end.died and bool(end.error)
    ended_early = bool(end.report.ended_by) and crawl.stopped_for is not None
    return end.report.begun and (end.report.interrupted or ended_early)
