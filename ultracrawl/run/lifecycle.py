"""The Scrapy extension that begins and ends the crawl of a source, and functions that find its context and features."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from ultracrawl.errors import UltracrawlError, WorkError
from ultracrawl.run.composition.assembly import (
    apply_definition,
    make_parts,
    open_documents,
    open_features,
    open_run,
    open_stores,
)
from ultracrawl.run.control.activity import Activity
from ultracrawl.run.control.limits import RunLimits
from ultracrawl.run.control.orders import STOPPED, CrawlControl
from ultracrawl.run.control.refusal import leave_note, refuse, refuse_late
from ultracrawl.run.control.scrapy_statistics import ScrapyStatistics
from ultracrawl.run.control.visit_watch import VisitWatch
from ultracrawl.run.crawl_run import FAILED
from ultracrawl.run.cycle.end import RunFinisher
from ultracrawl.run.cycle.running import RunningCrawl
from ultracrawl.run.filters.verdict import FilterVerdict
from ultracrawl.run.hooks import TICK_SECONDS, Feature
from ultracrawl.run.indexing.filling import Filling
from ultracrawl.run.logs import job_report
from ultracrawl.run.logs.crawl_logs import CrawlLogs
from ultracrawl.run.source_data.takeover import TakeOver, take_over
from ultracrawl.settings.adhoc import is_adhoc
from ultracrawl.settings.ineffective import REMARKS_SETTING
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores.control_channel import ControlChannel
from ultracrawl.stores.project_stores import source_notes
from ultracrawl.stores.source_notes.definition import note_definition
from ultracrawl.stores.source_notes.failure import forget_failure
from ultracrawl.system.files import restrict_umask
from ultracrawl.system.gc_tuning import freeze_loaded_objects

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from ultracrawl.run.composition.parts import Parts
    from ultracrawl.run.context import CrawlContext

logger = logging.getLogger(__name__)

FLUSH_TICKS = 3
"""Ticks between two flushes of cache and store."""
LONGEST_FLUSH = 5.0
"""Seconds for which a crawl goes on while a flush does: a store that cannot be reached stops it before memory fills."""
ENGINE_POLL_INTERVAL = 0.01
"""Seconds between checks whether the engine has started."""

_NO_LIMIT = frozenset({"finished", "start_error", FAILED})
"""Close reasons of Scrapy that are no limits; all others are limits set by users (`CLOSESPIDER_...`)."""


class CrawlLifecycle:
    """The Scrapy extension of a crawl: creates its features, opens and closes them, and runs the periodic tasks.

    The scheduler calls `begin` before the first request and `end_run` after the last one.
    """

    _ticks = 0
    _started = 0.0
    _flush_begun: float | None = None
    """Monotonic time at which the flush that goes on was begun."""
    _inspects = False
    """Whether single pages are looked at, and nothing is crawled."""

    def __init__(self, crawler: Crawler, project: Project, source: DataSource) -> None:
        self._crawler = crawler
        self.parts = make_parts(crawler, project, source, self._close_soon, inspection=self._inspects)
        self.context = self.parts.context
        parts = self.parts
        given_urls: tuple[str, ...] = getattr(crawler.spidercls, "given_urls", ())
        self._end = RunFinisher(
            self.context,
            parts[RunLimits],
            lambda: parts[FilterVerdict].restarts,
            given_urls,
        )
        self._ticking = create_looping_call(self._tick)
        self._stack = AsyncExitStack()
        """Closes what was opened, in reverse."""
        # Checked here, so that no crawl begins with a store that cannot be used.
        self._notes = source_notes(project, source.name)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the extension. Raises `NotConfigured` if the spider was not made from a definition."""
        if not has_definition(crawler):
            raise NotConfigured("the spider has no data source definition")
        spider: Any = crawler.spidercls
        return cls(crawler, spider.project, spider.source)

    # ---- begin

    def begin(self) -> bool:
        """Open the crawl; False if that fails: it ends at once, and `RunningCrawl.refused` has the error."""
        try:
            self._open()
        except UltracrawlError as error:
            self.parts[RunningCrawl].refused = error
            refuse(self._crawler, self.context, error)
            return False
        if self._notes is not None and not self.context.run.replay:
            forget_failure(self._notes)
        return True

    def _open(self) -> None:
        """Open the stores and features, submit what a killed run left, and begin or resume the run."""
        context, parts, stack = self.context, self.parts, self._stack
        restrict_umask()
        parts[CrawlLogs].check_folder()
        renew = not context.run.replay
        taken = TakeOver() if context.run.replay else take_over(context.project, context.source)
        context.run.narrowed = taken.is_narrower
        if self._notes is not None and not is_adhoc(context.project, context.source.name):
            state = context.project.state
            note_definition(self._notes, None if state.url else state.path, context.project.definitions)
        control = parts[CrawlControl]
        stack.callback(control.close)  # others see the end of the crawl when all else is closed
        open_stores(parts, stack, context.project, renew=renew)
        control.open(ControlChannel(self._notes, context.leases.lives) if self._notes is not None else None)
        open_run(parts, stack)
        for remark in (*taken.remarks, *self._crawler.settings.getlist(REMARKS_SETTING)):
            context.counters.add_remark(remark)
        writer = open_documents(parts, stack)
        parts[Filling].begin(writer, resumed=context.counters.resumed)
        apply_definition(parts)
        open_features(parts)
        self._started = time.monotonic()
        self._ticking.start(TICK_SECONDS, now=False)
        parts[RunningCrawl].opened = True
        freeze_loaded_objects()

    # ---- periodic tasks

    def _tick(self) -> None:
        context = self.context
        self._ticks += 1
        if context.store.damage:
            context.run.fail(context.store.damage)
        try:
            self._flush_beside()
            context.documents.writer.tick()
            for tick in context.hooks[Feature.tick]:
                tick()
        except WorkError as error:
            context.run.fail(str(error))
        except Exception as error:  # if this raised, the looping call would stop
            logger.exception("A periodic task of the crawl failed")
            context.run.fail(f"a periodic task of the crawl failed: {type(error).__name__}: {error}")

    def _flush_beside(self) -> None:
        """Begin a flush every few ticks, and end it when it is written; one that takes long is waited for."""
        context = self.context
        if self._flush_begun is None:
            if self._ticks % FLUSH_TICKS:
                return
            context.begin_flush()
            self._flush_begun = time.monotonic()
        begun, self._flush_begun = self._flush_begun, None  # one that failed is begun again
        if time.monotonic() - begun > LONGEST_FLUSH:
            context.flush()
        elif not context.flush_ended():
            self._flush_begun = begun

    def _close_soon(self, reason: str) -> None:
        task = asyncio.ensure_future(self._close_spider(reason))
        task.add_done_callback(lambda done: done.exception())

    async def _close_spider(self, reason: str) -> None:
        engine = self._crawler.engine
        if not engine.running:  # an engine that is closed before it runs would start afterwards and never end
            while engine.spider is not None and not engine.running:
                await asyncio.sleep(ENGINE_POLL_INTERVAL)
            await asyncio.sleep(0)
        await engine.close_spider_async(reason=reason)

    # ---- end

    async def end_run(self, reason: str) -> None:
        """Wait for the last commit, end the run and release everything."""
        context, parts = self.context, self.parts
        if not parts[RunningCrawl].opened:
            await self._stop()
            await self._close()
            return
        if reason in ("shutdown", STOPPED):  # sentence: close reasons of Scrapy
            context.counters.note_interruption()
        elif reason not in _NO_LIMIT and not parts[RunLimits].reached:  # sentence: close reasons of Scrapy
            context.counters.note_limit(reason)
        parts[Activity].note_end()
        parts[CrawlControl].publish_ending(interrupted=context.counters.interrupted)
        if self._ticking.running:
            self._ticking.stop()
        await self._stop()
        parts[VisitWatch].check_last()
        try:
            if not context.run.failed:
                await self._end.finish_indexing()
                self._end.write_report(self._started)
        except WorkError as error:
            context.run.failed = True
            context.run.note_problem(error)
        finally:
            await self._close()
            parts[ScrapyStatistics].write_report(context.report)
            parts[CrawlLogs].close(reason)
            if context.run.failed:
                leave_note(context, "; ".join(context.run.problems))
            if context.run.user_error is not None:
                refuse_late(self._crawler, context, context.run.user_error)
        logger.info("%s: %s, %s", context.source.name, reason, context.report.summary())
        if self._crawler.settings.getbool(job_report.SETTING):
            job_report.log_report(context.report)

    async def _stop(self) -> None:
        """Have the features give back their threads and processes."""
        for release in self.context.hooks[Feature.fetching_ended]:
            await release()

    async def _close(self) -> None:
        """Close what was opened."""
        try:
            await self._stack.aclose()
        except WorkError as error:
            if self.parts[RunningCrawl].opened:
                self.context.run.note_problem(error)
            else:
                logger.error("%s", error)


