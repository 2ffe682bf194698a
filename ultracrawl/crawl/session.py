"""One crawl of one source: opens state, cache and index process at the start, closes them at the end."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from ultracrawl.crawl.auth.chain import AuthChain, ftp_access_of
from ultracrawl.crawl.context import CrawlContext
from ultracrawl.crawl.discovery.feed_tracker import FeedTracker
from ultracrawl.crawl.discovery.link_forwarder import LinkForwarder, LinkReceiver
from ultracrawl.crawl.discovery.redirects import RedirectFollower
from ultracrawl.crawl.discovery.robots_cache import RobotsCache
from ultracrawl.crawl.discovery.sitemap_manager import SitemapManager
from ultracrawl.crawl.failures.retry_policy import RetryPolicy
from ultracrawl.crawl.hooks import TICK, Hooks
from ultracrawl.crawl.indexing.agreement import Agreement
from ultracrawl.crawl.indexing.anchors import AnchorTexts
from ultracrawl.crawl.indexing.filling import Filling
from ultracrawl.crawl.indexing.items import ItemTracker
from ultracrawl.crawl.indexing.response_store import ResponseStore
from ultracrawl.crawl.logs.crawl_logs import CrawlLogs
from ultracrawl.crawl.logs.link_lists import open_link_lists
from ultracrawl.crawl.observer import VisitObserver
from ultracrawl.crawl.placement.display_urls import DisplayUrls
from ultracrawl.crawl.placement.documents import Documents
from ultracrawl.crawl.placement.duplicates import Duplicates
from ultracrawl.crawl.placement.pending import PendingDocuments
from ultracrawl.crawl.portal_filters.opening import filtering_of, with_filters
from ultracrawl.crawl.portal_filters.verdict import FilterVerdict
from ultracrawl.crawl.reading.document_converter import DocumentConverter
from ultracrawl.crawl.reading.language_detection import languages_of
from ultracrawl.crawl.reading.language_focus import focus_of
from ultracrawl.crawl.reading.permissions import PermissionReader
from ultracrawl.crawl.recorder import Recorder
from ultracrawl.crawl.relations.related import RelatedDocuments
from ultracrawl.crawl.removal.expiry import ExpirySweeper
from ultracrawl.crawl.rendering.page_parts import PartFetcher
from ultracrawl.crawl.rendering.page_renderer import PageRenderer
from ultracrawl.crawl.run.adaptive import AdaptiveChooser, is_adaptive
from ultracrawl.crawl.run.begin import begin_run, follow_definition
from ultracrawl.crawl.run.control import STOPPED, CrawlControl
from ultracrawl.crawl.run.crawl_run import CrawlRun
from ultracrawl.crawl.run.end import RunEnd
from ultracrawl.crawl.run.limits import RunLimits
from ultracrawl.crawl.run.refusal import leave_note, refuse
from ultracrawl.crawl.run.running import RunningCrawl
from ultracrawl.crawl.run.start_chain import StartChain
from ultracrawl.crawl.run.visit_watch import VisitWatch
from ultracrawl.crawl.transport.host_addresses import HostAddresses, seed_addresses
from ultracrawl.crawl.user_code.rewriters import SourceRewriter
from ultracrawl.crawl.visit import Visit
from ultracrawl.crawl.writing.opening import open_writer
from ultracrawl.crawl.writing.writer import IndexWriter
from ultracrawl.errors import UltracrawlError, WorkError
from ultracrawl.files import write_for_owner
from ultracrawl.model import RunReport
from ultracrawl.model.dates import as_text
from ultracrawl.rules.boundary import AddressPolicy
from ultracrawl.settings.gc_tuning import spare_what_is_there
from ultracrawl.sources import CompiledSource, DataSource, Project, compile_source
from ultracrawl.stores.control_channel import ControlChannel
from ultracrawl.stores.failure_note import forget_failure
from ultracrawl.stores.opening import open_state, state_file

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

logger = logging.getLogger(__name__)
F = TypeVar("F")

FLUSH_EVERY = 3
"""Ticks between two flushes of cache and state."""


class CrawlSession:
    """What every component of one crawl shares; get it with `CrawlSession.of(crawler)`.

    `open()` is called by the scheduler before the first request, `close()` when the last one is done.
    """

    pending: PendingDocuments
    names: DisplayUrls
    outbox: LinkForwarder | None = None
    """Takes links for other sources, if there are any that get them."""
    relations: RelatedDocuments
    """Has documents tell of other URLs."""
    agreement: Agreement
    filling: Filling
    """Looks after indexes that are new to the source."""
    anchors: AnchorTexts | None = None
    """Gives documents what links to them are called, unless the index does without."""
    _ticks = 0

    def __init__(self, crawler: Crawler, project: Project, source: DataSource) -> None:
        self.crawler = crawler
        self.hosts = HostAddresses()
        self.filtering = filtering_of(source, getattr(crawler.spidercls, "filtering", None))
        """The filters of the source, if it has any."""
        rules = with_filters(_rules_of(source, project, self.hosts), self.filtering)
        run = CrawlRun(
            self._close_soon,
            force=crawler.settings.getbool("ULTRACRAWL_FORCE"),
            replay=crawler.settings.getbool("ULTRACRAWL_REINDEX"),
        )
        self.context = CrawlContext(project, source, rules, time.time, run, Hooks())
        self.rewriting = SourceRewriter(self.context)
        self.languages, self.focus = languages_of(source), focus_of(source, rules.focus)
        """Judges pages by their language; None if all are kept."""
        self.ftp = ftp_access_of(source, project.key_file)
        """How FTP servers are spoken to, with the passwords."""
        self.duplicates = Duplicates(self.context)
        self.keeper = ResponseStore(self.context, self.duplicates.waits)
        self.chooser: AdaptiveChooser | None = None
        """Says which new URLs may be fetched, in an adaptive cycle."""
        asked: tuple[str, ...] = getattr(crawler.spidercls, "asked", ())
        self.chain = StartChain(self.context)
        self.failing = RetryPolicy(self.context)
        self.logs = CrawlLogs(self.context, crawler.settings, self.filtering)
        self.access = AuthChain(self.context, self.logs.events.headers)
        self.robots = RobotsCache(self.context, self._send)
        self.permissions = PermissionReader(self.context, self.robots.known)
        self.sitemaps = SitemapManager(self.context, lambda: self.chooser is not None)
        self.redirects = RedirectFollower(self.context, self.chain, self.sitemaps.follow_redirect)
        self.feeds = FeedTracker(self.context)
        self.control = CrawlControl(self.context, self._in_flight)
        self.limits = RunLimits(self.context)
        restarts = getattr(crawler.spidercls, "restarts", 0)
        self.verdict = FilterVerdict(self.context, restarts, self.limits.end, self.logs.say_error)
        if self.filtering is not None:
            self.filtering.on_verdict = self.verdict.hear
        self.running = RunningCrawl(self.context, self.control, self.verdict)
        self.watch = VisitWatch(self.context, crawler, lambda: self.limits.late, self.failing.handle_failure)
        self._end = RunEnd(
            self.context, self.limits, self.duplicates.recount, lambda: self.verdict.restarts, asked
        )
        self.items = ItemTracker(self.context, crawler.signals, self.visit_failed)
        self.expiry = ExpirySweeper(self.context)
        within = self.watch.within
        self.conversion = DocumentConverter(self.context, self.failing.handle_failure, within)
        parts = PartFetcher(self.context, self.robots, self._send, self.access.certificates)
        self.rendering = PageRenderer(self.context, parts, self.conversion.large_page, within)
        self.context.hooks.answered += [self.watch.note_answer, self.limits.note_answer]
        self._ticking = create_looping_call(self._tick)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the session of a crawler whose spider was made from a definition."""
        project = getattr(crawler.spidercls, "project", None)
        source = getattr(crawler.spidercls, "source", None)
        if not isinstance(project, Project) or not isinstance(source, DataSource):
            raise NotConfigured("the spider has no data source definition")
        return cls(crawler, project, source)

    @classmethod
    def of(cls, crawler: Crawler) -> CrawlSession:
        """Return the session of a crawler."""
        session = crawler.get_extension(cls)
        if session is None:
            raise NotConfigured("the ultracrawl add-on is not switched on")
        return session

    def open(self) -> None:
        """Open the state, continue what a killed run left, and begin or resume the run."""
        write_for_owner()
        self.context.ports.store = open_state(
            self.context.project, self.context.source.name, renew=not self.context.run.replay
        )
        file = state_file(self.context.project, self.context.source.name)
        self.control.open(ControlChannel(file) if file else None)
        self.agreement = Agreement(self.context)
        self.filling = Filling(self.context)
        hooks = self.context.hooks
        hooks.add(self.control, self.watch)
        self.chain.open()
        run = self.context.run
        chooser = AdaptiveChooser(self.context.store, self.context.source, self.context.clock)
        chooser.log = self.logs.events.scores
        run.mark, resumed = begin_run(
            self.context, chooser, everything=run.force or bool(self.agreement.lost)
        )
        if not run.replay and is_adaptive(run.mark.mode):
            self.chooser = chooser
            hooks.add(chooser)
        run.report = RunReport(
            self.context.source.name, str(run.mark.number), as_text(run.mark.started), resumed=resumed
        )
        self.agreement.tell()
        writer = self._open_writer()
        self._open_documents(writer)
        lost = self.context.store.documents.refetch_lost(writer.recover())
        if lost:
            logger.warning("%d documents had not reached the index and are fetched again", lost)
        self.filling.begin(writer, resumed=resumed)
        self.expiry.open()
        hooks.add(self.expiry, self.agreement)
        if self.filtering is not None:
            self.filtering.start()
        if self.context.run.replay:
            run.rescan, self.rewriting.rewriter, run.remade = True, None, True
        elif self.rewriting.open():
            self.limits.open()
            hooks.add(self.limits)
            refresh_only = self.limits.refresh_only
            follow_definition(self.context, self.rewriting.rewriter, refresh_only=refresh_only)
            if self.context.source.crawling_mode != "examine":
                self.pending.approve()
        self.context.report.scheduled = self.context.store.records.count_urls().queued
        self.logs.open()
        hooks.add(self.logs)
        open_link_lists(self.context)
        self._open_discovery()
        if not run.replay:
            hooks.run_ending.append(self._sweep)
        hooks.add(self.filling)
        self._started = time.monotonic()
        self._ticking.start(TICK, now=False)
        self.running.opened = True
        spare_what_is_there()

    def begin(self) -> bool:
        """Open the crawl; if that is not possible, it ends at once, and `running.refused` says why."""
        file = state_file(self.context.project, self.context.source.name)
        try:
            self.open()
        except UltracrawlError as error:
            self.running.refused = error
            refuse(self.crawler, self.context, error)
        else:
            if file is not None and not self.context.run.replay:
                forget_failure(file)
        return self.running.refused is None

    def _abandon(self) -> None:
        """Let go of what was opened before something failed."""
        self.hosts.close()
        self.conversion.close()
        if self.filtering is not None:
            self.filtering.stop()
        ports = self.context.ports
        try:
            if "documents" in vars(ports):
                ports.documents.writer.close(timeout=10.0)
            if "store" in vars(ports):
                ports.store.close()
        except WorkError as error:
            logger.error("%s", error)
        finally:
            self.control.close()

    def _sweep(self, *, complete: bool) -> None:
        self.feeds.expire()

    def _in_flight(self) -> int:
        """Return how many requests are out, or their answers in work; robots.txt counts from the wish for it on."""
        engine = self.crawler.engine
        scraped = engine.scraper.slot
        answers = len(scraped.active) + len(scraped.queue) + scraped.itemproc_size if scraped else 0
        return len(engine.downloader.active) + answers + self.robots.fetching

    def _open_discovery(self) -> None:
        """Open what finds URLs beside the links of pages, and what becomes of them."""
        source, hooks = self.context.source, self.context.hooks
        if source.send_links_to:
            self.outbox = LinkForwarder(self.context)
            hooks.add(self.outbox)
        hooks.add(self.sitemaps, LinkReceiver(self.context) if source.takes_links else None, self.feeds)
        hooks.cycle_ended.append(self.feeds.expire)

    def _open_writer(self) -> IndexWriter:
        """Open the way of documents to the indexes, and what gives visits their outcome."""
        context = self.context
        writer = open_writer(
            context.project,
            context.source,
            context.store,
            context.report,
            crawling=True,
            outlets=self.filling.outlets,
        )
        writer.log = self.logs.events.feed
        context.ports.endings = Recorder(context.store, context.report, context.clock, context.hooks)
        if not context.run.replay:
            context.hooks.add(VisitObserver(context))
        return writer

    def _open_documents(self, writer: IndexWriter) -> None:
        """Open what knows which URLs are one document, and what documents tell of others."""
        context = self.context
        self.pending = PendingDocuments(context.store, writer)
        self.names = DisplayUrls(context, lent_by_redirects=not self.rewriting.rewriter)
        context.ports.documents = Documents(context, writer, self.pending, self.names, self.duplicates)
        self.duplicates.open()
        self.relations = RelatedDocuments(context)
        if context.project.index.anchors:
            self.anchors = AnchorTexts(context)
        self.keeper.open()
        keeper = None if self.keeper.store is None else self.keeper
        context.hooks.add(self.names, self.duplicates, self.relations, self.anchors, keeper)

    def flush(self) -> None:
        """Make documents and records durable, in that order."""
        self.context.flush()

    def _tick(self) -> None:
        self._ticks += 1
        if self.context.store.damage:
            self.context.run.fail(self.context.store.damage)
        try:
            if self._ticks % FLUSH_EVERY == 0:
                self.context.flush()
            self.context.documents.writer.tick()
            for look in self.context.hooks.tick:
                look()
        except WorkError as error:
            self.context.run.fail(str(error))
        except Exception as error:  # the edge to the loop, which would never call again
            logger.exception("A look at the crawl failed")
            self.context.run.fail(f"a look at the crawl failed: {type(error).__name__}: {error}")

    async def _send(self, request: Request) -> Response:
        return await self.crawler.engine.download_async(request)

    def _close_soon(self, reason: str) -> None:
        task = asyncio.ensure_future(self.crawler.engine.close_spider_async(reason=reason))
        task.add_done_callback(lambda done: done.exception())

    def visit_failed(self, visit: Visit, error: BaseException) -> None:
        """End a visit whose download or processing raised, or let it be tried again."""
        self.failing.handle_exception(visit, error)

    async def close(self, reason: str) -> None:
        """Wait for the last commit, end the run, release everything."""
        if not self.running.opened:
            self._abandon()
            return
        self.context.report.interrupted = reason in ("shutdown", STOPPED)
        self.control.ending(interrupted=self.context.report.interrupted)
        if self._ticking.running:
            self._ticking.stop()
        self.rewriting.close()
        if self.filtering is not None:
            self.filtering.stop()
        self.hosts.close()
        self.conversion.close()
        await self._close_browser()
        self.watch.look_for_the_last_time()
        try:
            if not self.context.run.failed:
                await self._end.finish_indexing()
                self._end.write_report(self._started)
        except WorkError as error:
            self.context.run.failed = True
            self.context.run.note_problem(error)
        finally:
            self.context.documents.writer.close(timeout=10.0)
            self._release()
            self.logs.close(reason)
            if self.context.run.failed:
                leave_note(self.context, "; ".join(self.context.run.problems))
        logger.info("%s: %s, %s", self.context.source.name, reason, self.context.report.summary())

    async def _close_browser(self) -> None:
        try:
            async with asyncio.timeout(self.limits.allowance(self.watch.patience)):
                await self.rendering.close()
        except TimeoutError:
            self.context.run.note_problem(
                WorkError("the browser did not close; its process may be left over")
            )

    def _release(self) -> None:
        try:
            self.keeper.close()
            self.context.store.close()
        except WorkError as error:
            self.context.run.note_problem(error)
        finally:
            self.control.close()


