"""A few crawls at a time: the others wait for their turn, and what dies is begun again, later each time."""

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

FIRST_REST = 5.0
"""Seconds until a crawl that died is begun again; twice as long after each further death."""
LONGEST_REST = 600.0
RESTARTS = 5
"""How often the crawls of what stays are begun again that died, before their run counts as failed."""


Complete = Callable[[CrawlOrder, str], Awaitable[CrawlHandle | None]]
"""Begins what is done after a crawl that died, and returns it if there is something; gets why it died."""

logger = logging.getLogger(__name__)


def default_jobs() -> int:
    """Return how many crawls go on at a time unless somebody says otherwise: one a core."""
    return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


class CrawlPool:
    """A launcher over another one: at most `jobs` crawls at a time, in the order in which they came.

    One that lasts longer than `turn` seconds while others wait is stopped cleanly, and goes on when its turn comes
    again; one that is paused leaves its place to others. One that died is begun again up to `restarts` times.
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
        complete_dead: Complete | None = None,
    ) -> None:
        """Call `ended` with the end of each crawl, and before that `complete_dead` for one here that is given up."""
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
        self._places: set[PooledCrawl] = set()

    @property
    def crawls(self) -> Mapping[str, PooledCrawl]:
        """The crawls that were ordered and are not over, by source."""
        return self._crawls

    @property
    def waiting(self) -> list[str]:
        """The sources whose crawls wait for a place, the one that is next first."""
        return [crawl.order.source for crawl in self._waiting]

    async def launch(self, order: CrawlOrder) -> PooledCrawl:
        """Queue a crawl. Raises `WorkError` if its source is crawled already, or waits to be."""
        if order.source in self._crawls:
            raise WorkError(f"the source {order.source!r} is being crawled already")
        crawl = PooledCrawl(order, self)
        self._crawls[order.source] = crawl
        return crawl

    async def wait_for_place(self, crawl: PooledCrawl) -> None:
        """Return when a crawl has a place; one on another machine takes none."""
        if crawl.order.profile:
            return
        self._waiting.append(crawl)
        try:
            self._give_places()
            if not crawl.placed.is_set():
                self._tell_of_wait(crawl.order.source)
            await crawl.placed.wait()
        finally:
            if crawl in self._waiting:
                self._waiting.remove(crawl)

    def _tell_of_wait(self, source: str) -> None:
        crawled = sorted(one.order.source for one in self._places)
        text = f"waits for a free place; {', '.join(crawled)} {'is' if len(crawled) == 1 else 'are'} crawled"
        self.events.publish_event(Event(EventKind.RUN_WAITS, self.clock.now(), source, text))

    def take_place(self, crawl: PooledCrawl) -> None:
        """Count a crawl that goes on after a pause, whether there is room or not."""
        self._places.add(crawl)
        crawl.placed.set()

    def leave_place(self, crawl: PooledCrawl) -> None:
        """Let the next one have the place of a crawl."""
        self._places.discard(crawl)
        crawl.placed.clear()
        self._give_places()

    def forget_crawl(self, crawl: PooledCrawl) -> None:
        """Take note that a crawl is over."""
        self._crawls.pop(crawl.order.source, None)
        self.leave_place(crawl)

    def _give_places(self) -> None:
        while self._waiting and len(self._places) < self.jobs:
            crawl = self._waiting.popleft()
            self._places.add(crawl)
            crawl.placed.set()

    def set_limits(self, jobs: int, turn: float) -> None:
        """Go by other limits from now on; those that wait begin if there is room now."""
        self.jobs, self.turn = jobs, turn
        self._give_places()

    async def drain(self) -> None:
        """Have all crawls end cleanly, those that wait at once; returns when they have."""
        crawls = list(self._crawls.values())
        for crawl in crawls:
            await crawl.stop_crawl()
        await asyncio.gather(*(crawl.finished() for crawl in crawls))

    async def kill_crawls(self) -> None:
        """End all crawls at once."""
        for crawl in list(self._crawls.values()):
            await crawl.kill_crawl()


class PooledCrawl:
    """A crawl that was ordered: it waits, goes on, rests after a death, and is over once."""

    def __init__(self, order: CrawlOrder, pool: CrawlPool) -> None:
        self.order = order
        self.begun = 0.0
        self.placed = asyncio.Event()
        """Set as long as it has a place."""
        self.current: CrawlHandle | None = None
        """Its process, while there is one."""
        self.resting = False
        """Whether it died, and is begun again after a while."""
        self.stopped = False
        """Whether somebody wants it to end."""
        self._pool = pool
        self._stop = asyncio.Event()
        self._work = asyncio.ensure_future(self._live())

    async def finished(self) -> CrawlEnd:
        """Return how it ended."""
        return await asyncio.shield(self._work)

    async def stop_crawl(self) -> None:
        """Have it end cleanly; one that waits is over at once."""
        self.stopped = True
        self._stop.set()
        if self.current is not None:
            await self.current.stop_crawl()

    async def kill_crawl(self) -> None:
        """End it at once."""
        self.stopped = True
        self._stop.set()
        if self.current is not None:
            await self.current.kill_crawl()

    def note_pause(self, *, paused: bool) -> None:
        """Leave the place to others while it is paused; does nothing if that is known already."""
        if self.current is None or paused is not self.placed.is_set():
            return
        if paused:
            self._pool.leave_place(self)
        else:
            self._pool.take_place(self)

    async def _live(self) -> CrawlEnd:
        deaths = 0
        try:
            while True:
                if not await self._unless_stopped(self._pool.wait_for_place(self)):
                    return CrawlEnd(self.order.source, None, "stopped before its turn came")
                end, turned = await self._crawl_once()
                self._pool.leave_place(self)
                if self.stopped or not (turned or end.died):
                    return self._over(end)
                if end.died:
                    deaths += 1
                    if not await self._rest_after(end, deaths):
                        await self._complete(end)
                        return self._over(end)
        finally:
            self._pool.forget_crawl(self)

    async def _complete(self, end: CrawlEnd) -> None:
        """Have done what the source wants done after a failure."""
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

    def _over(self, end: CrawlEnd) -> CrawlEnd:
        kind = EventKind.RUN_FAILED if end.failed and not self.stopped else EventKind.RUN_ENDED
        text = (
            end.report.summary()
            if end.report and not end.failed
            else end.line or "its crawl has ended; how is not known here"
        )
        self._pool.ended(end)
        self._pool.events.publish_event(Event(kind, self._pool.clock.now(), self.order.source, text, end))
        return end

    async def _crawl_once(self) -> tuple[CrawlEnd, bool]:
        """Crawl until the end, or the end of its turn; returns how it ended, and whether it has another turn."""
        order, pool, turned = self.order, self._pool, False
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
            if not ended.done() and pool.waiting and self.placed.is_set() and not turned:
                turned = True
                await crawl.stop_crawl()
        self.current = None
        end = ended.result()
        return end, turned and (end.report is None or end.report.interrupted)

    async def _rest_after(self, end: CrawlEnd, deaths: int) -> bool:
        """Wait before the next try; False if there is none."""
        pool, again = self._pool, deaths <= self._pool.restarts
        rest = min(FIRST_REST * 2 ** (deaths - 1), LONGEST_REST)
        then = f"; it is begun again in {rest:.0f} s" if again else ""
        text = f"{end.error}{then}"
        pool.events.publish_event(Event(EventKind.CHILD_DIED, pool.clock.now(), self.order.source, text))
        if not again:
            return False
        self.resting = True
        try:
            return await self._unless_stopped(pool.clock.sleep(rest))
        finally:
            self.resting = False

    async def _unless_stopped(self, work: Coroutine[Any, Any, None]) -> bool:
        """Wait for something, but not once somebody wants the crawl to end; returns whether it came."""
        waiting = asyncio.ensure_future(work)
        stop = asyncio.ensure_future(self._stop.wait())
        await asyncio.wait((waiting, stop), return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if waiting.done():
            return not self.stopped
        waiting.cancel()
        return False
