"""The Scrapy scheduler of a crawl: accepts requests, hands out requests, wakes the engine in time."""

from __future__ import annotations

import sys
import time
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.defer import deferred_from_coro

from ultracrawl.errors import WorkError
from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.run import CrawlContext, begin_crawl, context_of, end_crawl, visit_of
from ultracrawl.run.hooks import Feature
from ultracrawl.run.visit import HANDLED_KEY
from ultracrawl.scheduler.alarm import Alarm
from ultracrawl.scheduler.assembly import assemble
from ultracrawl.scheduler.cycle_end import CycleEnd
from ultracrawl.scheduler.features import Features
from ultracrawl.scheduler.flight import RequestFactory
from ultracrawl.scheduler.pacing import Pacing, make_frontier
from ultracrawl.stores import QueueEntry

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

MAX_SLEEP = 60.0  # seconds; the system clock may be changed meanwhile
CONGESTION_POLL_INTERVAL = 0.1
"""Seconds between checks whether converters and index have caught up."""


class UltracrawlScheduler(BaseScheduler):
    """Scrapy's scheduler over a persistent frontier.

    Links come in as strings through the port `queue` of the crawl, in one call per page; a `Request` is built only
    when its turn has come. Requests that a user's spider yields go through the same filter, unless they have a
    callback or a method of their own: those wait in memory only.
    """

    def __init__(self, crawler: Crawler, context: CrawlContext, features: Features) -> None:
        self._crawler = crawler
        self._context = context
        self._features = features
        self._pages = context.source.limits.pages
        concurrency = crawler.settings.getint("CONCURRENT_REQUESTS")
        self._frontier: Frontier[QueueEntry] = make_frontier(context, concurrency)
        self._direct: deque[Request] = deque()
        self._alarm = Alarm(self._wake)
        self._pacing = Pacing(
            context,
            self._frontier,
            features.hosts,
            features.sitemaps.abandon,
            wake=partial(self._alarm.set_timer, 0.0),
            paused=lambda: features.control.paused,
        )
        self._begun = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the scheduler of a crawler (Scrapy's component protocol)."""
        return cls(crawler, context_of(crawler), Features.of(crawler))

    # ---- Scrapy's scheduler protocol

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Begin the crawl and load the stored queue."""
        self._begun = begin_crawl(self._crawler)
        if not self._begun:
            return None
        context = self._context
        parts = assemble(context, self._features, self._frontier, self._pacing, self._alarm, self._direct)
        self._picker, self._flight, self._ingest = parts.picker, parts.flight, parts.ingest
        self._requests = RequestFactory(context, spider, self._pacing.mirrors)
        self._cycle_end = CycleEnd(
            context,
            parts.activator,
            self._alarm.set_timer,
            self._crawler.signals,
            lambda: self._may_fetch() > 0 and (parts.traps.release() or parts.flight.begin_second_attempts()),
            self._frontier.given_up,
        )
        for fill_queue in context.hooks[Feature.queue_opened]:
            fill_queue()
        return None

    def close(self, reason: str) -> Deferred[None]:
        """End the crawl; nothing is in flight any more."""
        self._alarm.close()
        if self._begun:
            self._pacing.release_sites()
        return deferred_from_coro(end_crawl(self._crawler, reason))

    def has_pending_requests(self) -> bool:
        """Return whether this run may still request anything that waits in memory or store; True while paused."""
        if self._features.control.paused:
            return True
        if self._context.run.failed or self._may_fetch() <= 0:
            return bool(self._direct)
        waiting = self._frontier.pending or self._features.sitemaps.waiting_sites
        late = self._begun and self._ingest.is_waiting
        return bool(self._direct or waiting or late or self._context.run.is_listing)

    def enqueue_request(self, request: Request) -> bool:
        """Accept a request of a spider or middleware, or one that the downloader has handled already."""
        if request.meta.get(HANDLED_KEY):
            return True
        if visit_of(request) or request.callback or request.method != "GET" or request.body:
            self._direct.append(request)
            return True
        return bool(self._context.queue.seed([request.url]))

    def next_request(self) -> Request | None:
        """Return the next request, or None; then a timer wakes the engine when the next site is due."""
        features = self._features
        if features.control.paused:
            return None
        if self._direct:
            return self._direct.popleft()
        if self._context.run.failed or features.limits.reached:
            return None
        if self._pages and self._may_fetch() <= self._unanswered():
            return None
        if self._context.documents.congested or features.conversion.congested:
            self._alarm.set_timer(CONGESTION_POLL_INTERVAL)
            return None
        try:
            entry = self._picker.next_entry()
            if entry is not None:
                return self._requests.request_for(self._flight.begin_visit(entry))
        except WorkError as error:  # Scrapy would log it and call again endlessly
            self._context.run.fail(str(error))
            return None
        at = self._frontier.next_at()
        if at is not None:
            self._alarm.set_timer(min(max(at - time.monotonic(), 0.001), MAX_SLEEP))
        return None

    def _may_fetch(self) -> int:
        """Return how many responses this run may still get (`limits.pages`); 0 once a limit of the run is reached."""
        if self._features.limits.reached:
            return 0
        return sys.maxsize if self._pages is None else self._pages - self._context.counters.fetched

    def _unanswered(self) -> int:
        return sum(not (visit.fetch.status or visit.sitemap) for visit in self._context.visits.values())

    def _wake(self) -> None:
        """Wake the engine: after a None it calls the scheduler again only when a request comes in."""
        request = self.next_request()
        engine = self._crawler.engine
        if request is not None:
            engine.crawl(request)
        elif not self.has_pending_requests() and engine._slot is not None:
            engine._slot.nextcall.schedule()  # otherwise it notices only seconds later that nothing is left
