"""Limits the number of concurrent crawls, queues the others, and restarts crawls that died with increasing delays."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from ultracrawl.errors import UltracrawlError, WorkError
from ultracrawl.model import RunReport
from ultracrawl.service.orders import (
    Clock,
    CrawlEnd,
    CrawlHandle,
    CrawlOrder,
    Event,
    EventKind,
    EventStream,
    Launcher,
)

FIRST_RESTART_DELAY = 5.0
"""Seconds until a crawl that died is restarted; doubled after each further death."""
MAX_RESTART_DELAY = 600.0
MAX_RESTARTS = 5
"""Restarts of a crawl that died before its run counts as failed, in long-running commands."""


CompleteDead = Callable[[CrawlOrder, str], Awaitable[CrawlHandle | None]]
"""Starts the completion command for a crawl that died, given the reason; returns None if the source has none."""

logger = logging.getLogger(__name__)


def default_jobs() -> int:
    """Return the default number of concurrent crawls: one per core."""
    return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


class CrawlPool:
    """A launcher that runs at most `jobs` crawls of another launcher at a time, in the order in which they were due.

    A crawl that lasts longer than `turn` seconds while others wait is stopped cleanly and queued again; a paused crawl
    releases its slot. A crawl that died is restarted up to `restarts` times.
    """

    def __init__(
        self,
        launcher: Launcher,
        clock: Clock,
        events: EventStream,
        *,
        jobs: int,
        restarts: int = 0,
        turn: float = float("inf"),
        ended: Callable[[CrawlEnd], None] = lambda _: None,
        complete_dead: CompleteDead | None = None,
    ) -> None:
        """Call `ended` with the end of each crawl, and before that `complete_dead` after the last restart."""
        self.jobs = jobs
        self.clock = clock
        self.restarts = restarts
        self.turn = turn
        self.events = events
        self.launcher = launcher
        self.ended = ended
        self.complete_dead = complete_dead
        self._crawls: dict[str, PooledCrawl] = {}
        self._waiting: deque[PooledCrawl] = deque()
        self._slots: set[PooledCrawl] = set()

    @property
    def crawls(self) -> Mapping[str, PooledCrawl]:
        """The queued and running crawls, by source."""
        return self._crawls

    @property
    def waiting(self) -> list[str]:
        """The sources whose crawls wait for a slot, in their order."""
        return [crawl.order.source for crawl in self._waiting]

    async def launch(self, order: CrawlOrder) -> PooledCrawl:
        """Queue a crawl. Raises `WorkError` if its source is queued or being crawled already."""
        if order.source in self._crawls:
            raise WorkError(f"the source {order.source!r} is being crawled already")
        crawl = PooledCrawl(order, self)
        self._crawls[order.source] = crawl
        return crawl

    async def wait_for_slot(self, crawl: PooledCrawl) -> None:
        """Wait until a crawl has a slot; a crawl on another machine needs none."""
        if crawl.order.profile:
            return
        place = sum(other.due <= crawl.due for other in self._waiting)
        self._waiting.insert(place, crawl)
        try:
            self._assign_slots()
            if not crawl.has_slot.is_set():
                self._publish_wait(crawl.order.source)
            await crawl.has_slot.wait()
        finally:
            if crawl in self._waiting:
                self._waiting.remove(crawl)

    def _publish_wait(self, source: str) -> None:
        crawled = sorted(crawl.order.source for crawl in self._slots)
        text = f"waits for a free slot; being crawled: {', '.join(crawled)}"
        self.events.publish_event(Event(EventKind.RUN_WAITS, self.clock.now(), source, text))

    def take_slot(self, crawl: PooledCrawl) -> None:
        """Give a slot to a crawl that was resumed, even if that exceeds the limit."""
        self._slots.add(crawl)
        crawl.has_slot.set()

    def release_slot(self, crawl: PooledCrawl) -> None:
        """Release the slot of a crawl to the next one that waits."""
        self._slots.discard(crawl)
        crawl.has_slot.clear()
        self._assign_slots()

    def remove_crawl(self, crawl: PooledCrawl) -> None:
        """Remove a crawl that has ended."""
        self._crawls.pop(crawl.order.source, None)
        self.release_slot(crawl)

    def _assign_slots(self) -> None:
        while self._waiting and len(self._slots) < self.jobs:
            crawl = self._waiting.popleft()
            self._slots.add(crawl)
            crawl.has_slot.set()

    def set_limits(self, jobs: int, turn: float) -> None:
        """Change the limits; waiting crawls start if there are free slots now."""
        self.jobs, self.turn = jobs, turn
        self._assign_slots()

    async def drain(self) -> None:
        """End all crawls cleanly, waiting ones at once, and wait for them."""
        crawls = list(self._crawls.values())
        for crawl in crawls:
            await crawl.stop_crawl()
        await asyncio.gather(*(crawl.finished() for crawl in crawls))

    async def kill_crawls(self) -> None:
        """Kill all crawls."""
        for crawl in list(self._crawls.values()):
            await crawl.kill_crawl()


class PooledCrawl:
    """An ordered crawl: waiting, running, waiting for a restart, or ended."""

    def __init__(self, order: CrawlOrder, pool: CrawlPool) -> None:
        self.order = order
        self.due = order.due or pool.clock.now()
        """Its place in the queue: since when it has been due, or waits again."""
        self.begun = 0.0
        self.has_slot = asyncio.Event()
        self.current: CrawlHandle | None = None
        """Its process; None while there is none."""
        self.awaits_restart = False
        """Whether it died and is restarted after a delay."""
        self.stopped = False
        """Whether its end was requested."""
        self._pool = pool
        self._stop = asyncio.Event()
        self._work = asyncio.ensure_future(self._run())

    async def finished(self) -> CrawlEnd:
        """Wait for the end and return it."""
        return await asyncio.shield(self._work)

    async def stop_crawl(self) -> None:
        """End it cleanly; a waiting crawl ends at once."""
        self.stopped = True
        self._stop.set()
        if self.current is not None:
            await self.current.stop_crawl()

    async def kill_crawl(self) -> None:
        """Kill it."""
        self.stopped = True
        self._stop.set()
        if self.current is not None:
            await self.current.kill_crawl()

    def note_pause(self, *, paused: bool) -> None:
        """Release the slot while the crawl is paused, and take one when it is resumed; may be called repeatedly."""
        if self.current is None or paused is not self.has_slot.is_set():
            return
        if paused:
            self._pool.release_slot(self)
        else:
            self._pool.take_slot(self)

    async def _run(self) -> CrawlEnd:
        deaths = 0
        try:
            while True:
                if not await self._unless_stopped(self._pool.wait_for_slot(self)):
                    return CrawlEnd(self.order.source, None, "stopped before its turn came")
                end, turn_over = await self._crawl_once()
                self._pool.release_slot(self)
                self.due = self._pool.clock.now()
                if self.stopped or not (turn_over or end.died):
                    return self._publish_end(end)
                if end.died:
                    deaths += 1
                    if not await self._wait_for_restart(end, deaths):
                        await self._complete(end)
                        return self._publish_end(end)
                    self.due = self._pool.clock.now()
        finally:
            self._pool.remove_crawl(self)

    async def _complete(self, end: CrawlEnd) -> None:
        """Run the completion command of the source for a crawl that died."""
        complete = self._pool.complete_dead
        if self.stopped or self.order.profile or complete is None:
            return
        try:
            self.current = await complete(self.order, end.error)
            if self.current is not None:
                await self.current.finished()
        except UltracrawlError as error:
            logger.warning("%s", error)
        finally:
            self.current = None

    def _publish_end(self, end: CrawlEnd) -> CrawlEnd:
        kind = EventKind.RUN_FAILED if end.failed and not self.stopped else EventKind.RUN_ENDED
        text = (
            end.report.summary()
            if end.report and not end.failed
            else end.line or "its crawl has ended; its result is not known here"
        )
        self._pool.ended(end)
        self._pool.events.publish_event(Event(kind, self._pool.clock.now(), self.order.source, text, end))
        return end

    async def _crawl_once(self) -> tuple[CrawlEnd, bool]:
        """Crawl until the end of the run or of the turn; returns the end, and whether the crawl is to be resumed."""
        order, pool, turn_over = self.order, self._pool, False
        try:
            crawl = self.current = await pool.launcher.launch(order)
        except UltracrawlError as error:
            return CrawlEnd(order.source, RunReport.not_begun(order.source, error)), False
        self.begun = self.begun or crawl.begun
        pool.events.publish_event(
            Event(EventKind.RUN_BEGAN, pool.clock.now(), order.source, "the crawl begins")
        )
        if self.stopped:
            await crawl.stop_crawl()
        ended = asyncio.ensure_future(crawl.finished())
        while not ended.done():
            turn = asyncio.ensure_future(pool.clock.sleep(pool.turn))
            await asyncio.wait((ended, turn), return_when=asyncio.FIRST_COMPLETED)
            turn.cancel()
            if not ended.done() and pool.waiting and self.has_slot.is_set() and not turn_over:
                turn_over = True
                await crawl.stop_crawl()
        self.current = None
        end = ended.result()
        return end, turn_over and (end.report is None or end.report.interrupted)

    async def _wait_for_restart(self, end: CrawlEnd, deaths: int) -> bool:
        """Wait before a restart; returns False if there is none, or if the crawl was stopped."""
        pool, restarts = self._pool, deaths <= self._pool.restarts
        delay = min(FIRST_RESTART_DELAY * 2 ** (deaths - 1), MAX_RESTART_DELAY)
        text = f"{end.error}; it is restarted in {delay:.0f} s" if restarts else end.error
        pool.events.publish_event(Event(EventKind.CHILD_DIED, pool.clock.now(), self.order.source, text))
        if not restarts:
            return False
        self.awaits_restart = True
        try:
            return await self._unless_stopped(pool.clock.sleep(delay))
        finally:
            self.awaits_restart = False

    async def _unless_stopped(self, work: Coroutine[Any, Any, None]) -> bool:
        """Wait for a coroutine, or until the crawl is stopped; returns whether the coroutine ended first."""
        waiting = asyncio.ensure_future(work)
        stop = asyncio.ensure_future(self._stop.wait())
        await asyncio.wait((waiting, stop), return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if waiting.done():
            return not self.stopped
        waiting.cancel()
        return False
