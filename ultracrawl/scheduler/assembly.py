"""Builds the parts of the scheduler when the crawl begins."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.run import CrawlContext, Visit, parts_of
from ultracrawl.run.control.limits import RunLimits
from ultracrawl.run.control.orders import CrawlControl
from ultracrawl.run.control.visit_watch import VisitWatch
from ultracrawl.run.discovery.new_urls import trap_guard
from ultracrawl.run.discovery.robots_cache import RobotsCache
from ultracrawl.run.discovery.sitemap_manager import SitemapEndings, SitemapManager
from ultracrawl.run.hooks import Feature
from ultracrawl.run.indexing.items import ItemTracker
from ultracrawl.run.logs.crawl_logs import CrawlLogs
from ultracrawl.run.logs.event_logs import SiteLog
from ultracrawl.run.reading.document_converter import DocumentConverter
from ultracrawl.run.rewriters import SourceRewriter
from ultracrawl.run.transport.host_addresses import HostAddresses
from ultracrawl.scheduler.addresses import AddressResolver
from ultracrawl.scheduler.alarm import Alarm
from ultracrawl.scheduler.budget import EntryGate
from ultracrawl.scheduler.candidates.candidate_filter import CandidateFilter
from ultracrawl.scheduler.candidates.link_ingest import LinkIngest
from ultracrawl.scheduler.candidates.recrawl_activator import RecrawlActivator
from ultracrawl.scheduler.candidates.repeats import RepeatVisits
from ultracrawl.scheduler.crawl_queue import CrawlQueue
from ultracrawl.scheduler.entry_picker import EntryPicker
from ultracrawl.scheduler.flight import VisitsInFlight
from ultracrawl.scheduler.given_urls import GivenUrls, may_yield_documents
from ultracrawl.scheduler.pacing import Pacing
from ultracrawl.scheduler.sitemap_barrier import SitemapBarrier
from ultracrawl.stores import QueueEntry

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


class Features(NamedTuple):
    """The features of the crawl that the scheduler uses."""

    control: CrawlControl
    limits: RunLimits
    watch: VisitWatch
    items: ItemTracker
    conversion: DocumentConverter
    hosts: HostAddresses
    rewriting: SourceRewriter
    robots: RobotsCache
    sitemaps: SitemapManager
    logs: CrawlLogs

    @classmethod
    def of(cls, crawler: Crawler) -> Self:
        """Return the features of the crawl of a crawler."""
        return cls(
            parts_of(crawler)[CrawlControl],
            parts_of(crawler)[RunLimits],
            parts_of(crawler)[VisitWatch],
            parts_of(crawler)[ItemTracker],
            parts_of(crawler)[DocumentConverter],
            parts_of(crawler)[HostAddresses],
            parts_of(crawler)[SourceRewriter],
            parts_of(crawler)[RobotsCache],
            parts_of(crawler)[SitemapManager],
            parts_of(crawler)[CrawlLogs],
        )


class SchedulerParts(NamedTuple):
    """The parts of the scheduler that `UltracrawlScheduler` uses directly."""

    queue: CrawlQueue
    picker: EntryPicker
    flight: VisitsInFlight
    activator: RecrawlActivator


def assemble(
    context: CrawlContext,
    features: Features,
    frontier: Frontier[QueueEntry],
    pacing: Pacing,
    alarm: Alarm,
    direct: deque[Request],
) -> SchedulerParts:
    """Build the parts of a scheduler whose crawl has begun, and load the stored queue into the frontier.

    The order in which parts are called matters: the place of a visit at its site is given back before the site log
    counts it, before its stored links are re-asserted, and before pages that waited for a sitemap are released.
    """
    sitemaps = features.sitemaps
    retries_by_key: dict[int, Visit] = {}
    gate = EntryGate(context, frontier, retries_by_key, sitemaps.waiting_sites, sitemaps.abandon)
    candidates = make_filter(context, features)
    activator = RecrawlActivator(
        context, candidates.seen, gate.leave_in_store, lambda key: sitemaps.job_of(key) is not None
    )
    repeats = RepeatVisits(context, gate.add_entry, activator.is_fresh)
    flight = VisitsInFlight(
        context, frontier, pacing, gate, repeats, sitemaps, features.watch, retries_by_key, alarm.set_timer
    )
    endings = SitemapEndings(sitemaps.end_visit) if sitemaps.on else None
    site_log = _open_site_log(features, frontier)
    pacing.begin()
    ingest = LinkIngest(
        context, candidates, gate.add_entry, activator, repeats, lambda: features.limits.refresh_only
    )
    queue = CrawlQueue(ingest, candidates, repeats, flight, gate, frontier, pacing, direct, alarm.set_timer)
    given = _given_urls(context, features, gate)
    context.open_queue(
        queue, flight, site_log, pacing, ingest, activator if activator.on else None, given, endings
    )
    gate.load_stored_queue()
    picker = EntryPicker(
        context,
        frontier,
        alarm,
        pacing,
        AddressResolver(features.hosts, frontier, alarm.set_timer),
        ingest,
        activator,
        flight,
        SitemapBarrier(context, frontier, sitemaps, features.robots, flight.must_fetch),
        features.robots,
        given,
    )
    return SchedulerParts(queue, picker, flight, activator)


def _open_site_log(features: Features, frontier: Frontier[QueueEntry]) -> SiteLog | None:
    """Open the log of sites, if it is on, and have the frontier report to it."""
    log = features.logs.open_site_log(frontier.given_up)
    if log is not None:
        frontier.set_slot_listener(log.moved)
    return log


def _given_urls(context: CrawlContext, features: Features, gate: EntryGate) -> GivenUrls | None:
    if not may_yield_documents(context.source):
        return None
    return GivenUrls(context, features.items.given, gate.add_entry)


def make_filter(context: CrawlContext, features: Features) -> CandidateFilter:
    """Return the filter that decides which links of a source become queue entries."""
    rules, hooks = context.rules, context.hooks  # tuples: what joins these three hooks has joined before
    candidates = CandidateFilter(
        rules.url_policy,
        rules.boundary,
        context.store,
        context.clock,
        context.counters.count_excluded,
        features.rewriting.rewriter,
        features.hosts.look_up,
        hooks[Feature.candidate_excluded],
        hooks[Feature.admit_new_url],
        hooks[Feature.candidate_judged],
        traps=trap_guard(context.source.limits, context.store),
        level_of=rules.levels.of,
    )
    candidates.limits_over = lambda: features.limits.over
    return candidates
