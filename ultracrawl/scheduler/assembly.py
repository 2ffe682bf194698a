"""Builds the parts of the scheduler when the crawl begins."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.run import CrawlContext, Visit, feature_of
from ultracrawl.run.control.limits import RunLimits
from ultracrawl.run.control.orders import CrawlControl
from ultracrawl.run.control.visit_watch import VisitWatch
from ultracrawl.run.discovery.new_urls import trap_guard
from ultracrawl.run.discovery.robots_cache import RobotsCache
from ultracrawl.run.discovery.sitemap_manager import SitemapManager
from ultracrawl.run.hooks import Feature
from ultracrawl.run.indexing.items import ItemTracker
from ultracrawl.run.logs.crawl_logs import CrawlLogs
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
from ultracrawl.scheduler.given_urls import GivenUrls
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
            feature_of(crawler, CrawlControl),
            feature_of(crawler, RunLimits),
            feature_of(crawler, VisitWatch),
            feature_of(crawler, ItemTracker),
            feature_of(crawler, DocumentConverter),
            feature_of(crawler, HostAddresses),
            feature_of(crawler, SourceRewriter),
            feature_of(crawler, RobotsCache),
            feature_of(crawler, SitemapManager),
            feature_of(crawler, CrawlLogs),
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

    The order in which parts join `hooks.visit_ended` matters: the place of a visit at its site is given back before
    its stored links are re-asserted.
    """
    sitemaps, hooks = features.sitemaps, context.hooks
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
    hooks.call(Feature.resumed, partial(alarm.set_timer, 0.0))
    hooks.call(Feature.visit_ended, flight.visit_ended)
    if watch := features.logs.events.watch(frontier.given_up):
        frontier.set_slot_listener(watch)
    pacing.begin()
    ingest = LinkIngest(
        context, candidates, gate.add_entry, activator, repeats, lambda: features.limits.refresh_only
    )
    queue = CrawlQueue(ingest, candidates, repeats, flight, gate, frontier, pacing, direct, alarm.set_timer)
    context.open_queue(queue)
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
        GivenUrls(context, features.items.given, gate.add_entry),
    )
    return SchedulerParts(queue, picker, flight, activator)


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
