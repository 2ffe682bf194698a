"""The scheduler's implementation of the port `queue` (`LinkQueue`): URLs that features and components want fetched."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.scheduler.budget import EntryGate
from ultracrawl.scheduler.candidates.candidate_filter import CandidateFilter
from ultracrawl.scheduler.candidates.link_ingest import LinkIngest
from ultracrawl.scheduler.candidates.repeats import RepeatVisits
from ultracrawl.scheduler.flight import VisitsInFlight
from ultracrawl.scheduler.pacing import Pacing
from ultracrawl.stores import QueueEntry

if TYPE_CHECKING:
    from scrapy import Request


class CrawlQueue:
    """Passes each call of the port to the part of the scheduler that handles it.

    `waiting_requests` are requests that Scrapy gave back; `wake` schedules the next look for a request in so many
    seconds.
    """

    def __init__(
        self,
        ingest: LinkIngest,
        candidates: CandidateFilter,
        repeats: RepeatVisits,
        flight: VisitsInFlight,
        gate: EntryGate,
        frontier: Frontier[QueueEntry],
        pacing: Pacing,
        waiting_requests: Collection[Request],
        wake: Callable[[float], None],
    ) -> None:
        self._candidates = candidates
        self._gate = gate
        self._frontier = frontier
        self._pacing = pacing
        self.waiting_requests = waiting_requests
        self._wake = wake
        # Methods that one part implements alone are bound directly, without a wrapper.
        self.seed = ingest.queue_seeds
        self.follow = ingest.follow_links
        self.redirect = ingest.queue_redirect
        self.offer_links = ingest.offer_links
        self.queue_feed_links = ingest.queue_feed_links
        self.queue_sitemap_entries = ingest.queue_sitemap_entries
        self.queue_listed = ingest.queue_listed
        self.retry = flight.retry_visit
        self.release = flight.release_place
        self.update_record = flight.replace_record
        self.requeue = repeats.fetch_again
        self.forget_urls = candidates.forget
        self.wait_for_turn = pacing.take_turn
        self.hold_site = pacing.hold_site
        self.restore_robots_rules = pacing.apply_stored_robots

    def queue_sitemap(self, entry: QueueEntry, *, noted: bool) -> None:
        """Queue a sitemap ahead of the pages of its site; if `noted`, links to its URL are not queued as pages."""
        if noted:
            self._candidates.mark_known(entry.key)
        if self._gate.add_sitemap(entry):
            self._wake(0.0)

    def listing_changed(self) -> None:
        """Look for the next request: the lister named more, or has finished."""
        self._wake(0.0)

    def release_site(self, site: str) -> None:
        """Release the pages of a site that waited for its sitemaps."""
        self._frontier.mark_stored(site)
        self._wake(0.0)

    def request_url(self, url: str) -> str:
        """Return the URL to request for a URL: a mirror may stand in for its site."""
        return self._pacing.mirrors.request_url(url)
