"""A launcher that crawls in this process, one source at a time, in the order in which they are ordered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping

from scrapy.crawler import Crawler

from ultracrawl.crawl import RunningCrawl
from ultracrawl.errors import UltracrawlError
from ultracrawl.model import RunReport
from ultracrawl.service.completion import complete
from ultracrawl.service.orders import CrawlEnd, CrawlOrder, Event, EventKind, EventStream
from ultracrawl.service.run import CrawlRunner, Watcher
from ultracrawl.sources import DataSource

TIME_OVER = "time over"
"""The reason with which a crawl ends whose cycle or window is over; what it leaves in its queue is up to the mode."""


class InProcessLauncher:
    """Crawls sources with the reactor of this process; `look` and `told` see how they go."""

    def __init__(
        self,
        sources: Mapping[str, DataSource],
        events: EventStream,
        *,
        told: Callable[[RunReport], None],
        show: Watcher,
        interrupted: Callable[[], None],
    ) -> None:
        """`told` gets the report of each run; `interrupted` is called when this process is to end."""
        self.runner: CrawlRunner
        """What crawls; it looks at this launcher, and so is made after it."""
        self.refused: UltracrawlError | None = None
        """Why the latest source could not begin."""
        self._sources = sources
        self._events = events
        self._told = told
        self._show = show
        self._interrupted = interrupted
        self._turn = asyncio.Lock()
        self._going: InProcessCrawl | None = None

    async def launch(self, order: CrawlOrder) -> InProcessCrawl:
        """Queue a crawl."""
        return InProcessCrawl(order, self)

    async def look(self, crawler: Crawler, crawl: RunningCrawl) -> None:
        """Show how the crawl goes that has its turn, and end it if that is wanted."""
        self._show(crawl)
        if self._going is not None and self._going.stopped and crawler.engine is not None:
            self._going.stopped = False
            await crawler.engine.close_spider_async(reason=TIME_OVER)

    async def crawl(self, waiting: InProcessCrawl) -> CrawlEnd:
        """Crawl a source when it has its turn, again as long as functions of its filters begin the cycle anew."""
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
                self._told(report)
                return CrawlEnd(order.source, report)
            finally:
                self._going = None
            report = crawl.context.report
            if crawl.ends_all or (report.interrupted and not crawl.stopped):
                self._interrupted()
            return CrawlEnd(order.source, report)

    async def _crawl_once(self, order: CrawlOrder) -> RunningCrawl:
        source = order.as_ordered(self._sources[order.source])
        crawl = await self.runner.crawl(source, force=order.force)
        self._show(crawl)
        self._told(crawl.context.report)
        await complete(crawl)
        return crawl


class InProcessCrawl:
    """A crawl that was ordered: it waits for its turn, goes on, and is over."""

    def __init__(self, order: CrawlOrder, launcher: InProcessLauncher) -> None:
        self.order = order
        self.begun = 0.0
        self.stopped = False
        """Whether it is to end, or not to begin."""
        self._work = asyncio.ensure_future(launcher.crawl(self))

    async def finished(self) -> CrawlEnd:
        """Return how it ended."""
        return await asyncio.shield(self._work)

    async def stop_crawl(self) -> None:
        """Have it end cleanly."""
        self.stopped = True

    async def kill_crawl(self) -> None:
        """Have it end; the process that it is in goes on."""
        self.stopped = True
