"""The crawls of one run of a plan: begun when they may be, ended when they have to be, each with what came of it."""

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
LOOK_AGAIN = 5.0
"""Seconds between two looks at a source that somebody else crawls."""


@dataclass(frozen=True, slots=True)
class RunnerPorts:
    """What a plan needs of its runner."""

    clock: Clock
    launcher: Launcher
    keep: Callable[[KeptSchedule, ScheduleRun | None], None]
    """Makes durable what a plan does."""
    wake: Callable[[], None]
    """Has the runner look at its plans."""
    crawl_ended: Callable[[CrawlEnd], None]
    """Gets the end of each crawl."""
    is_paused: Callable[[str], bool]
    is_crawled: Callable[[str], bool]
    """Whether somebody else crawls a source just now."""
    log_of: Callable[[str], str]
    """Returns the log of the latest run of a source."""
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
    """When it has to end, done or not."""
    at_end: Reason
    """Why it is stopped then."""
    handle: CrawlHandle | None = None
    stopped_for: Reason | None = None
    work: asyncio.Task[None] | None = None


class PlanCrawls:
    """The crawls of a run that goes on, and what became of those that are done."""

    def __init__(self, plan: Plan, ports: RunnerPorts, changed: Callable[[str, bool], None]) -> None:
        """Tell `changed` of each source that began (and False), or whose crawl has ended (and True)."""
        self._plan = plan
        self._ports = ports
        self._changed = changed
        self._crawls: dict[str, _Crawl] = {}
        self._orders: set[asyncio.Task[None]] = set()
        self.results: dict[str, str] = {}
        """Of each source that is done why it failed, empty if it did not."""
        self.stopped: set[str] = set()
        """Sources that a person stopped."""
        self.begun = False
        """Whether one of those that are done was a crawl, and no mistake."""

    @property
    def going(self) -> Collection[str]:
        """The sources of crawls that were ordered and have not ended."""
        return self._crawls.keys()

    @property
    def failed_sources(self) -> dict[str, str]:
        """Of each source that failed, why."""
        return {name: why for name, why in self.results.items() if why and name not in self.stopped}

    def order_crawls(self, left: Collection[str], now: float) -> float:
        """Begin what is left of the run and may begin; returns when to look again."""
        again = NEVER
        for source in left:
            if source in self._crawls or self._ports.is_paused(source):
                continue
            if self._ports.is_crawled(source):
                again = now + LOOK_AGAIN
                continue
            closes, over = self._plan.window.closes(now), self._plan.rhythm.over_at(now)
            first = min(one for one in (closes, over, NEVER) if one is not None)
            crawl = _Crawl(source, first, Reason.WINDOW if first == closes else Reason.CYCLE_OVER)
            self._crawls[source] = crawl
            crawl.work = asyncio.ensure_future(self._crawl(crawl))
        return again

    def stop_late(self, now: float) -> float:
        """End the crawls whose time is over; returns when to look again."""
        for crawl in self._crawls.values():
            if crawl.ends_at <= now and crawl.stopped_for is None:
                self._stop(crawl, crawl.at_end)
        waiting = (one.ends_at for one in self._crawls.values() if one.stopped_for is None)
        return min(waiting, default=NEVER)

    def stop_source(self, source: str) -> None:
        """End a crawl because a person wants it."""
        self._stop(self._crawls[source], Reason.PERSON)

    def put_off(self) -> list[asyncio.Task[None]]:
        """End all crawls so that they go on with the next runner; returns what to wait for."""
        for crawl in self._crawls.values():
            if crawl.stopped_for is None:
                self._stop(crawl, Reason.RUNNER_ENDS)
        return [one.work for one in self._crawls.values() if one.work is not None]

    def leave_out(self, source: str) -> None:
        """Count a source as stopped that was not begun."""
        self.results[source] = ""
        self.stopped.add(source)

    async def _crawl(self, crawl: _Crawl) -> None:
        plan, source = self._plan, crawl.source
        order = CrawlOrder(source, plan.force, plan.mode, "" if plan.own else plan.name, plan.profile)
        try:
            end = await self._launched(crawl, order)
        except (
            Exception
        ) as error:  # the edge to launchers: whatever they raise, the run ends and the next one comes
            told = (
                error if isinstance(error, UltracrawlError) else WorkError(f"{type(error).__name__}: {error}")
            )
            logger.debug("The crawl of %s could not be begun or followed", source, exc_info=error)
            end = CrawlEnd(source, RunReport.not_begun(source, told), str(told))
        self._take_end(crawl, end)

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

    def _take_end(self, crawl: _Crawl, end: CrawlEnd) -> None:
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
    """Return whether a crawl ended before it was done, because somebody wanted that."""
    if end.report is None:
        return not end.died and bool(end.error)
    ended_early = bool(end.report.ended_by) and crawl.stopped_for is not None
    return end.report.begun and (end.report.interrupted or ended_early)
