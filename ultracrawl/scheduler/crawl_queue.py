"""The port through which features and components give the scheduler something to fetch (`LinkQueue`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
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

    from ultracrawl.crawl import Visit
    from ultracrawl.model import UrlRecord
    from ultracrawl.model.page import Link
    from ultracrawl.rules.robots.rules import RobotsRules


class CrawlQueue:
    """Gives whatever comes in to the part of the scheduler that it is for.

    `waiting_requests` are the requests that Scrapy gave back; `wake` looks again for the next request in so many
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
        self._ingest = ingest
        self._candidates = candidates
        self._repeats = repeats
        self._flight = flight
        self._gate = gate
        self._frontier = frontier
        self._pacing = pacing
        self.waiting_requests = waiting_requests
        self._wake = wake

    # ---- pages

    def seed(self, urls: Iterable[str]) -> int:
        """Queue start URLs, at depth 0; returns how many were new."""
        return self._ingest.queue_seeds(urls)

    def follow(self, visit: Visit, hrefs: Iterable[str], base: str, named: Sequence[Link] = ()) -> int:
        """Queue the links of a page that are new and inside the boundary; returns how many."""
        return self._ingest.follow_links(visit, hrefs, base, named)

    def redirect(self, visit: Visit, target: str, display_url: str) -> None:
        """Queue the target of an allowed redirect, at the depth of the URL that led there."""
        self._ingest.queue_redirect(visit, target, display_url)

    def retry(self, visit: Visit, delay: float) -> None:
        """Let a visit that failed wait for its site, at least `delay` seconds, and be tried again."""
        self._flight.retry_visit(visit, delay)

    def release(self, visit: Visit) -> None:
        """Give back the place of a visit at its site while its document is converted."""
        self._flight.release_place(visit)

    def again(self, record: UrlRecord) -> None:
        """Take note of a record that was changed: have its page fetched in this run, whether it was or not."""
        self._repeats.fetch_again(record)

    def amended(self, record: UrlRecord) -> None:
        """Take note of a record that was changed: its visit, if there is one, goes on from it."""
        self._flight.replace_record(record)

    def offer_links(self, urls: Iterable[str], depth: int) -> int:
        """Queue links that no page of this source has, if they are new and inside; returns how many."""
        return self._ingest.offer_links(urls, depth)

    def forget_urls(self, keys: Iterable[int]) -> None:
        """Take note that URLs left the document table."""
        self._candidates.forget(keys)

    # ---- feeds and sitemaps

    def feed_links(
        self, visit: Visit, hrefs: Iterable[str], *, ignore_rules: bool
    ) -> dict[str, tuple[int, bool]]:
        """Queue what a feed names that is new; returns key, and whether it is new, of all that are inside, by href."""
        return self._ingest.feed_links(visit, hrefs, ignore_rules=ignore_rules)

    def enter_entries(
        self, parent: str, hrefs: Iterable[str], sites: set[str] | None
    ) -> tuple[dict[str, int], set[int]]:
        """Queue the entries of the sitemap `parent` that are new, inside and of one of `sites` (None: of any)."""
        return self._ingest.enter_entries(parent, hrefs, sites)

    def queue_sitemap(self, entry: QueueEntry, *, noted: bool) -> None:
        """Have a sitemap asked for before the pages of its site; if it is `noted`, links to it lead to no page."""
        if noted:
            self._candidates.note(entry.key)
        if self._gate.place_sitemap(entry):
            self._wake(0.0)

    def release_site(self, site: str) -> None:
        """Let the pages of a site out that waited for its sitemaps."""
        self._frontier.entries.leave_stored(site)
        self._wake(0.0)

    # ---- sites

    def claim_turn(self, site: str, now: float) -> float:
        """Take the next turn of a site for a request that is no visit; returns its time (monotonic seconds)."""
        return self._pacing.claim_turn(site, now)

    def hold_site(self, site: str, seconds: float) -> None:
        """Let a site alone for as long as it asked for (`Retry-After`)."""
        self._pacing.hold_site(site, seconds)

    def asked_url(self, url: str) -> str:
        """Return the URL under which a URL is asked for: a copy may stand in for its site."""
        return self._pacing.mirrors.url(url)

    def rules_recalled(self, url: str, rules: RobotsRules) -> None:
        """Take the rules of the robots.txt for a URL as they were stored."""
        self._pacing.robots_recalled(url, rules)
