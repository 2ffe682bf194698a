"""Runs some crawls at a time, queues the others, and restarts crawls that died with increasing delays."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping
from typing import Any

from ultracrawl.errors import UltracrawlError, WorkError
from ultracrawl.model import RunReport
from ultracrawl.service.orders import (
    Clock,
    CompletingLauncher,
    CrawlEnd,
    CrawlHandle,
    CrawlOrder,
    CrawlProgress,
    Event,
    EventKind,
    EventStream,
)
from ultracrawl.service.supervisor.slots import ActiveCrawl, SlotLimits, WaitingOrder, pick

FIRST_RESTART_DELAY = 5.0
"""Seconds until a crawl that died is restarted; doubled after each further death."""
MAX_RESTART_DELAY = 600.0
MAX_RESTARTS = 5
"""Restarts of a crawl that died before its run counts as failed, in long-running commands."""


logger = logging.getLogger(__name__)


CHECK_INTERVAL = 1.0
START_CHECK_INTERVAL = 0.2
"""Seconds between two such looks while a crawl starts."""
MAX_START = 10.0
"""Seconds after which a crawl no longer counts as starting, whatever it tells."""


class CrawlPool:
    """A launcher that lets some crawls of another launcher run at a time; `pick` decides which.

    A crawl that is stopped so that others get their turn is queued again. A crawl that died is restarted up to
    `restarts` times; then its launcher completes it. The events say when crawls begin and how they end.
    """

    check_interval = CHECK_INTERVAL
    """Seconds between two looks at the running crawls while orders wait for a slot."""

    def __init__(
        self,
        launcher: CompletingLauncher,
        clock: Clock,
        events: EventStream,
        *,
        limits: SlotLimits,
        restarts: int = 0,
        waiting_changed: Callable[[Collection[str]], None] = lambda _: None,
    ) -> None:
        """`waiting_changed` is called with the sources whose crawls wait for a slot."""
        self.limits = limits
        self.clock = clock
        self.restarts = restarts
        self.events = events
        self.launcher = launcher
        self._waiting_changed = waiting_changed
        self._published = list[str]()
        self._crawls: dict[str, PooledCrawl] = {}
        self._queue: list[PooledCrawl] = []
        self._running: list[PooledCrawl] = []
        self._watch: asyncio.Task[None] | None = None
        self._last_time, self._set_back = clock.now(), 0.0

    @property
    def crawls(self) -> Mapping[str, PooledCrawl]:
        """The queued and running crawls, by source."""
        return self._crawls

    @property
    def waiting(self) -> list[str]:
        """The sources whose crawls wait for a slot, in their order."""
        return [crawl.order.source for crawl in self._queue]

    async def launch(self, order: CrawlOrder) -> PooledCrawl:
        """Queue a crawl. Raises `WorkError` if its source is queued or being crawled already."""
        if order.source in self._crawls:
            raise WorkError(f"the source {order.source!r} is being crawled already")
        crawl = PooledCrawl(order, self)
        self._crawls[order.source] = crawl
        return crawl

    def withdraw(self, source: str) -> None:
        """End the crawl of a source that waits, for a slot or a restart, or has opened nothing yet."""
        crawl = self._crawls.get(source)
        if crawl is not None and (crawl.current is None or not (crawl.order.profile or crawl.progress.run)):
            crawl.stop_soon()

    async def wait_for_slot(self, crawl: PooledCrawl) -> None:
        """Wait until a crawl has a slot; a crawl on another machine needs none."""
        if crawl.order.profile:
            return
        self._queue.append(crawl)
        self._queue.sort(key=lambda waiting: waiting.since)
        try:
            self.assign_slots()
            if crawl in self._queue and len(self._holders) + len(self._queue) > self.limits.slots:
                self._publish_wait(crawl.order.source)
            await crawl.has_slot.wait()
        finally:
            self._leave_queue(crawl)

    def _leave_queue(self, crawl: PooledCrawl) -> None:
        if crawl in self._queue:
            self._queue.remove(crawl)
            self._tell_waiting()

    def _publish_wait(self, source: str) -> None:
        crawled = sorted(crawl.order.source for crawl in self._holders)
        text = f"waits for a free slot; being crawled: {', '.join(crawled)}"
        self.events.publish_event(Event(EventKind.RUN_WAITS, self.clock.now(), source, text))

    def release_slot(self, crawl: PooledCrawl) -> None:
        """Release the slot of a crawl that has ended, for now or for good."""
        crawl.has_slot.clear()
        if crawl in self._running:
            self._running.remove(crawl)
            self.assign_slots()

    def remove_crawl(self, crawl: PooledCrawl) -> None:
        """Remove a crawl that has ended for good."""
        self._leave_queue(crawl)
        self._crawls.pop(crawl.order.source, None)
        self.release_slot(crawl)
        self.assign_slots()  # an order may have waited for its end

    def set_limits(self, limits: SlotLimits) -> None:
        """Change the limits; waiting crawls start if there are free slots now."""
        self.limits = limits
        self.assign_slots()

    # ---- slots

    @property
    def _holders(self) -> list[PooledCrawl]:
        return [crawl for crawl in self._running if crawl.lent is None]

    def assign_slots(self) -> None:
        """Carry out what `pick` decides now."""
        now = self.time()
        orders = [
            WaitingOrder(crawl.order.source, crawl.since)
            for crawl in self._queue
            if self._crawls.keys().isdisjoint(crawl.order.after)
        ]
        picks = pick(orders, [crawl.as_active(now) for crawl in self._running], now, self.limits)
        for source in picks.lend:
            self._crawls[source].lent = now
        for source in picks.take_back:
            self._crawls[source].lent = None
        for source in picks.stop:
            self._crawls[source].end_turn()
        for source in picks.begin:
            crawl = self._crawls[source]
            self._queue.remove(crawl)
            self._running.append(crawl)
            crawl.take_slot(now)
        self._tell_waiting()
        if self._queue and self._watch is None:
            self._watch = asyncio.ensure_future(self._look_repeatedly())

    async def _look_repeatedly(self) -> None:
        """Look at the running crawls as long as orders wait."""
        try:
            while self._queue:
                starts = any(crawl.as_active(self.time()).starting for crawl in self._running)
                await self.clock.sleep(START_CHECK_INTERVAL if starts else self.check_interval)
                self.assign_slots()
        finally:
            self._watch = None

    def _tell_waiting(self) -> None:
        if self.waiting != self._published:
            self._published = self.waiting
            self._waiting_changed(self._published)

    def time(self) -> float:
        """Return the time of the clock, but one that never goes back, whatever the clock of the system does."""
        now = self.clock.now()
        self._set_back += max(self._last_time - now, 0.0)
        self._last_time = now
        return now + self._set_back

    # ---- all crawls

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
        self.begun = 0.0
        self.since = order.due or pool.time()
        """Its place in the queue: since when it has been due, or waits again. All times are those of the pool."""
        self.has_slot = asyncio.Event()
        """Whether it may run; it may also have lent its slot since."""
        self.lent: float | None = None
        """When it lent its slot; None while it has one."""
        self.current: CrawlHandle | None = None
        """Its process; None while there is none."""
        self.awaits_restart = False
        """Whether it died and is restarted after a delay."""
        self.stopped = False
        """Whether its end was requested."""
        self._pool = pool
        self._turn_began = 0.0
        self._turn_over = False
        """Whether it was told to end so that others get their turn."""
        self._stop = asyncio.Event()
        self._orders: set[asyncio.Task[None]] = set()
        self._work = asyncio.ensure_future(self._run())

    @property
    def progress(self) -> CrawlProgress:
        """What its process last told."""
        return CrawlProgress() if self.current is None else self.current.progress

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

    def stop_soon(self) -> None:
        """End it as `stop_crawl` does, without waiting for the order to be sent."""
        self._send(self.stop_crawl())

    def _send(self, order: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(order)
        self._orders.add(task)
        task.add_done_callback(self._orders.discard)

    # ---- its slot

    def take_slot(self, now: float) -> None:
        """Let it run; its turn begins."""
        self._turn_began, self._turn_over, self.lent = now, False, None
        self.has_slot.set()

    def end_turn(self) -> None:
        """End its process so that others get their turn; then it is queued again."""
        self._turn_over = True
        if self.current is not None:
            self._send(self.current.stop_crawl())

    def as_active(self, now: float) -> ActiveCrawl:
        """Return what `pick` needs to know of it."""
        told = self.progress
        return ActiveCrawl(
            self.order.source,
            self._turn_began + min(told.start, MAX_START),
            max(now - told.quiet, self._turn_began),
            self.lent,
            starting=not told.run and now - self._turn_began < MAX_START,
            paused=told.paused,
            stopping=self.stopped or self._turn_over,
        )

    async def _run(self) -> CrawlEnd:
        deaths = 0
        try:
            while True:
                if not await self._unless_stopped(self._pool.wait_for_slot(self)):
                    return CrawlEnd(self.order.source, None, "stopped before its turn came")
                end, turn_over = await self._crawl_once()
                self._pool.release_slot(self)
                self.since = self._pool.time()
                if self.stopped or not (turn_over or end.died):
                    return self._publish_end(end)
                if end.died:
                    deaths += 1
                    if not await self._wait_for_restart(end, deaths):
                        await self._complete(end)
                        return self._publish_end(end)
                    self.since = self._pool.time()
        finally:
            self._pool.remove_crawl(self)

    async def _complete(self, end: CrawlEnd) -> None:
        """Run the completion command of the source for a crawl that died."""
        if self.stopped or self.order.profile:
            return
        try:
            self.current = await self._pool.launcher.complete_dead(self.order, end.error)
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
        self._pool.events.publish_event(Event(kind, self._pool.clock.now(), self.order.source, text, end))
        return end

    async def _crawl_once(self) -> tuple[CrawlEnd, bool]:
        """Crawl until the end of the run or of the turn; returns the end, and whether the crawl is to be resumed."""
        order, pool = self.order, self._pool
        try:
            crawl = self.current = await pool.launcher.launch(order)
        except UltracrawlError as error:
            return CrawlEnd(order.source, RunReport.not_begun(order.source, error)), False
        self.begun = self.begun or crawl.begun
        self._turn_began = pool.time()
        pool.events.publish_event(
            Event(EventKind.RUN_BEGAN, pool.clock.now(), order.source, "the crawl begins")
        )
        if self.stopped or self._turn_over:
            await crawl.stop_crawl()
        end = await crawl.finished()
        self.current = None
        return end, self._turn_over and (end.report is None or end.report.interrupted)

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
