"""The declared list: which features a crawl has, when a source uses them, what they need of each other, their order."""

from __future__ import annotations

from typing import Any

from ultracrawl.run.auth.chain import AuthChain, ftp_access_of
from ultracrawl.run.composition.making import (
    choice_log_of,
    compares_copies,
    count_in_flight,
    decide_by,
    depths_differ,
    has_filters,
    has_relations,
    has_robot_log,
    is_crawl,
    is_inspection,
    is_listed,
    make_auth,
    make_copies,
    make_fetching,
    make_listing,
    make_part_fetcher,
    make_renderer,
    make_starting_depths,
    make_verdict,
    make_watch,
    open_robot_log,
    send_of,
)
from ultracrawl.run.composition.parts import Moment, Row
from ultracrawl.run.control.activity import Activity
from ultracrawl.run.control.adaptive import AdaptiveChooser
from ultracrawl.run.control.limits import RunLimits
from ultracrawl.run.control.orders import CrawlControl
from ultracrawl.run.control.scrapy_statistics import ScrapyStatistics
from ultracrawl.run.control.silent_requests import SilentRequests
from ultracrawl.run.control.site_orders import SiteOrders
from ultracrawl.run.control.visit_watch import VisitWatch
from ultracrawl.run.cycle.running import RunningCrawl
from ultracrawl.run.discovery.feed_tracker import FeedTracker
from ultracrawl.run.discovery.link_forwarder import LinkForwarder, LinkReceiver
from ultracrawl.run.discovery.redirects import RedirectFollower
from ultracrawl.run.discovery.robots_cache import RobotsCache
from ultracrawl.run.discovery.sitemap_manager import SitemapManager
from ultracrawl.run.discovery.start_chain import StartChain
from ultracrawl.run.download_errors.retry_policy import RetryPolicy
from ultracrawl.run.filters.copies import ContentCopies
from ultracrawl.run.filters.starting_depths import StartingDepths
from ultracrawl.run.filters.verdict import FilterVerdict
from ultracrawl.run.indexing.anchors import AnchorTexts
from ultracrawl.run.indexing.depths import LinkDepths
from ultracrawl.run.indexing.filling import Filling
from ultracrawl.run.indexing.items import ItemTracker
from ultracrawl.run.indexing.reconciliation import IndexReconciler
from ultracrawl.run.indexing.response_store import ResponseStore
from ultracrawl.run.listing.fetching import EntryFetching
from ultracrawl.run.listing.listing import SourceListing
from ultracrawl.run.logs.candidate_logs import CandidateLog, ExcludedLinksLog
from ultracrawl.run.logs.crawl_logs import CrawlLogs
from ultracrawl.run.logs.event_logs import FetchLog, HeaderLog, ItemLog
from ultracrawl.run.logs.link_lists import LinkLists
from ultracrawl.run.logs.robot_log import RobotLog
from ultracrawl.run.logs.run_log import RunLog
from ultracrawl.run.observer import EndingLog, FoundLinks, VisitObserver
from ultracrawl.run.placement.changes import ChangeGuard
from ultracrawl.run.placement.display_urls import DisplayUrls
from ultracrawl.run.placement.duplicates import Duplicates
from ultracrawl.run.reading.document_converter import DocumentConverter
from ultracrawl.run.reading.language_detection import DocumentLanguages, languages_of
from ultracrawl.run.reading.language_focus import LanguageFocus, focus_of
from ultracrawl.run.reading.permissions import PermissionReader
from ultracrawl.run.relations.related import RelatedDocuments
from ultracrawl.run.removal.expiry import ExpirySweeper
from ultracrawl.run.rendering.page_parts import PartFetcher
from ultracrawl.run.rendering.page_renderer import PageRenderer
from ultracrawl.run.rendering.part_check import PartCheck
from ultracrawl.run.rewriters import SourceRewriter
from ultracrawl.run.traps.recognition import TrapRecognition
from ultracrawl.sources.compilation.ftp import FtpAccess

STORED, BEGUN = Moment.STORED, Moment.BEGUN
ANYWHERE = "anywhere: what it does depends on no neighbour"


