"""Crawls several sources in parallel, each in a child process, until all are done."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from ultracrawl.model import RunReport
from ultracrawl.service.orders import CrawlEnd, CrawlOrder, CrawlProgress, EventStream, WallClock
from ultracrawl.service.schedules.runner_claim import RunnerClaim, open_runner_claim
from ultracrawl.service.supervisor.messages import ChildOrder
from ultracrawl.service.supervisor.pool import CrawlPool
from ultracrawl.service.supervisor.processes import ProcessLauncher
from ultracrawl.service.supervisor.slots import SlotLimits
from ultracrawl.sources import DataSource, Project

SHOW_INTERVAL = 0.5
"""Seconds between two calls of `show`."""
KILLING_INTERRUPT = 3
"""The Ctrl-C that kills the crawls; the second one ends them without waiting for requests in flight."""

Show = Callable[[int, Mapping[str, CrawlProgress]], None]
"""Called with the number of sources done, and the progress of each running crawl by source."""


def crawl_together(
    project: Project,
    sources: Sequence[DataSource],
    jobs: int,
    *,
    force: bool = False,
    log_level: str = "ERROR",
    show: Show | None = None,
) -> list[RunReport]:
    """Crawl sources and return the reports of those that were started, in their order.

    At most `jobs` are crawled at a time, besides those that only wait. A source that takes links of earlier sources
    starts when these have ended. The first SIGINT ends all crawls cleanly, so that they can be resumed; the second ends
    them at once. If the process of a crawl dies, its report says so, and the others continue.
    """
    with open_runner_claim(project) as claim:
        return asyncio.run(_ParallelCrawls(project, sources, jobs, force, log_level, show, claim).crawl_all())


class _ParallelCrawls:
    """The crawls of one command."""

    def __init__(
        self,
        project: Project,
        sources: Sequence[DataSource],
        jobs: int,
        force: bool,
        log_level: str,
        show: Show | None,
        claim: RunnerClaim,
    ) -> None:
        self._sources = {source.name: source for source in sources}
        self._force = force
        self._show = show
        launcher = ProcessLauncher(
            lambda order: ChildOrder(project, self._sources[order.source], order.force, log_level=log_level)
        )
        self._pool = CrawlPool(
            launcher,
            WallClock(),
            EventStream(),
            limits=SlotLimits.of(project.processes, jobs),
            complete_dead=launcher.complete_dead,
            waiting_changed=claim.publish_waiting,
        )
        self._ends: dict[str, asyncio.Task[CrawlEnd]] = {}
        self._interrupts = 0
        self._orders: list[asyncio.Task[None]] = []

    async def crawl_all(self) -> list[RunReport]:
        """Crawl all sources and return their reports."""
        for name in self._sources:
            self._ends[name] = asyncio.ensure_future(self._crawl(name, dict(self._ends)))
        with handle_signals(self._interrupt):
            while not all(end.done() for end in self._ends.values()):
                await asyncio.wait(self._ends.values(), timeout=SHOW_INTERVAL)
                self._show_progress()
        return [report for end in self._ends.values() if (report := self._report(end.result())) is not None]

    async def _crawl(self, name: str, earlier: Mapping[str, asyncio.Task[CrawlEnd]]) -> CrawlEnd:
        senders = [end for other, end in earlier.items() if name in self._sources[other].send_links_to]
        if senders:
            await asyncio.wait(senders)
        if self._interrupts:
            return CrawlEnd(name, None)
        crawl = await self._pool.launch(CrawlOrder(name, force=self._force))
        return await crawl.finished()

    def _report(self, end: CrawlEnd) -> RunReport | None:
        """Return the report of a source; None if it was never started."""
        if end.report is not None and end.error:
            return replace(end.report, problems=[*end.report.problems, end.error])
        return end.report_or_death

    def _show_progress(self) -> None:
        if self._show is None:
            return
        progress = {
            name: crawl.progress for name, crawl in self._pool.crawls.items() if crawl.current is not None
        }
        self._show(sum(end.done() for end in self._ends.values()), progress)

    def _interrupt(self) -> None:
        self._interrupts += 1
        for crawl in list(self._pool.crawls.values()):
            ending = crawl.stop_crawl() if self._interrupts < KILLING_INTERRUPT else crawl.kill_crawl()
            self._orders.append(asyncio.ensure_future(ending))


@contextmanager
def handle_signals(interrupt: Callable[[], None]) -> Iterator[None]:
    """Call a function for each SIGINT, SIGTERM or SIGHUP inside the block."""
    loop = asyncio.get_running_loop()
    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        numbers.append(signal.SIGHUP)  # `nohup` ignores it
    for number in numbers:
        loop.add_signal_handler(number, interrupt)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
