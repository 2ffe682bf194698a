"""The life of one crawl of one source: opens store, cache and index process at the start, closes them at the end."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from ultracrawl.crawl.assembly import CrawlFeatures
from ultracrawl.crawl.crawl_run import FAILED
from ultracrawl.crawl.discovery.robots_answers import unshared_key
from ultracrawl.crawl.hooks import TICK
from ultracrawl.crawl.logs import job_report
from ultracrawl.crawl.run.control import STOPPED
from ultracrawl.crawl.run.end import RunEnd
from ultracrawl.crawl.run.refusal import leave_note, refuse, refuse_late
from ultracrawl.errors import UltracrawlError, WorkError
from ultracrawl.settings.ineffective import REMARKS
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores.failure_note import forget_failure
from ultracrawl.stores.opening import hand_over_sites, open_sites, open_state, state_file
from ultracrawl.system.files import restrict_umask
from ultracrawl.system.gc_tuning import freeze_loaded_objects

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.run.running import RunningCrawl

logger = logging.getLogger(__name__)
F = TypeVar("F")

FLUSH_EVERY = 3
"""Ticks between two flushes of cache and store."""
A_MOMENT = 0.01
"""Seconds after which it is looked again whether the engine runs."""

_ENDED_BY_ITSELF = frozenset({"finished", "start_error", FAILED})
"""Reasons for which a crawl ends that its report tells otherwise, or not at all; all others are limits of users."""


class CrawlLifecycle:
    """The Scrapy extension of a crawl: makes its features, opens and closes them, and lets time pass.

    `begin` is called by the scheduler before the first request, `end` when the last one is done.
    """

    _ticks = 0
    _started = 0.0

    def __init__(self, crawler: Crawler, project: Project, source: DataSource) -> None:
        self._crawler = crawler
        self.features = CrawlFeatures(crawler, project, source, self._close_soon)
        self.context = self.features.context
        features = self.features
        asked: tuple[str, ...] = getattr(crawler.spidercls, "asked", ())
        self._end = RunEnd(
            self.context,
            features.limits,
            features.duplicates.recount,
            lambda: features.verdict.restarts,
            asked,
        )
        self._ticking = create_looping_call(self._tick)
        # Here already, so that a store that cannot be used begins no crawl.
        self._file = state_file(project, source.name)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the extension of a crawler whose spider was made from a definition."""
        if not has_definition(crawler):
            raise NotConfigured("the spider has no data source definition")
        spider: Any = crawler.spidercls
        return cls(crawler, spider.project, spider.source)

    # ---- the beginning

    def begin(self) -> bool:
        """Open the crawl; if that is not possible, it ends at once, and `RunningCrawl.refused` says why."""
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
        """Open the store, continue what a killed run left, and begin or resume the run."""
        context, features = self.context, self.features
        restrict_umask()
        renew = not context.run.replay
        context.ports.store = open_state(context.project, context.source.name, renew=renew)
        context.ports.sites = open_sites(context.project, read_only=context.run.replay, renew=renew)
        if not context.run.replay:
            hand_over_sites(context.store, context.sites, unshared_key(context.rules))
        resumed = features.begin_run()
        for remark in self._crawler.settings.getlist(REMARKS):
            context.counters.add_remark(remark)
        writer = features.open_documents()
        lost = context.store.documents.refetch_lost(writer.recover())
        if lost:
            logger.warning("%d documents had not reached the index and are fetched again", lost)
        features.filling.begin(writer, resumed=resumed)
        features.open_rules()
        features.open_logs_and_links()
        self._started = time.monotonic()
        self._ticking.start(TICK, now=False)
        features.running.opened = True
        freeze_loaded_objects()

    # ---- meanwhile

    def _tick(self) -> None:
        context = self.context
        self._ticks += 1
        if context.store.damage:
            context.run.fail(context.store.damage)
        try:
            if self._ticks % FLUSH_EVERY == 0:
                context.flush()
            context.documents.writer.tick()
            for look in context.hooks.tick:
                look()
        except WorkError as error:
            context.run.fail(str(error))
        except Exception as error:  # the edge to the loop, which would never call again
            logger.exception("A look at the crawl failed")
            context.run.fail(f"a look at the crawl failed: {type(error).__name__}: {error}")

    def _close_soon(self, reason: str) -> None:
        task = asyncio.ensure_future(self._close_spider(reason))
        task.add_done_callback(lambda done: done.exception())

    async def _close_spider(self, reason: str) -> None:
        engine = self._crawler.engine
        if not engine.running:  # what is closed before it runs would begin to, and never end
            while engine.spider is not None and not engine.running:
                await asyncio.sleep(A_MOMENT)
            await asyncio.sleep(0)
        await engine.close_spider_async(reason=reason)

    # ---- the end

    async def end_run(self, reason: str) -> None:
        """Wait for the last commit, end the run, release everything."""
        context, features = self.context, self.features
        if not features.running.opened:
            self._abandon()
            return
        if reason in ("shutdown", STOPPED):  # sentence: codes of Scrapy, which names ends so
            context.counters.note_interruption()
        elif reason not in _ENDED_BY_ITSELF and not features.limits.reached:  # sentence: codes of Scrapy
            context.counters.note_limit(reason)
        features.control.ending(interrupted=context.counters.interrupted)
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
        features.watch.look_for_the_last_time()
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
            features.statistics.tell_report(context.report)
            features.logs.close(reason)
            if context.run.failed:
                leave_note(context, "; ".join(context.run.problems))
            if context.run.mistake is not None:
                refuse_late(self._crawler, context, context.run.mistake)
        logger.info("%s: %s, %s", context.source.name, reason, context.report.summary())
        if self._crawler.settings.getbool(job_report.SETTING):
            job_report.log_report(context.report)

    def _abandon(self) -> None:
        """Let go of what was opened before something failed."""
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
            async with asyncio.timeout(self.features.limits.allowance(self.features.watch.patience)):
                await self.features.renderer.close()
        except TimeoutError:
            told = "the browser did not close; its process may be left over"
            self.context.run.note_problem(WorkError(told))

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
    """Return whether the spider of a crawler was made from a definition, so that its crawl has features to ask for."""
    spider = crawler.spidercls
    return isinstance(getattr(spider, "source", None), DataSource) and hasattr(spider, "project")


