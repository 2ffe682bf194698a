"""One crawl of one source: opens state, cache and index process at the start, closes them at the end."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from ultracrawl.backends import open_cache, open_documents, open_indexer, open_state
from ultracrawl.boundary import AddressPolicy
from ultracrawl.errors import WorkError
from ultracrawl.extensions.display_urls import DisplayUrls
from ultracrawl.extensions.duplicates import Duplicates
from ultracrawl.extensions.failures import failure_of
from ultracrawl.extensions.feed import IndexFeed
from ultracrawl.extensions.host_addresses import HostAddresses
from ultracrawl.extensions.keeper import Keeper
from ultracrawl.extensions.recorder import Recorder
from ultracrawl.extensions.redirects import RedirectFollower
from ultracrawl.extensions.rewriters import close_rewriter, load_rewriter, open_rewriter
from ultracrawl.extensions.robots_book import RobotsBook
from ultracrawl.extensions.scope import change_since, definition_mark, drop_outside
from ultracrawl.extensions.screened import ScreenedLog, screened_path
from ultracrawl.extensions.seed_addresses import seed_addresses
from ultracrawl.extensions.sitemap_desk import SitemapDesk
from ultracrawl.extensions.visit import LinkQueue, Visit
from ultracrawl.model import RunReport, UrlOutcome, UrlRecord
from ultracrawl.sources import CompiledSource, DataSource, Project, compile_source
from ultracrawl.state import RunMark, StateStore
from ultracrawl.urls import url_key

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from twisted.python.failure import Failure

    from ultracrawl.state.document_store import DocumentStore

logger = logging.getLogger(__name__)

TICK = 0.1
"""Seconds between two looks at the cache and the index process."""
FLUSH_EVERY = 3
"""Ticks between two flushes of cache and state."""
INDEX_TIMEOUT = 3600.0


class CrawlSession:
    """What every component of one crawl shares; get it with `CrawlSession.of(crawler)`.

    `open()` is called by the scheduler before the first request, `close()` when the last one is done.
    """

    def __init__(self, crawler: Crawler, project: Project, source: DataSource) -> None:
        self.crawler = crawler
        self.project = project
        self.source = source
        self.hosts = HostAddresses()
        self.rewriter = load_rewriter(source)
        """The source's own rewriter, open from `open()` to `close()`."""
        rules = compile_source(source, project, self.hosts)
        networks = [str(network) for network in source.boundary.networks]
        addresses = AddressPolicy.for_source(seed_addresses(rules.seeds), networks)
        self.rules: CompiledSource = replace(rules, addresses=addresses)
        self.force = crawler.settings.getbool("ULTRACRAWL_FORCE")
        self.replay = crawler.settings.getbool("ULTRACRAWL_REINDEX")
        """Documents are made again from what is stored; no run begins or ends."""
        self.clock: Callable[[], float] = time.time
        self.rescan = False
        """Fetch and scan every page of this run, changed or not: forced, or the scope of the source changed."""
        self.links: LinkQueue
        """The scheduler, as middlewares and spiders see it."""
        self.visits: dict[int, Visit] = {}
        """What is in flight, by key."""
        self.state: StateStore
        self.feed: IndexFeed
        self.recorder: Recorder
        self.names: DisplayUrls
        self.stored: DocumentStore | None = None
        """The stored answers of the source, if it keeps them."""
        self._keeper: Keeper | None = None
        self.duplicates = Duplicates(self)
        self.screened: ScreenedLog | None = None
        """The log of links that were turned away, if the source keeps one."""
        self.run: RunMark
        self.report: RunReport
        self.redirects = RedirectFollower(self)
        self.robots = RobotsBook(self)
        self.sitemaps = SitemapDesk(self)
        self.opened = False
        self._failed = False
        self._ticks = 0
        self._ticking = create_looping_call(self._tick)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the session of a crawler whose spider was made from a definition."""
        project = getattr(crawler.spidercls, "project", None)
        source = getattr(crawler.spidercls, "source", None)
        if not isinstance(project, Project) or not isinstance(source, DataSource):
            raise NotConfigured("the spider has no data source definition")
        session = cls(crawler, project, source)
        crawler.signals.connect(session._item_dropped, signals.item_dropped)
        crawler.signals.connect(session._item_failed, signals.item_error)
        return session

    @classmethod
    def of(cls, crawler: Crawler) -> CrawlSession:
        """Return the session of a crawler."""
        session = crawler.get_extension(cls)
        if session is None:
            raise NotConfigured("the ultracrawl add-on is not switched on")
        return session

    def open(self) -> None:
        """Open the state, continue what a killed run left, and begin or resume the run."""
        now = self.clock()
        self.state = open_state(self.project, self.source.name)
        self.run, resumed = self._begin(now)
        self.report = RunReport(
            self.source.name, str(self.run.number), _iso(self.run.started), resumed=resumed
        )
        cache = open_cache(self.project, self.source.name)
        indexer = open_indexer(self.project)
        two_phases = self.project.cache.phases == "two"
        self.feed = IndexFeed(
            self.source.name, cache, indexer, self.state, self.report, two_phases=two_phases
        )
        if self.source.log.screened:
            path = screened_path(self.project, self.source.name)
            self.screened = ScreenedLog(path, self.project.logs.size, self.clock)
        self.recorder = Recorder(self.state, self.feed, self.report, self.clock)
        self.names = self.recorder.names = DisplayUrls(
            self.state,
            self.feed,
            self._again,
            lent_by_redirects=not self.rewriter,
        )
        self.recorder.on_finish.append(self.duplicates.ended)
        if self.source.storage.keep:
            self.stored = open_documents(self.project, self.source)
            self._keeper = Keeper(self, self.stored)
            self.recorder.on_finish.append(self._keeper.ended)
        lost = self.state.lost(self.feed.recover())
        if lost:
            logger.warning("%d documents had not reached the index and are fetched again", lost)
        if self.replay:
            self.rescan, self.rewriter = True, None
        elif self._open_rewriter():
            self._follow_definition()
        self.report.scheduled = self.state.counts().queued
        self._started = time.monotonic()
        self._ticking.start(TICK, now=False)
        self.opened = True
        gc.collect()
        gc.freeze()

    def _begin(self, now: float) -> tuple[RunMark, bool]:
        if self.replay:
            return next(iter(self.state.runs(1)), RunMark(0, now)), False
        return self.state.begin_run(now, definition_mark(self.rules))

    def _again(self, record: UrlRecord) -> None:
        self.links.again(record)  # the scheduler makes itself known only after `open`

    def _follow_definition(self) -> None:
        """Act on a definition that changed since the last run.

        Another scope: what is outside leaves, and every page is scanned for what it lets in. Another recipe:
        every page is made into a document again.
        """
        before = next((run for run in self.state.runs(2) if run.number != self.run.number), None)
        change = change_since(before, self.rules)
        self.force = self.force or change.recipe
        self.rescan = self.force or change.scope
        if change.scope:
            dropped = drop_outside(self.state, self.feed, self.rules, self.report, self.rewriter)
            logger.info("The scope of %s changed: %d known URLs are outside", self.source.name, dropped)

    def _open_rewriter(self) -> bool:
        """Get the rewriter ready; if it cannot be, nothing of the source is crawled (Ultra Search 10)."""
        if self.rewriter is None:
            return True
        try:
            open_rewriter(self.rewriter)
        except WorkError as error:
            self.rewriter = None
            self._failed = True
            self._note(error)
            return False
        return True

    def _close_rewriter(self) -> None:
        if self.rewriter is None:
            return
        try:
            close_rewriter(self.rewriter)
        except WorkError as error:
            self._note(error)

    def _note(self, error: WorkError) -> None:
        self.report.problems.append(str(error))
        logger.error("%s", error)

    @property
    def failed(self) -> bool:
        """Whether something happened that no further URL can get around."""
        return self._failed

    @property
    def problems(self) -> list[str]:
        """One line for each failure that is larger than a URL."""
        return self.report.problems

    def flush(self) -> None:
        """Make documents and records durable, in that order."""
        self.feed.sync()
        self.state.flush()
        self._flush_log()

    def _flush_log(self) -> None:
        """Write the log of links; one that cannot be written is given up, and the crawl goes on."""
        try:
            if self.screened is not None:
                self.screened.flush()
        except WorkError as error:
            self.screened = None
            self._note(error)

    def _tick(self) -> None:
        self._ticks += 1
        try:
            if self._ticks % FLUSH_EVERY == 0:
                self.flush()
            self.feed.tick()
        except WorkError as error:
            self.fail(str(error))

    def fail(self, problem: str) -> None:
        """Note a failure that no further URL can get around, and end the crawl; what is durable stays."""
        if self._failed:
            return
        self._failed = True
        self.report.problems.append(problem)
        logger.error(problem)
        engine = self.crawler.engine
        task = asyncio.ensure_future(engine.close_spider_async(reason="failed"))
        task.add_done_callback(lambda done: done.exception())

    def visit_failed(self, visit: Visit, error: BaseException) -> None:
        """End a visit whose download or processing raised, or let it be tried again."""
        if visit.done:
            return
        failure = failure_of(error)
        if failure.again:
            self.retry_or_finish(visit, failure.outcome, failure.status, failure.reason)
        else:
            self.recorder.finish(visit, failure.outcome, failure.status, failure.reason)

    def retry_or_finish(self, visit: Visit, outcome: UrlOutcome, status: int, reason: str) -> None:
        """Try a visit again after a growing delay, or record its outcome when that was done often enough."""
        limits = self.source.limits
        if visit.attempts < limits.retries and not self._failed and not visit.tentative:
            self.links.retry(visit, limits.retry_delay * 2**visit.attempts)
        else:
            self.recorder.finish(visit, outcome, status, reason)

    def _item_dropped(self, item: Any, exception: BaseException) -> None:
        """End the visit of an item that a pipeline dropped, ours or somebody else's."""
        visit = self.visit_of_item(item)
        if visit is not None:
            self.recorder.finish(visit, UrlOutcome.NOT_INDEXED, 200, f"dropped: {exception}")

    def _item_failed(self, item: Any, failure: Failure) -> None:
        """End the visit of an item on which a pipeline raised. The disk being full ends the crawl."""
        if isinstance(failure.value, WorkError):
            self.fail(str(failure.value))
        visit = self.visit_of_item(item)
        if visit is not None:
            self.visit_failed(visit, failure.value or RuntimeError("unknown failure"))

    def visit_of_item(self, item: Any) -> Visit | None:
        """Return the visit that an item came from, None if it has ended or there is none."""
        return self.visits.get(url_key(str(ItemAdapter(item).get("access_url", ""))))

    async def close(self, reason: str) -> None:
        """Wait for the last commit, end the run, release everything."""
        self.report.interrupted = reason == "shutdown"
        if self._ticking.running:
            self._ticking.stop()
        self._close_rewriter()
        self.hosts.close()
        try:
            if not self._failed:
                await self._finish_indexing()
                self._end_run()
        except WorkError as error:
            self._failed = True
            self._note(error)
        finally:
            self.feed.close(timeout=10.0)
            self._release()
        logger.info("%s: %s, %s", self.source.name, reason, self.report.summary())

    async def _finish_indexing(self) -> None:
        self.flush()
        self.feed.drain()
        deadline = time.monotonic() + INDEX_TIMEOUT
        while self.feed.busy and time.monotonic() < deadline:
            self.feed.collect()
            await asyncio.sleep(0.02)
        self.feed.collect()
        self.flush()

    def _end_run(self) -> None:
        """Write the report; a run with URLs left in its queue stays open, so that the next start resumes it."""
        self.report.seconds = time.monotonic() - self._started
        now = self.clock()
        self.report.finished = _iso(now)
        if self.replay:
            return
        finished = now if not self.state.counts().queued else 0.0
        self.run = replace(self.run, finished=finished, report=json.dumps(self.report.as_json()))
        self.state.end_run(self.run)

    def _release(self) -> None:
        try:
            if self._keeper is not None:
                self._keeper.close()
            self.state.close()
        except WorkError as error:
            self._note(error)


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
