"""The Scrapy face of the frontier: takes links and seeds, hands out requests, wakes the engine in time."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections import deque
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.defer import deferred_from_coro

from ultracrawl.extensions import CrawlSession, Visit, visit_of
from ultracrawl.extensions.visit import META_KEY
from ultracrawl.frontier import Frontier
from ultracrawl.model import UrlRecord
from ultracrawl.robots import RobotsRules
from ultracrawl.scheduler.admission import Admission
from ultracrawl.scheduler.alarm import Alarm
from ultracrawl.scheduler.budget import PageBudget
from ultracrawl.scheduler.sitemap_gate import LARGEST_SITEMAP, SitemapGate, Ways
from ultracrawl.state import QueueEntry
from ultracrawl.urls import site_of, url_key

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

logger = logging.getLogger(__name__)

REFILL = 2000
"""Entries of one site taken from the store at once."""
CONGESTION_WAIT = 0.1


class UltracrawlScheduler(BaseScheduler):
    """Scrapy's scheduler over a durable frontier.

    Links come in as strings through `follow`, in one call per page; a `Request` is built only when its turn
    has come. Requests that somebody's own spider yields go through the same admission, unless they have a callback
    or a method of their own: those wait in memory only.
    """

    def __init__(self, crawler: Crawler, session: CrawlSession) -> None:
        self._crawler = crawler
        self._session = session
        politeness, limits = session.source.politeness, session.source.limits
        self._pages = limits.pages
        self._budget = PageBudget(limits)
        places = min(politeness.concurrency, limits.pages_per_site or politeness.concurrency)
        self._frontier: Frontier[QueueEntry] = Frontier(delay=politeness.delay, concurrency=places)
        self._direct: deque[Request] = deque()
        self._retries: dict[int, Visit] = {}
        self._depths: dict[int, int] = {}
        self._unconditional: set[int] = set()
        self._once_more: set[int] = set()
        """Keys in flight whose record was changed after their request went out."""
        self._alarm = Alarm(self._wake)
        self._headers = dict(session.rules.headers)
        self._timeout = limits.timeout

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the scheduler of a crawler (Scrapy's component protocol)."""
        return cls(crawler, CrawlSession.of(crawler))

    # ---- Scrapy's scheduler protocol

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Open the session and take up the stored queue."""
        self._spider = spider
        session = self._session
        session.open()
        session.links = self
        session.recorder.on_finish.append(self._finished)
        session.robots.claim = self._frontier.claim
        rules = session.rules
        self.admission = Admission(
            rules.url_policy,
            rules.boundary,
            session.state,
            session.clock,
            session.report.rejected_by,
            session.rewriter,
            session.hosts.look_up,
            session.screened.add if session.screened is not None else None,
        )
        for site, _ in session.state.queued_sites():
            self._frontier.leave_stored(site)
        ways = Ways(self._take, self._alarm.set, self._must_ask, self._budget.is_spent)
        self._sitemaps = SitemapGate(session, self._frontier, self.admission, ways)
        session.sitemaps.begin(self._sitemaps)
        return None

    def close(self, reason: str) -> Deferred[None]:
        """End the session once nothing is in flight."""
        self._alarm.close()
        return deferred_from_coro(self._session.close(reason))

    def has_pending_requests(self) -> bool:
        """Whether anything waits, in memory or in the store, that this run may still ask for."""
        if self._session.failed or self._may_fetch() <= 0:
            return bool(self._direct)
        return bool(
            self._direct or len(self._frontier) or self._frontier.hungry or self._session.sitemaps.held
        )

    def enqueue_request(self, request: Request) -> bool:
        """Take a request of a spider or a middleware."""
        if visit_of(request) or request.callback or request.method != "GET" or request.body:
            self._direct.append(request)
            return True
        return bool(self.seed([request.url]))

    def next_request(self) -> Request | None:
        """Hand out the next request, or None until something changes; the engine is woken when a delay is over."""
        if self._direct:
            return self._direct.popleft()
        if self._session.failed or (self._pages and self._may_fetch() <= self._unanswered()):
            return None
        if self._session.feed.congested:
            self._alarm.set(CONGESTION_WAIT)
            return None
        now = time.monotonic()
        entry = self._pop(now)
        if entry is None:
            at = self._frontier.next_at()
            if at is not None:
                self._alarm.set(max(at - now, 0.001))
            return None
        return self._request(entry)

    def _may_fetch(self) -> int:
        """Return how many answers this run may still get (`limits.pages`)."""
        return sys.maxsize if self._pages is None else self._pages - self._session.report.fetched

    def _unanswered(self) -> int:
        return sum(not (visit.status or visit.sitemap) for visit in self._session.visits.values())

    def _pop(self, now: float) -> QueueEntry | None:
        """Return the next entry whose robots.txt is known; a site without one spends its turn on fetching it."""
        while True:
            self._refill()
            entry = self._frontier.pop(now)
            if entry is None:
                return None
            if self._sitemaps.rules_known(entry):
                if self._sitemaps.keeps(entry):
                    continue
                return entry
            self._frontier.spend(entry)
            task = self._session.robots.fetch(entry.url, has_turn=True)
            task.add_done_callback(partial(self._robots_known, entry))

    def _robots_known(self, entry: QueueEntry, task: asyncio.Task[RobotsRules]) -> None:
        """Let a site go on by the rules that came, and at the pace that they ask for."""
        if self._alarm.closed or task.cancelled():
            return
        policy = self._session.rules.robots
        if policy.obey_delay:
            own = self._session.source.politeness.delay
            self._frontier.set_delay(entry.site, policy.delay(task.result(), own))
        self._frontier.resume(entry.site)
        self._alarm.set(0.0)

    def _refill(self) -> None:
        while self._frontier.hungry:
            site = next(iter(self._frontier.hungry))
            if site in self._session.sitemaps.held:
                self._frontier.hungry.discard(site)
                continue
            stored = self._session.state.queued(site, REFILL)
            waiting = [entry for entry in stored if entry.key not in self._session.visits]
            asked = self._sitemaps.asked(waiting)
            self._frontier.refill(site, asked, more=len(stored) == REFILL)
            if len(stored) == REFILL and not asked:
                # A pause: one batch after the other would hold up everything else.
                self._frontier.leave_stored(site)
                self._alarm.set(0.0)
                return

    def _must_ask(self, key: int) -> bool:
        return key in self._unconditional or key in self._depths or key in self._retries

    def _wake(self) -> None:
        """Give the engine something: it asks a scheduler that said None again only when a request comes in."""
        request = self.next_request()
        engine = self._crawler.engine
        if request is not None:
            engine.crawl(request)
        elif not self.has_pending_requests() and engine._slot is not None:
            engine._slot.nextcall.schedule()  # else it sees only seconds later that nothing is left

    # ---- requests

    def _request(self, entry: QueueEntry) -> Request:
        visit = self._retries.pop(entry.key, None) or self._visit(entry)
        if entry.seq:
            self._session.visits[entry.key] = visit
        return Request(
            entry.url,
            callback=self._spider.read_sitemap if visit.sitemap else self._spider.visit,  # type: ignore[attr-defined]  # the spider is a SourceSpider
            errback=self._spider.failed,  # type: ignore[attr-defined]
            headers=self._headers,
            meta={
                META_KEY: visit,
                "download_slot": entry.site,
                "download_timeout": self._timeout,
                "handle_httpstatus_all": True,
                **({"download_maxsize": LARGEST_SITEMAP} if visit.sitemap else {}),
            },
            dont_filter=True,
        )

    def _visit(self, entry: QueueEntry) -> Visit:
        record = self._session.state.get(entry.key)
        if record is None:
            record = UrlRecord(
                entry.url, self._session.source.name, entry.depth, first_seen=self._session.clock()
            )
        depth = self._depths.pop(entry.key, entry.depth)
        rescan = self._session.rescan or entry.key in self._unconditional
        self._unconditional.discard(entry.key)
        entry = entry._replace(depth=min(depth, entry.depth), display_url=record.display_url)
        task = self._session.sitemaps.task(entry.key)
        if task is not None:
            rescan = rescan or task.again or self._session.state.sitemaps.get(entry.key) is None
        return Visit(entry, record, rescan=rescan, sitemap=task)

    def _finished(self, visit: Visit) -> None:
        if visit.entry.seq:
            self._session.visits.pop(visit.entry.key, None)
        if visit.entry.key in self._once_more:
            self._once_more.discard(visit.entry.key)
            self._requeue(visit.entry.key, visit.record, visit.entry.depth)
        if self._budget.count(visit):
            self._keep_to_budget(visit.entry.site)
        if not visit.asked:
            self._frontier.refund(visit.entry.site)
        self._frontier.done(visit.entry.site)

    def _keep_to_budget(self, site: str) -> None:
        """Let no more requests of a site out than it has pages left; with none left, turn away what waits."""
        left = self._budget.left(site)
        if left:
            self._frontier.cap(site, min(left, self._frontier.concurrency))
            return
        waiting = self._frontier.withdraw(site)
        while waiting:
            for entry in waiting:
                self._turn_away(entry)
            waiting = self._session.state.queued(site, REFILL)

    def _turn_away(self, entry: QueueEntry) -> None:
        self._retries.pop(entry.key, None)
        if not entry.seq:
            self._session.sitemaps.abandon(entry.key)
            return
        self._session.recorder.skip(entry, self._budget.rule)

    def retry(self, visit: Visit, delay: float) -> None:
        """Let a visit that failed wait for its site, at least `delay` seconds, and be tried again."""
        visit.attempts += 1
        visit.status = 0
        entry = visit.entry
        self._session.visits.pop(entry.key, None)
        self._retries[entry.key] = visit
        self._frontier.done(entry.site)
        self._frontier.hold(entry.site, time.monotonic() + delay)
        if entry.seq:
            self._frontier.add(entry)
        else:
            self._frontier.add_first(entry)

    # ---- links

    def seed(self, urls: Iterable[str]) -> int:
        """Queue start URLs, at depth 0; returns how many were new. Domain rules do not apply to them by default."""
        return 0 if self._session.failed else sum(map(self._seed, urls))

    def _seed(self, url: str) -> bool:
        rules, report = self._session.rules, self._session.report
        canonical = rules.url_policy.canonical(url)
        if canonical is None:
            self._session.problems.append(f"start URL {url!r} is not a URL that can be crawled")
            return False
        key = url_key(canonical)
        if self._session.state.lookup([key]):
            return False
        rule = rules.boundary.rejects(canonical, seed=True)
        if rule is None:
            self._enqueue(self.admission.enter(key, canonical, 0))
            return True
        report.rejected_by[rule] += 1
        if self._session.screened is not None:
            self._session.screened.add(canonical, rule, "")
        logger.warning("30027 start URL outside the boundary: %s (%s)", canonical, rule)
        return False

    def follow(self, visit: Visit, hrefs: Iterable[str], base: str) -> int:
        """Queue the links of a page that are new and inside the boundary; returns how many.

        The keys of all links inside are noted in the visit, so that an unchanged page re-asserts them later.
        """
        entries, inside = self.admission.admit(hrefs, base, visit.entry.depth + 1, visit.url)
        visit.links = inside.tobytes()
        self._take(entries)
        return len(entries)

    def _take(self, entries: Iterable[QueueEntry]) -> None:
        for entry in entries:
            self._enqueue(entry)
        if self.admission.shorter:
            self._take_shorter_routes()

    def redirect(self, visit: Visit, target: str, display_url: str) -> None:
        """Queue the target of an allowed redirect, at the depth of the URL that led there."""
        key = url_key(target)
        known = self._session.state.lookup([key])
        if not known:
            entry = visit.entry
            self._enqueue(
                self.admission.enter(key, target, entry.depth, display_url=display_url, hops=entry.hops + 1)
            )

    def _enqueue(self, entry: QueueEntry) -> None:
        self._session.report.scheduled += 1
        if self._budget.is_spent(entry.site):
            self._turn_away(entry)
        elif entry.site not in self._session.sitemaps.held:
            self._frontier.add(entry)

    def again(self, record: UrlRecord) -> None:
        """Take note of a record that was changed: have its page fetched in this run, whether it was or not."""
        key = url_key(record.url)
        visit = self._session.visits.get(key)
        if visit is not None:
            visit.record = record
            visit.entry = visit.entry._replace(display_url=record.display_url)
            self._once_more.add(key)
        elif self._was_visited(record):
            self._requeue(key, record, record.depth)

    def amended(self, record: UrlRecord) -> None:
        """Take note of a record that was changed: its visit, if there is one, goes on from it."""
        key = url_key(record.url)
        visit = self._session.visits.get(key) or self._retries.get(key)
        if visit is not None and not visit.done:
            visit.record = record

    def _was_visited(self, record: UrlRecord) -> bool:
        return record.last_fetched >= self._session.run.started

    def _requeue(self, key: int, record: UrlRecord, depth: int) -> None:
        self._unconditional.add(key)
        state = self._session.state
        entry = QueueEntry(
            key, record.url, site_of(record.url), depth, state.next_seq(), display_url=record.display_url
        )
        state.requeue(entry)
        self._enqueue(entry)

    def _take_shorter_routes(self) -> None:
        """Lower the depth of URLs that turned out to be nearer; pages already scanned are fetched once more.

        Only where the source has a depth limit: elsewhere depth decides nothing (Ultra Search 9.5).
        """
        shorter, self.admission.shorter = self.admission.shorter, []
        if self._session.rules.depth_limit is None:
            return
        for key, depth in shorter:
            record = self._session.state.get(key)
            if record is None or not self._was_visited(record):
                self._depths[key] = depth
            else:
                self._requeue(key, record, depth)