def _life_of(crawler: Crawler) -> CrawlLifecycle:
    life = crawler.get_extension(CrawlLifecycle)
    if life is None:
        raise NotConfigured(
            "the ultracrawl add-on is not switched on"
            if has_definition(crawler)
            else f"the spider {getattr(crawler.spidercls, 'name', None)!r} has no data source definition"
        )
    return life


def begin_crawl(crawler: Crawler) -> bool:
    """Begin the crawl of a crawler; False if that cannot be: it asks for nothing then, and ends at once."""
    return _life_of(crawler).begin()


async def end_crawl(crawler: Crawler, reason: str) -> None:
    """Wait for the last commit, end the run, release everything."""
    await _life_of(crawler).end_run(reason)


def context_of(crawler: Crawler) -> CrawlContext:
    """Return the context of a crawl. Raises `NotConfigured` where the add-on is not switched on."""
    return _life_of(crawler).context


def feature_of(crawler: Crawler, kind: type[F]) -> F:
    """Return the feature of a crawl that has a class. Raises `NotConfigured` where there is none."""
    found = next((one for one in vars(_life_of(crawler).features).values() if isinstance(one, kind)), None)
    if found is None:
        raise NotConfigured(f"the crawl has no {kind.__name__}")
    return found


def running_crawl(crawler: Crawler) -> RunningCrawl | None:
    """Return the crawl of a crawler as who runs it sees it; None where the add-on is not switched on."""
    life = crawler.get_extension(CrawlLifecycle)
    return None if life is None else life.features.running
