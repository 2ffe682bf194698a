"""Creates the features that the definition of a source needs, and registers them in order."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ultracrawl.agents.port import ListedKind
from ultracrawl.model.dates import as_text
from ultracrawl.rules.boundary.addresses import AddressPolicy
from ultracrawl.run.auth.chain import AuthChain, ftp_access_of
from ultracrawl.run.context import CrawlContext
from ultracrawl.run.control.activity import Activity
from ultracrawl.run.control.adaptive import AdaptiveChooser, is_adaptive
from ultracrawl.run.control.begin import begin_run, follow_definition
from ultracrawl.run.control.limits import RunLimits
from ultracrawl.run.control.orders import CrawlControl
from ultracrawl.run.control.running import RunningCrawl
from ultracrawl.run.control.scrapy_statistics import ScrapyStatistics
from ultracrawl.run.control.silent_requests import SilentRequests
from ultracrawl.run.control.start_chain import StartChain
from ultracrawl.run.control.visit_watch import VisitWatch
from ultracrawl.run.crawl_run import CrawlRun
from ultracrawl.run.discovery.feed_tracker import FeedTracker
from ultracrawl.run.discovery.link_forwarder import LinkForwarder, LinkReceiver
from ultracrawl.run.discovery.redirects import RedirectFollower
from ultracrawl.run.discovery.robots_cache import RobotsCache
from ultracrawl.run.discovery.sitemap_manager import SitemapManager
from ultracrawl.run.download_errors.retry_policy import RetryPolicy
from ultracrawl.run.hooks import Feature, Hooks
from ultracrawl.run.indexing.anchors import AnchorTexts
from ultracrawl.run.indexing.depths import LinkDepths
from ultracrawl.run.indexing.filling import Filling
from ultracrawl.run.indexing.items import ItemTracker, may_have_readers
from ultracrawl.run.indexing.reconciliation import IndexReconciler
from ultracrawl.run.indexing.response_store import ResponseStore
from ultracrawl.run.listing.fetching import EntryFetching
from ultracrawl.run.listing.listing import SourceListing, lister_credential
from ultracrawl.run.listing.setup import setup_of
from ultracrawl.run.logs.crawl_logs import CrawlLogs
from ultracrawl.run.logs.link_lists import open_link_lists
from ultracrawl.run.observer import VisitObserver
from ultracrawl.run.placement.changes import AlikeChanges
from ultracrawl.run.placement.display_urls import DisplayUrls
from ultracrawl.run.placement.documents import Documents
from ultracrawl.run.placement.duplicates import Duplicates
from ultracrawl.run.placement.pending import PendingDocuments
from ultracrawl.run.portal_filters.source_filters import filtering_of, with_filters
from ultracrawl.run.portal_filters.verdict import FilterVerdict
from ultracrawl.run.reading.document_converter import DocumentConverter
from ultracrawl.run.reading.language_detection import languages_of
from ultracrawl.run.reading.language_focus import focus_of
from ultracrawl.run.reading.permissions import PermissionReader
from ultracrawl.run.recorder import Recorder
from ultracrawl.run.relations.related import RelatedDocuments
from ultracrawl.run.removal.expiry import ExpirySweeper
from ultracrawl.run.rendering.page_parts import PartFetcher
from ultracrawl.run.rendering.page_renderer import PageRenderer
from ultracrawl.run.rewriters import SourceRewriter
from ultracrawl.run.run_counters import RunCounters
from ultracrawl.run.transport.host_addresses import HostAddresses, seed_addresses
from ultracrawl.run.writing.source_writer import open_writer
from ultracrawl.run.writing.writer import IndexWriter
from ultracrawl.settings.presets import FOREIGN_HANDLERS_SETTING
from ultracrawl.sources import CompiledSource, DataSource, Project, compile_source
from ultracrawl.sources.kinds import load_kind
from ultracrawl.stores.control_channel import ControlChannel
from ultracrawl.stores.project_stores import state_file

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ultracrawl.run.portal_filters.filtering import Filtering


class CrawlFeatures:
    """The features of the crawl of one source, one attribute each; None for those that the source does not use.

    The constructor creates them without opening anything. The public methods, called in this order, open them and add
    them to the hooks. Within a hook, features are called in the order in which they are added here; a comment says
    where this order matters.
    """

    changes: AlikeChanges
    display_urls: DisplayUrls
    pending: PendingDocuments
    relations: RelatedDocuments
    reconciler: IndexReconciler
    filling: Filling
    anchors: AnchorTexts | None = None
    chooser: AdaptiveChooser | None = None
    """Admits new URLs in an adaptive cycle."""

    def __init__(
        self, crawler: Crawler, project: Project, source: DataSource, close_soon: Callable[[str], None]
    ) -> None:
        self._crawler = crawler
        self.hosts = HostAddresses()
        self.filtering = filtering_of(source, getattr(crawler.spidercls, "filtering", None))
        """The filters of the source, if it has any."""
        rules = with_filters(_rules_of(source, project, self.hosts), self.filtering)
        settings = crawler.settings
        force, replay = settings.getbool("ULTRACRAWL_FORCE"), settings.getbool("ULTRACRAWL_REINDEX")
        run = CrawlRun(close_soon, force=force, replay=replay)
        self.context = CrawlContext(project, source, rules, time.time, run, Hooks())
        self._make_documents()
        self._make_listing()
        self._make_discovery()
        self._make_run()
        self._make_reading()
        for note_answer in (self.watch.note_answer, self.limits.note_answer):
            self.context.hooks.call(Feature.response_received, note_answer)

    def _make_documents(self) -> None:
        self._items_have_readers = may_have_readers(self._crawler)
        self.duplicates = Duplicates(self.context, items_have_readers=self._items_have_readers)
        self.responses = ResponseStore(self.context, self.duplicates.is_waiting)
        self.expiry = ExpirySweeper(self.context)

    def _make_discovery(self) -> None:
        context = self.context
        self.rewriting = SourceRewriter(context)
        self.start_chain = StartChain(context)
        self.retry_policy = RetryPolicy(context)
        self.logs = CrawlLogs(context, self._crawler.settings, self.filtering)
        lanes = not self._crawler.settings.getbool(FOREIGN_HANDLERS_SETTING)
        ask = None if self.listing is None else partial(lister_credential, self.listing)
        self.auth = AuthChain(context, self.logs.events.headers, lanes=lanes, ask=ask)
        self.ftp = ftp_access_of(context.source, context.project.key_file)
        """Options and passwords of FTP servers."""
        self.robots = RobotsCache(context, self._send)
        self.permissions = PermissionReader(context, self.robots.known, self.robots.reserves)
        self.sitemaps = SitemapManager(context, lambda: self.chooser is not None)
        self.redirects = RedirectFollower(context, self.start_chain, self.sitemaps.follow_redirect)
        self.feeds = FeedTracker(context)

    def _make_listing(self) -> None:
        """Create lister and fetcher, if the kind of the source has them."""
        context, kind = self.context, load_kind(self.context.source.type)
        self.listing: SourceListing | None = None
        self.fetching: EntryFetching | None = None
        if isinstance(kind, ListedKind):
            project, source, force = context.project, context.source, context.run.force
            setup = setup_of(project, source, force=force, clock=context.clock)
            self.fetching = EntryFetching(context, kind.schemes, lambda: kind.make_fetcher(setup))
            self.listing = SourceListing(
                context, lambda: kind.make_lister(setup), lambda: bool(self.reconciler.lost)
            )

    def _make_run(self) -> None:
        context, crawler = self.context, self._crawler
        self.control = CrawlControl(context, self._in_flight)
        self.limits = RunLimits(context)
        self.statistics = ScrapyStatistics(crawler.stats)
        restarts = getattr(crawler.spidercls, "restarts", 0)
        self.verdict = FilterVerdict(context, restarts, self.limits.end_run, self.logs.log_robot_error)
        if self.filtering is not None:
            self.filtering.on_verdict = self.verdict.follow_answer
        retry = self.retry_policy
        self.watch = VisitWatch(context, crawler, lambda: self.limits.is_overdue, retry.handle_failure)
        self.silent = SilentRequests(crawler, self.robots.abandon_requests, self.watch.suspend_visit)
        self.activity = Activity(context, lambda: self.statistics.answers)
        self.running = RunningCrawl(context, self.control, self.verdict, self.activity)
        self.items = ItemTracker(context, crawler.signals, retry.handle_exception)

    def _make_reading(self) -> None:
        context, waiting_in = self.context, self.watch.waiting_in
        self.languages = languages_of(context.source)
        self.focus = focus_of(context.source, context.rules.focus, self.languages)
        """Decides about pages by their language; None if all languages are kept."""
        self.converter = DocumentConverter(context, self.retry_policy.handle_failure, waiting_in)
        parts = PartFetcher(context, self.robots, self._send, self.auth.certificates)
        self.renderer = PageRenderer(context, parts, self.converter.large_page, waiting_in)

    # ---- opening, in this order

    def begin_run(self) -> bool:
        """Begin or resume the run; returns whether it was resumed."""
        context, run = self.context, self.context.run
        file = state_file(context.project, context.source.name)
        self.control.open(ControlChannel(file) if file else None)
        self.reconciler = IndexReconciler(context)
        self.filling = Filling(context)
        context.hooks.add(self.control, self.watch, self.silent, self.statistics)
        self.start_chain.open()
        chooser = AdaptiveChooser(context.store, context.source, context.clock)
        chooser.log = self.logs.events.scores
        run.mark, resumed = begin_run(context, chooser, everything=run.force or bool(self.reconciler.lost))
        if not run.replay and is_adaptive(run.mark.mode):
            self.chooser = chooser
            context.hooks.add(chooser)
        started = as_text(run.mark.started)
        run.counters = RunCounters(context.source.name, str(run.mark.number), started, resumed=resumed)
        self.reconciler.report_losses()
        return resumed

    def open_documents(self) -> IndexWriter:
        """Open index writer, recorder, placement and stored responses; returns the writer."""
        context = self.context
        project, source, destinations = context.project, context.source, self.filling.destinations
        writer = open_writer(
            project, source, context.store, context.counters, crawling=True, destinations=destinations
        )
        writer.commits.log = self.logs.events.feed
        context.ports.endings = Recorder(context.store, context.counters, context.clock, context.hooks)
        observer = None if context.run.replay else VisitObserver(context)
        self.pending = PendingDocuments(context.store, writer)
        self.display_urls = DisplayUrls(context, lent_by_redirects=not self.rewriting.rewriter)
        self.changes = AlikeChanges(context)
        context.ports.documents = Documents(
            context, writer, self.pending, self.display_urls, self.duplicates, self.changes
        )
        self.duplicates.open()
        if not context.run.replay:
            self.changes.open()
        readers = self._items_have_readers
        self.relations = RelatedDocuments(context, items_have_readers=readers)
        self.anchors = AnchorTexts(context, items_have_readers=readers) if project.index.anchors else None
        depths = LinkDepths(context) if context.rules.counts_links else None
        self.responses.open()
        responses = None if self.responses.store is None else self.responses
        # A display URL is freed before duplicates are looked for, and both happen before responses are stored.
        # Depths are corrected before anchor texts are updated, with which they are sent to the index.
        features = (self.display_urls, self.duplicates, self.relations, depths, self.anchors, responses)
        context.hooks.add(observer, *features, self.changes)
        return writer

    def open_rules(self) -> None:
        """Open expiry, filters, rewriter and limits, and apply changes of the definition."""
        context, run = self.context, self.context.run
        self.expiry.open()
        context.hooks.add(self.expiry, self.reconciler)
        if self.filtering is not None:
            self._open_filters(self.filtering)
        if run.replay:
            run.rescan, self.rewriting.rewriter, run.recipe_changed = True, None, True
        elif self.rewriting.open():
            self.limits.open()
            context.hooks.add(self.limits)
            follow_definition(context, self.rewriting.rewriter, refresh_only=self.limits.refresh_only)
            if context.source.crawling_mode != "examine":
                self.pending.approve()
        if not run.replay:
            context.counters.count_scheduled(context.store.records.count_urls().queued)
            if context.counters.resumed:
                context.counters.note_before(context.store.records.count_visited(run.mark.started))

    def _open_filters(self, filtering: Filtering) -> None:
        """Begin a run of the filters, with the holders of checksums if they compare any."""
        robot = filtering.robot
        if robot.compared_in:
            from ultracrawl.run.portal_filters.copies import ContentCopies  # noqa: PLC0415 - few filters compare

            copies = ContentCopies(self.context, robot.compared_in)
            robot.look_up_holders(copies.holder)
            self.context.hooks.add(copies)
        filtering.start()

    def open_logs_and_links(self) -> None:
        """Open the logs and the sources of URLs other than links; feeds expire after everything else."""
        context = self.context
        self.logs.open()
        context.hooks.add(self.logs)
        open_link_lists(context)
        source = context.source
        forwarder = LinkForwarder(context) if source.send_links_to else None
        receiver = LinkReceiver(context) if source.takes_links else None
        context.hooks.add(forwarder, self.sitemaps, receiver, self.feeds, self.fetching, self.listing)
        context.hooks.call(Feature.cycle_ended, self.feeds.expire)
        if not context.run.replay:
            context.hooks.call(Feature.run_ending, self._expire_feeds)
        context.hooks.add(self.filling)

    def _expire_feeds(self, *, complete: bool) -> None:
        self.feeds.expire()

    # ---- callbacks to Scrapy

    def _in_flight(self) -> int:
        """Return the number of requests sent or being processed, and of robots.txt files waited for."""
        engine = self._crawler.engine
        scraped = engine.scraper.slot
        answers = len(scraped.active) + len(scraped.queue) + scraped.itemproc_size if scraped else 0
        return len(engine.downloader.active) + answers + self.robots.fetching

    async def _send(self, request: Request) -> Response:
        return await self._crawler.engine.download_async(request)


def _rules_of(source: DataSource, project: Project, hosts: HostAddresses) -> CompiledSource:
    """Return the compiled rules of a source, with the addresses to which its start hosts resolve now."""
    rules = compile_source(source, project, hosts)
    networks = [str(network) for network in source.boundary.networks]
    return replace(rules, addresses=AddressPolicy.for_source(seed_addresses(rules.trusted_urls), networks))
