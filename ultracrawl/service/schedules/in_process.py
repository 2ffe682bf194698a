"""A launcher that crawls in this process, one source at a time, first in, first out."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping

from scrapy.crawler import Crawler

from ultracrawl.errors import UltracrawlError
from ultracrawl.model import RunReport
from ultracrawl.run import RunningCrawl
from ultracrawl.service.completion import complete
from ultracrawl.service.orders import CrawlEnd, CrawlOrder, CrawlProgress, Event, EventKind, EventStream
from ultracrawl.service.run import CrawlRunner, Watcher
from ultracrawl.sources import DataSource

TIME_OVER = "time over"
"""The close reason of a crawl whose cycle or window is over; the mode decides what remains in its queue."""


class InProcessLauncher:
    """Crawls sources with the reactor of this process."""

    def __init__(
        self,
        sources: Mapping[str, DataSource],
        events: EventStream,
        *,
        on_report: Callable[[RunReport], None],
        show: Watcher,
        interrupted: Callable[[], None],
    ) -> None:
        """Call `on_report` with the report of each run, and `interrupted` when this process is to end."""
        self.runner: CrawlRunner
        """Set by the caller after construction, since the runner gets `look` of this launcher."""
        self.refused: UltracrawlError | None = None
        """Why the latest source could not start."""
        self._sources = sources
        self._events = events
        self._on_report = on_report
        self._show = show
        self._interrupted = interrupted
        self._turn = asyncio.Lock()
        self._going: InProcessCrawl | None = None

    async def launch(self, order: CrawlOrder) -> InProcessCrawl:
        """Queue a crawl."""
        return InProcessCrawl(order, self)

    async def look(self, crawler: Crawler, crawl: RunningCrawl) -> None:
        """Show the progress of the active crawl, and end it if that was requested."""
        self._show(crawl)
        if self._going is not None and self._going.stopped and crawler.engine is not None:
            self._going.stopped = False
            await crawler.engine.close_spider_async(reason=TIME_OVER)

    async def crawl(self, waiting: InProcessCrawl) -> CrawlEnd:
        """Crawl a source when it has its turn; repeat as long as filter functions restart its cycle."""
        order = waiting.order
        async with self._turn:
            if waiting.stopped:
                return CrawlEnd(order.source, None, "stopped before its turn came")
            self._going, waiting.begun = waiting, time.time()
            self._events.publish_event(Event(EventKind.RUN_BEGAN, waiting.begun, order.source))
            try:
                while (crawl := await self._crawl_once(order)).restarts and not crawl.stopped:
                    pass
            except UltracrawlError as error:
                self.refused = error
                report = RunReport.not_begun(order.source, error)
                self._on_report(report)
                return CrawlEnd(order.source, report)
            finally:
                self._going = None
            report = crawl.context.report
            if crawl.is_last or (report.interrupted and not crawl.stopped):
                self._interrupted()
            return CrawlEnd(order.source, report)

    async def _crawl_once(self, order: CrawlOrder) -> RunningCrawl:
        source = order.as_ordered(self._sources[order.source])
        crawl = await self.runner.crawl(source, force=order.force)
        self._show(crawl)
        self._on_report(crawl.context.report)
        await complete(crawl)
        return crawl


class InProcessCrawl:
    """An ordered crawl: queued, running or ended."""

    def __init__(self, order: CrawlOrder, launcher: InProcessLauncher) -> None:
        self.order = order
        self.begun = 0.0
        self.progress = CrawlProgress()
        self.stopped = False
        """Whether it is to end, or not to start."""
        self._work = asyncio.ensure_future(launcher.crawl(self))

    async def finished(self) -> CrawlEnd:
        """Wait for the end and return it."""
        return await asyncio.shield(self._work)

    async def stop_crawl(self) -> None:
        """Request a clean end."""
        self.stopped = True

    async def kill_crawl(self) -> None:
        """Request a clean end; a crawl in this process cannot be killed."""
        self.stopped = True
