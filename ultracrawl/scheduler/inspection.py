"""A scheduler for looking at single pages: it hands out only the requests of the inspecting code."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.defer import deferred_from_coro

from ultracrawl.model import UrlRecord
from ultracrawl.rules.urls.canonical import host_of, site_of, url_key
from ultracrawl.run import CrawlContext, Visit, begin_crawl, context_of, end_crawl
from ultracrawl.run.hooks import Feature
from ultracrawl.run.visit import META_KEY
from ultracrawl.scheduler.assembly import make_filter
from ultracrawl.scheduler.candidate_filter import CandidateFilter, LinkPage
from ultracrawl.scheduler.features import Features
from ultracrawl.scheduler.replay import ReplayQueue
from ultracrawl.stores import QueueEntry

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

    from ultracrawl.model.page import Link


class InspectionScheduler(BaseScheduler):
    """A scheduler without a frontier: requests go out in their order, with the headers and cookies of the source.

    Each gets a visit, so that the middlewares of the source judge it as in a crawl. Links of a page are reported
    (`hooks.links_resolved`) and never requested.
    """

    def __init__(self, crawler: Crawler, context: CrawlContext, features: Features) -> None:
        self._crawler = crawler
        self._context = context
        self._features = features
        self._waiting: deque[Request] = deque()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the scheduler of a crawler (Scrapy's component protocol)."""
        return cls(crawler, context_of(crawler), Features.of(crawler))

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Begin the crawl, with a queue that reports links."""
        begin_crawl(self._crawler)
        self._context.open_queue(LinkReporter(self._context, make_filter(self._context, self._features)))
        return None

    def close(self, reason: str) -> Deferred[None]:
        """End the crawl."""
        return deferred_from_coro(end_crawl(self._crawler, reason))

    def has_pending_requests(self) -> bool:
        """Return whether a request waits."""
        return bool(self._waiting)

    def enqueue_request(self, request: Request) -> bool:
        """Queue a request, completed with the headers, timeout and cookie jar of the source."""
        self._complete(request)
        self._waiting.append(request)
        return True

    def next_request(self) -> Request | None:
        """Return the next request, or None."""
        return self._waiting.popleft() if self._waiting else None

    def _complete(self, request: Request) -> None:
        """Complete a request in place: its caller waits for this very object."""
        rules, url, site = self._context.rules, request.url, site_of(request.url)
        for name, value in rules.headers.items():
            request.headers.setdefault(name, value)
        known = UrlRecord(url, self._context.source.name, first_seen=self._context.clock())
        visit = Visit(QueueEntry(url_key(url), url, site, 0, 0), known)
        self._context.visits[visit.entry.key] = visit
        request.meta[META_KEY] = visit
        request.meta["download_slot"] = site
        request.meta.setdefault("download_timeout", self._context.source_at(request.url).limits.timeout)
        if rules.grouping:
            request.meta["cookiejar"] = rules.grouping.of(host_of(url))


class LinkReporter(ReplayQueue):
    """The port `queue` of an inspection: links are judged and reported, and not queued."""

    def __init__(self, context: CrawlContext, candidates: CandidateFilter) -> None:
        super().__init__(context, [], set())
        self._candidates = candidates

    def follow(self, visit: Visit, hrefs: Iterable[str], base: str, named: Sequence[Link] = ()) -> int:
        """Report the links of a page; returns how many are inside the boundary."""
        return len(self._report(visit, self._candidates.resolve(hrefs, base), named))

    def queue_feed_links(
        self, visit: Visit, hrefs: Iterable[str], *, ignore_rules: bool, may_wait: bool
    ) -> dict[str, tuple[int, bool]]:
        """Report the links of a feed; returns (key, True) of those inside the boundary, by link as written."""
        resolved = self._candidates.resolve(hrefs, visit.url)
        inside = self._report(visit, resolved, rules_hold=not ignore_rules)
        return {href: (url_key(url), True) for href, url in resolved.items() if url_key(url) in inside}

    def _report(
        self,
        visit: Visit,
        resolved: Mapping[str, str],
        named: Sequence[Link] = (),
        *,
        rules_hold: bool = True,
    ) -> set[int]:
        page = LinkPage(visit.url, visit.depth + 1, rules_hold=rules_hold)
        _, inside = self._candidates.admit_resolved(resolved.values(), page)
        for on_links in self._context.hooks[Feature.links_resolved]:
            on_links(visit, resolved, inside, named)
        return set(inside)

    def redirect(self, visit: Visit, target: str, display_url: str) -> None:
        """Report the target of a redirect in the page."""
        for on_links in self._context.hooks[Feature.links_resolved]:
            on_links(visit, {target: target}, array("q", [url_key(target)]), ())