def begin_crawl(crawler: Crawler) -> bool:
    """Begin the crawl of a crawler; False if that cannot be: it asks for nothing then, and ends at once."""
    return CrawlSession.of(crawler).begin()


async def end_crawl(crawler: Crawler, reason: str) -> None:
    """Wait for the last commit, end the run, release everything."""
    await CrawlSession.of(crawler).close(reason)


def context_of(crawler: Crawler) -> CrawlContext:
    """Return the context of a crawl. Raises `NotConfigured` where the add-on is not switched on."""
    return CrawlSession.of(crawler).context


def feature_of(crawler: Crawler, kind: type[F]) -> F:
    """Return the feature of a crawl that has a class. Raises `NotConfigured` where the add-on is not switched on."""
    found = next((one for one in vars(CrawlSession.of(crawler)).values() if isinstance(one, kind)), None)
    if found is None:
        raise NotConfigured(f"the crawl has no {kind.__name__}")
    return found


def running_crawl(crawler: Crawler) -> RunningCrawl | None:
    """Return the crawl of a crawler as who runs it sees it; None where the add-on is not switched on."""
    session = crawler.get_extension(CrawlSession)
    return None if session is None else session.running


def _rules_of(source: DataSource, project: Project, hosts: HostAddresses) -> CompiledSource:
    """Return the rules of a source, with the addresses that its start hosts have now."""
    rules = compile_source(source, project, hosts)
    networks = [str(network) for network in source.boundary.networks]
    return replace(rules, addresses=AddressPolicy.for_source(seed_addresses(rules.own), networks))