FEATURES: tuple[Row[Any], ...] = (
    Row(SourceRewriter, lambda p: SourceRewriter(p.context), ANYWHERE, inspected=True),
    Row(StartChain, lambda p: StartChain(p.context), ANYWHERE),
    Row(RetryPolicy, lambda p: RetryPolicy(p.context), ANYWHERE),
    Row(
        CrawlLogs, lambda p: CrawlLogs(p.context, p.crawler.settings), "above the logs, whose files it writes"
    ),
    Row(RobotsCache, lambda p: RobotsCache(p.context, send_of(p)), ANYWHERE),
    Row(
        CrawlControl,
        lambda p: CrawlControl(p.context, lambda: count_in_flight(p)),
        "an order to stop or to pause comes before all other work of a tick",
    ),
    Row(
        SiteOrders,
        lambda p: SiteOrders(p.context, decide_by(p)),
        "after an order to stop or to pause; before the start URLs are looked at",
        is_crawl,
    ),
    Row(VisitWatch, make_watch, "sees what the tick before left in flight"),
    Row(
        SilentRequests,
        lambda p: SilentRequests(p.crawler, p[RobotsCache].abandon_requests, p[VisitWatch].suspend_visit),
        "after the watch, which may end the same visits",
    ),
    Row(ScrapyStatistics, lambda p: ScrapyStatistics(p.crawler.stats), "published with each flush"),
    Row(
        AdaptiveChooser,
        lambda p: AdaptiveChooser(p.context.store, p.context.source, p.context.clock, choice_log_of(p)),
        "dropped again when the run turns out not to be adaptive",
        moment=STORED,
    ),
    Row(
        VisitObserver,
        lambda p: VisitObserver(p.context),
        "the first to see a visit that ended",
        is_crawl,
        BEGUN,
    ),
    Row(
        DisplayUrls,
        lambda p: DisplayUrls(p.context, lent_by_redirects=not p[SourceRewriter].rewriter),
        "a display URL is freed before duplicates are looked for",
        moment=BEGUN,
    ),
    Row(
        Duplicates,
        lambda p: Duplicates(p.context, items_have_readers=p.items_have_readers),
        "a place is taken or given before responses are stored",
    ),
    Row(
        RelatedDocuments,
        lambda p: RelatedDocuments(p.context, items_have_readers=p.items_have_readers),
        "its lists are refreshed before depths and anchor texts are sent",
        has_relations,
        BEGUN,
    ),
    Row(
        LinkDepths,
        lambda p: LinkDepths(p.context),
        "depths are corrected before anchor texts are updated, with which they are sent to the index",
        lambda p: p.context.rules.counts_links,
        BEGUN,
    ),
    Row(
        AnchorTexts,
        lambda p: AnchorTexts(p.context, items_have_readers=p.items_have_readers),
        "after depths",
        lambda p: p.context.project.index.anchors,
        BEGUN,
    ),
    Row(
        ResponseStore,
        lambda p: ResponseStore(p.context, p[Duplicates].is_waiting),
        "after duplicates, which decide whose response is kept",
        lambda p: p.context.source.storage.keep,
    ),
    Row(
        ChangeGuard,
        lambda p: ChangeGuard(p.context),
        "after the response of a visit that waits is stored",
        moment=BEGUN,
    ),
    Row(ExpirySweeper, lambda p: ExpirySweeper(p.context), "marks before feeds do", has_filters),
    Row(IndexReconciler, lambda p: IndexReconciler(p.context), "marks what no visit can mark", moment=STORED),
    Row(
        ContentCopies,
        make_copies,
        "after duplicates",
        compares_copies,
        BEGUN,
    ),
    Row(StartingDepths, make_starting_depths, ANYWHERE, depths_differ, BEGUN),
    Row(
        TrapRecognition,
        lambda p: TrapRecognition(p.context),
        ANYWHERE,
        lambda p: bool(p.context.rules.traps.any.trap_pages) and not p.context.rules.listed,
    ),
    Row(RunLimits, lambda p: RunLimits(p.context), "counts documents that are placed"),
    Row(
        FetchLog,
        lambda p: p[CrawlLogs].open_fetch_log(),
        "logs come after what they report",
        lambda p: p.context.source.log.fetch,
        BEGUN,
    ),
    Row(
        ItemLog,
        lambda p: p[CrawlLogs].open_item_log(),
        "as above",
        lambda p: p.context.source.log.postprocess != "none",
        BEGUN,
    ),
    Row(HeaderLog, lambda p: p[CrawlLogs].open_header_log(), ANYWHERE, lambda p: p.context.source.log.header),
    Row(RobotLog, open_robot_log, "as above", has_robot_log, BEGUN),
    Row(
        ExcludedLinksLog,
        lambda p: p[CrawlLogs].open_excluded_log(),
        "as above",
        lambda p: p.context.source.log.screened,
        BEGUN,
    ),
    Row(
        CandidateLog,
        lambda p: p[CrawlLogs].open_candidate_log(),
        "as above",
        lambda p: bool(p.context.source.log.candidates) and is_crawl(p),
        BEGUN,
    ),
    Row(
        RunLog,
        lambda p: p[CrawlLogs].open_run_log(),
        "as above",
        lambda p: bool(p.context.source.log.runs),
        BEGUN,
    ),
    Row(
        LinkLists,
        lambda p: LinkLists(
            p.context.project.base / str(p.context.source.storage.link_lists), p.context.run.note_problem
        ),
        ANYWHERE,
        lambda p: p.context.source.storage.link_lists is not None,
        BEGUN,
    ),
    Row(
        LinkForwarder,
        lambda p: LinkForwarder(p.context),
        ANYWHERE,
        lambda p: bool(p.context.source.send_links_to),
        BEGUN,
    ),
    Row(
        SitemapManager,
        lambda p: SitemapManager(p.context, lambda: p.get(AdaptiveChooser) is not None),
        "its sitemaps are queued ahead of all pages",
    ),
    Row(
        LinkReceiver,
        lambda p: LinkReceiver(p.context),
        "received links are pages",
        lambda p: bool(p.context.source.takes_links),
        BEGUN,
    ),
    Row(EntryFetching, make_fetching, "before the listing is told of a visit", is_listed),
    Row(SourceListing, make_listing, "after the fetcher dropped the entry of a visit", is_listed),
    Row(
        FeedTracker,
        lambda p: FeedTracker(p.context),
        "feeds expire after everything else has marked its documents",
        lambda p: p.context.source.feeds.on,
    ),
    Row(
        Filling,
        lambda p: Filling(p.context),
        "marks an index as filled when all else succeeded",
        moment=STORED,
    ),
    Row(FtpAccess, lambda p: ftp_access_of(p.context.source, p.context.project.key_file), ANYWHERE),
    Row(AuthChain, make_auth, "below the listing, which knows credentials"),
    Row(
        PermissionReader,
        lambda p: PermissionReader(p.context, p[RobotsCache].reservations),
        "below robots.txt",
    ),
    Row(
        RedirectFollower,
        lambda p: RedirectFollower(p.context, p[StartChain], p[SitemapManager].follow_redirect),
        "below sitemaps",
    ),
    Row(FilterVerdict, make_verdict, "below the limits, by which it ends a run"),
    Row(Activity, lambda p: Activity(p.context, lambda: p[ScrapyStatistics].answers), ANYWHERE),
    Row(
        RunningCrawl,
        lambda p: RunningCrawl(p.context, p[CrawlControl], p[FilterVerdict], p[Activity]),
        "below what it shows",
    ),
    Row(
        ItemTracker,
        lambda p: ItemTracker(p.context, p.crawler.signals, p[RetryPolicy].handle_exception),
        ANYWHERE,
    ),
    Row(DocumentLanguages, lambda p: languages_of(p.context.source), ANYWHERE),
    Row(
        LanguageFocus,
        lambda p: focus_of(p.context.source, p.context.rules.focus, p[DocumentLanguages]),
        "below the languages",
    ),
    Row(
        DocumentConverter,
        lambda p: DocumentConverter(p.context, p[RetryPolicy].handle_failure, p[VisitWatch].waiting_in),
        ANYWHERE,
        inspected=True,
    ),
    Row(
        PartFetcher,
        make_part_fetcher,
        "below log-ins",
        lambda p: p.context.source.runs_scripts,
    ),
    Row(
        PartCheck,
        lambda p: PartCheck(p.context, p[PartFetcher], p[VisitWatch].waiting_in),
        ANYWHERE,
        lambda p: p.context.source.runs_scripts,
    ),
    Row(
        PageRenderer,
        make_renderer,
        "below the converter, which reads its pages",
        lambda p: p.context.source.runs_scripts,
        inspected=True,
    ),
    Row(
        EndingLog,
        lambda _: EndingLog(),
        "what is said of a page that is looked at",
        is_inspection,
        inspected=True,
    ),
    Row(
        FoundLinks,
        lambda _: FoundLinks(),
        "the links of a page that is looked at",
        is_inspection,
        inspected=True,
    ),
)
"""All features. Within a hook they are called in this order; `why` says which neighbourhood matters."""
