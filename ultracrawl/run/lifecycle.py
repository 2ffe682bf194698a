"""The Scrapy extension that begins and ends the crawl of a source, and functions that find its context and features."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from ultracrawl.errors import UltracrawlError, WorkError
from ultracrawl.run.assembly import CrawlFeatures
from ultracrawl.run.control.end import RunEnd
from ultracrawl.run.control.orders import STOPPED
from ultracrawl.run.control.refusal import leave_note, refuse, refuse_late
from ultracrawl.run.crawl_run import FAILED
from ultracrawl.run.hooks import TICK_SECONDS, Feature
from ultracrawl.run.logs import job_report
from ultracrawl.run.source_data.takeover import TakeOver, take_over
from ultracrawl.settings.adhoc import is_adhoc
from ultracrawl.settings.ineffective import REMARKS_SETTING
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores.definition_note import note_definition
from ultracrawl.stores.failure_note import forget_failure
from ultracrawl.stores.project_stores import open_sites, open_state, state_file
from ultracrawl.system.files import restrict_umask
from ultracrawl.system.gc_tuning import freeze_loaded_objects

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.control.running import RunningCrawl

logger = logging.getLogger(__name__)
F = TypeVar("F")

FLUSH_TICKS = 3
"""Ticks between two flushes of cache and store."""
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

    def __init__(self, crawler: Crawler, project: Project, source: DataSource) -> None:
        self._crawler = crawler
        self.features = CrawlFeatures(crawler, project, source, self._close_soon)
        self.context = self.features.context
        features = self.features
        given_urls: tuple[str, ...] = getattr(crawler.spidercls, "given_urls", ())
        self._end = RunEnd(
            self.context,
            features.limits,
            features.duplicates.recount,
            lambda: features.verdict.restarts,
            given_urls,
        )
        self._ticking = create_looping_call(self._tick)
        # Checked here, so that no crawl begins with a store that cannot be used.
        self._file = state_file(project, source.name)

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
            self.features.running.refused = error
            refuse(self._crawler, self.context, error)
            return False
        if self._file is not None and not self.context.run.replay:
            forget_failure(self._file)
        return True

    def _open(self) -> None:
        """Open the stores and features, submit what a killed run left, and begin or resume the run."""
        context, features = self.context, self.features
        restrict_umask()
        features.logs.check_folder()
        renew = not context.run.replay
        taken = TakeOver() if context.run.replay else take_over(context.project, context.source)
        context.run.narrowed = taken.is_narrower
        if self._file is not None and not is_adhoc(context.project, context.source.name):
            note_definition(self._file, context.project.definitions)
        context.ports.store = open_state(context.project, context.source.name, renew=renew)
        context.ports.sites = open_sites(context.project, read_only=context.run.replay, renew=renew)
        resumed = features.begin_run()
        for remark in (*taken.remarks, *self._crawler.settings.getlist(REMARKS_SETTING)):
            context.counters.add_remark(remark)
        writer = features.open_documents()
        lost = context.store.documents.refetch_lost(writer.recover())
        if lost:
            logger.warning("%d documents had not reached the index and are fetched again", lost)
        features.filling.begin(writer, resumed=resumed)
        features.open_rules()
        features.open_logs_and_links()
        self._started = time.monotonic()
        self._ticking.start(TICK_SECONDS, now=False)
        features.running.opened = True
        freeze_loaded_objects()

    # ---- periodic tasks

    def _tick(self) -> None:
        context = self.context
        self._ticks += 1
        if context.store.damage:
            context.run.fail(context.store.damage)
        try:
            if self._ticks % FLUSH_TICKS == 0:
                context.flush()
            context.documents.writer.tick()
            for tick in context.hooks[Feature.tick]:
                tick()
        except WorkError as error:
            context.run.fail(str(error))
        except Exception as error:  # if this raised, the looping call would stop
            logger.exception("A periodic task of the crawl failed")
            context.run.fail(f"a periodic task of the crawl failed: {type(error).__name__}: {error}")

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
        context, features = self.context, self.features
        if not features.running.opened:
            self._abandon()
            return
        if reason in ("shutdown", STOPPED):  # sentence: close reasons of Scrapy
            context.counters.note_interruption()
        elif reason not in _NO_LIMIT and not features.limits.reached:  # sentence: close reasons of Scrapy
            context.counters.note_limit(reason)
        features.activity.note_end()
        features.control.publish_ending(interrupted=context.counters.interrupted)
        if self._ticking.running:
            self._ticking.stop()
        features.rewriting.close()
        if features.filtering is not None:
            features.filtering.stop()
        features.hosts.close()
        features.converter.close()
        await self._close_browser()
        if features.listing is not None:
            await features.listing.stop()
        features.watch.check_last()
        try:
            if not context.run.failed:
                await self._end.finish_indexing()
                self._end.write_report(self._started)
        except WorkError as error:
            context.run.failed = True
            context.run.note_problem(error)
        finally:
            context.documents.writer.close(timeout=10.0)
            await self._close_kind()
            self._release()
            features.statistics.write_report(context.report)
            features.logs.close(reason)
            if context.run.failed:
                leave_note(context, "; ".join(context.run.problems))
            if context.run.user_error is not None:
                refuse_late(self._crawler, context, context.run.user_error)
        logger.info("%s: %s, %s", context.source.name, reason, context.report.summary())
        if self._crawler.settings.getbool(job_report.SETTING):
            job_report.log_report(context.report)

    def _abandon(self) -> None:
        """Release what was opened before something failed."""
        features, ports = self.features, self.context.ports
        features.hosts.close()
        features.converter.close()
        if features.filtering is not None:
            features.filtering.stop()
        try:
            if "documents" in vars(ports):
                ports.documents.writer.close(timeout=10.0)
            if "sites" in vars(ports):
                ports.sites.close()
            if "store" in vars(ports):
                ports.store.close()
        except WorkError as error:
            logger.error("%s", error)
        finally:
            features.control.close()

    async def _close_browser(self) -> None:
        try:
            async with asyncio.timeout(self.features.limits.allowance(self.features.watch.step_timeout)):
                await self.features.renderer.close()
        except TimeoutError:
            problem = "the browser did not close; its process may be left over"
            self.context.run.note_problem(WorkError(problem))

    async def _close_kind(self) -> None:
        if self.features.listing is not None and self.features.fetching is not None:
            await self.features.listing.close()
            await self.features.fetching.close()

    def _release(self) -> None:
        try:
            self.features.responses.close()
            self.context.store.close()
            self.context.sites.close()
        except WorkError as error:
            self.context.run.note_problem(error)
        finally:
            self.features.control.close()


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


def feature_of(crawler: Crawler, kind: type[F]) -> F:
    """Return the feature of a crawl that is an instance of a class. Raises `NotConfigured` if there is none."""
    for feature in vars(_lifecycle_of(crawler).features).values():
        if isinstance(feature, kind):
            return feature
    raise NotConfigured(f"the crawl has no {kind.__name__}")


def running_crawl(crawler: Crawler) -> RunningCrawl | None:
    """Return the handle to control and observe a crawl; None if the add-on is not enabled."""
    lifecycle = crawler.get_extension(CrawlLifecycle)
    return None if lifecycle is None else lifecycle.features.running
