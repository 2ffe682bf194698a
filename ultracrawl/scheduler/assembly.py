"""Builds the parts of the scheduler when the crawl begins, and the port `queue` over them."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ultracrawl.rules.candidates.rules import CandidateRules
from ultracrawl.rules.candidates.traps import TrapPatterns
from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.run import CrawlContext
from ultracrawl.run.discovery.new_urls import trap_guard
from ultracrawl.run.discovery.sitemap_manager import SitemapEndings
from ultracrawl.run.hooks import Feature
from ultracrawl.run.logs.event_logs import SiteLog
from ultracrawl.scheduler.alarm import Alarm
from ultracrawl.scheduler.candidate_filter import CandidateFilter, CandidateListeners
from ultracrawl.scheduler.cycle_end import GivenUrls, may_yield_documents
from ultracrawl.scheduler.features import Features
from ultracrawl.scheduler.flight import EntryGate, VisitsInFlight
from ultracrawl.scheduler.ingest import LinkIngest
from ultracrawl.scheduler.link_urls import LinkUrls
from ultracrawl.scheduler.pacing import Pacing
from ultracrawl.scheduler.picking import EntryPicker, Refill, RobotsBarrier, SitemapBarrier, TrapBarrier
from ultracrawl.scheduler.recrawl import RecrawlActivator, RepeatVisits
from ultracrawl.stores import QueueEntry

if TYPE_CHECKING:
    from scrapy import Request


class CrawlQueue:
    """The port `queue` (`LinkQueue`): URLs that features and components want fetched.

    Passes each call of the port to the part of the scheduler that handles it.

    `waiting_requests` are requests that Scrapy gave back.
    """

    def __init__(
        self,
        ingest: LinkIngest,
        repeats: RepeatVisits,
        flight: VisitsInFlight,
        gate: EntryGate,
        pacing: Pacing,
        waiting_requests: Collection[Request],
    ) -> None:
        self._ingest = ingest
        self._gate = gate
        self._pacing = pacing
        self.waiting_requests = waiting_requests
        # Methods that one part implements alone are bound directly, without a wrapper.
        self.seed = ingest.queue_seeds
        self.follow = ingest.follow_links
        self.redirect = ingest.queue_redirect
        self.offer_links = ingest.offer_links
        self.queue_feed_links = ingest.queue_feed_links
        self.queue_sitemap_entries = ingest.queue_sitemap_entries
        self.queue_listed = ingest.queue_listed
        self.retry, self.set_aside = flight.retry_visit, flight.set_aside
        self.release = flight.release_place
        self.update_record = flight.replace_record
        self.requeue, self.fetch_now = repeats.fetch_again, repeats.fetch_now
        self.withdraw = flight.withdraw_entries
        self.forget_urls = ingest.forget_urls
        self.wait_for_turn = pacing.take_turn
        self.hold_site, self.end_hold = pacing.hold_site, pacing.end_hold
        self.leave_out, self.readmit = pacing.leave_out, pacing.readmit
        self.restore_robots_rules = pacing.apply_stored_robots

    def queue_sitemap(self, entry: QueueEntry, *, noted: bool) -> None:
        """Queue a sitemap ahead of the pages of its site; if `noted`, links to its URL are not queued as pages."""
        if noted:
            self._ingest.mark_known(entry)
        if self._gate.add_sitemap(entry):
            self._pacing.wake()

    def listing_changed(self) -> None:
        """Look for the next request: the lister named more, or has finished."""
        self._pacing.wake()

    def release_site(self, site: str) -> None:
        """Release the pages of a site that waited for its sitemaps."""
        self._gate.release_site(site)
        self._pacing.wake()

    def request_url(self, url: str) -> str:
        """Return the URL to request for a URL: a mirror may stand in for its site."""
        return self._pacing.mirrors.request_url(url)


class SchedulerParts(NamedTuple):
    """The parts of the scheduler that `UltracrawlScheduler` uses directly."""

    picker: EntryPicker
    flight: VisitsInFlight
    activator: RecrawlActivator
    ingest: LinkIngest
    traps: TrapBarrier


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
    sitemaps, wake = features.sitemaps, pacing.wake
    gate = EntryGate(context, frontier, sitemaps)
    candidates = make_filter(context, features)
    activator = RecrawlActivator(
        context,
        candidates,
        gate.leave_in_store,
        gate.expect_entry,
        lambda key: sitemaps.job_of(key) is not None,
    )
    repeats = RepeatVisits(context, gate.add_entry, activator.is_fresh, gate.retry_of)
    flight = VisitsInFlight(context, frontier, pacing, gate, repeats, features.watch)
    endings = SitemapEndings(sitemaps.end_visit) if sitemaps.on else None
    site_log = _open_site_log(features, frontier)
    pacing.begin()
    ingest = LinkIngest(
        context, candidates, gate.add_entry, activator, repeats, lambda: features.limits.refresh_only
    )
    queue = CrawlQueue(ingest, repeats, flight, gate, pacing, direct)
    given = _given_urls(context, features, gate)
    context.open_queue(
        queue, flight, site_log, pacing, ingest, activator if activator.on else None, given, endings
    )
    gate.load_stored_queue()
    traps = TrapBarrier(
        context,
        frontier,
        flight,
        features.traps.patterns if features.traps else TrapPatterns(),
        gate.is_finished,
    )
    barrier = SitemapBarrier(context, frontier, sitemaps, features.robots, flight.must_fetch, traps)
    picker = EntryPicker(
        frontier,
        Refill(context, frontier, barrier, activator, wake, ingest.settle_linked),
        pacing,
        (
            *([partial(_holds_given, given, flight)] if given is not None else []),
            ingest.note_turn,
            flight.is_withdrawn,
            partial(_refuses_new, ingest, flight),
            *([traps.holds_back] if features.traps else []),
            RobotsBarrier(context, frontier, pacing, alarm, features.robots, sitemaps).holds_back,
            barrier.holds_back,
        ),
        ingest.settle_now,
        traps.release,
    )
    return SchedulerParts(picker, flight, activator, ingest, traps)


def _holds_given(given: GivenUrls, flight: VisitsInFlight, entry: QueueEntry) -> bool:
    """Hold back an entry whose document the spider may yield itself."""
    if not given.holds_back(entry):
        return False
    flight.return_turn(entry)
    return True


def _refuses_new(ingest: LinkIngest, flight: VisitsInFlight, entry: QueueEntry) -> bool:
    """End an entry that was never fetched while only known URLs are refreshed."""
    rule = ingest.refusal_rule(entry)
    if rule:
        flight.refuse_entry(entry, rule)
    return bool(rule)


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
    count, excluded = context.counters.count_excluded, hooks[Feature.candidate_excluded]
    return CandidateFilter(
        LinkUrls(rules.url_policy, count, features.rewriting.rewriter, excluded),
        CandidateRules(
            rules.boundary,
            trap_guard(rules, context.store, features.traps.patterns if features.traps else None),
        ),
        context.store,
        context.clock,
        CandidateListeners(
            count,
            excluded,
            hooks[Feature.admit_new_url],
            hooks[Feature.candidate_judged],
            features.hosts.look_up,
            context.run.note_shared_key,
            lambda: features.limits.over,
        ),
        rules.levels.of,
    )