def has_definition(crawler: Crawler) -> bool:
    """Return whether the spider of a crawler was made from a definition, so that its crawl has features."""
    spider = crawler.spidercls
    return isinstance(getattr(spider, "source", None), DataSource) and hasattr(spider, "project")


def _lifecycle_of(crawler: Crawler) -> CrawlLifecycle:
    lifecycle = crawler.get_extension(CrawlLifecycle)
    if lifecycle is None:
        raise NotConfigured(
            "the ultracrawl add-on is not switched on"
            if has_definition(crawler)
            else f"the spider {getattr(crawler.spidercls, 'name', None)!r} has no data source definition"
        )
    return lifecycle


def begin_crawl(crawler: Crawler) -> bool:
    """Begin a crawl; False if that fails: it then sends no request and ends at once."""
    return _lifecycle_of(crawler).begin()


async def end_crawl(crawler: Crawler, reason: str) -> None:
    """Wait for the last commit, end the run and release everything."""
    await _lifecycle_of(crawler).end_run(reason)


def context_of(crawler: Crawler) -> CrawlContext:
    """Return the context of a crawl. Raises `NotConfigured` if the add-on is not enabled."""
    return _lifecycle_of(crawler).context


def parts_of(crawler: Crawler) -> Parts:
    """Return the features of a crawl. Raises `NotConfigured` if the add-on is not enabled."""
    return _lifecycle_of(crawler).parts


def running_crawl(crawler: Crawler) -> RunningCrawl | None:
    """Return the handle to control and observe a crawl; None if the add-on is not enabled."""
    lifecycle = crawler.get_extension(CrawlLifecycle)
    return None if lifecycle is None else lifecycle.parts[RunningCrawl]
