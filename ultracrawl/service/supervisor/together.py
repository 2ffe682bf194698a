"""Crawls several sources at once, each in a process of its own, until all are done."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from ultracrawl.model import RunReport
from ultracrawl.service.orders import CrawlEnd, CrawlOrder, EventStream, WallClock
from ultracrawl.service.supervisor.messages import ChildOrder, Live
from ultracrawl.service.supervisor.pool import CrawlPool
from ultracrawl.service.supervisor.processes import ChildCrawl, ProcessLauncher
from ultracrawl.sources import DataSource, Project

SHOW_EVERY = 0.5
"""Seconds between two looks at how the crawls go."""
MOST_PATIENT = 3
"""How often Ctrl-C has to be pressed until crawls are killed: twice ends them without waiting for what is in flight."""

Show = Callable[[int, Mapping[str, Live]], None]
"""Gets how many sources are done, and how the crawls of the others go that have begun."""


def crawl_together(
    project: Project,
    sources: Sequence[DataSource],
    jobs: int,
    *,
    force: bool = False,
    log_level: str = "ERROR",
    show: Show | None = None,
) -> list[RunReport]:
    """Crawl sources, at most `jobs` at a time, and return a report of each that had its turn, in their order.

    A source that takes links of others begins when those before it have ended that send it some. SIGINT once has all
    crawls end cleanly, so that they can be resumed; twice ends them at once. A crawl whose process dies has a report
    that says so, and the others go on.
    """
    return asyncio.run(_Together(project, sources, jobs, force, log_level, show).crawl_all())


class _Together:
    """The crawls of one command."""

    def __init__(
        self,
        project: Project,
        sources: Sequence[DataSource],
        jobs: int,
        force: bool,
        log_level: str,
        show: Show | None,
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
            jobs=jobs,
            complete_dead=launcher.complete_dead,
        )
        self._ends: dict[str, asyncio.Task[CrawlEnd]] = {}
        self._interrupts = 0
        self._orders: list[asyncio.Task[None]] = []

    async def crawl_all(self) -> list[RunReport]:
        """Crawl all sources; returns their reports."""
        for name in self._sources:
            self._ends[name] = asyncio.ensure_future(self._crawl(name, dict(self._ends)))
        with heard_signals(self._interrupt):
            while not all(end.done() for end in self._ends.values()):
                await asyncio.wait(self._ends.values(), timeout=SHOW_EVERY)
                self._tell()
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
        """Return the report of a source; None if it never had its turn."""
        if end.report is not None and end.error:
            return replace(end.report, problems=[*end.report.problems, end.error])
        return end.report_or_death

    def _tell(self) -> None:
        if self._show is None:
            return
        going = {
            name: one.current.live
            for name, one in self._pool.crawls.items()
            if isinstance(one.current, ChildCrawl)
        }
        self._show(sum(end.done() for end in self._ends.values()), going)

    def _interrupt(self) -> None:
        self._interrupts += 1
        for crawl in list(self._pool.crawls.values()):
            ending = crawl.stop_crawl() if self._interrupts < MOST_PATIENT else crawl.kill_crawl()
            self._orders.append(asyncio.ensure_future(ending))


@contextmanager
def heard_signals(interrupt: Callable[[], None]) -> Iterator[None]:
    """Call a function, inside the block, for each signal that asks this process to end."""
    loop = asyncio.get_running_loop()
    wanted = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        wanted.append(signal.SIGHUP)  # unless it was started to outlive its terminal
    for one in wanted:
        loop.add_signal_handler(one, interrupt)
    try:
        yield
    finally:
        for one in wanted:
            loop.remove_signal_handler(one)
