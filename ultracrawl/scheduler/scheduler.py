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

from ultracrawl.crawl import CrawlSession, Visit, visit_of
from ultracrawl.crawl.discovery.link_forwarder import take_links
from ultracrawl.crawl.visit import META_KEY
from ultracrawl.errors import WorkError
from ultracrawl.model import UrlRecord
from ultracrawl.rules.frontier import Frontier
from ultracrawl.rules.robots import RobotsRules
from ultracrawl.rules.urls import host_of, url_key
from ultracrawl.scheduler.addresses import AddressResolver
from ultracrawl.scheduler.alarm import Alarm
from ultracrawl.scheduler.budget import PageBudget
from ultracrawl.scheduler.cycle_end import CycleEnd
from ultracrawl.scheduler.link_ingest import LinkIngest
from ultracrawl.scheduler.pacing import Pacing, make_frontier
from ultracrawl.scheduler.sitemap_barrier import LARGEST_SITEMAP, SitemapBarrier, Ways
from ultracrawl.stores import QueueEntry

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

logger = logging.getLogger(__name__)

REFILL = 2000
"""Entries of one site that are turned away at once."""
LONGEST_SLEEP = 60.0  # seconds; the clock on the wall may have been set meanwhile
CONGESTION_WAIT = 0.1
FORM = "application/x-www-form-urlencoded"


class UltracrawlScheduler(BaseScheduler):
    """Scrapy's scheduler over a durable frontier.

    Links come in as strings through `follow`, in one call per page; a `Request` is built only when its turn
    has come. Requests that somebody's own spider yields go through the same admission, unless they have a callback
    or a method of their own: those wait in memory only.
    """

    def __init__(self, crawler: Crawler, session: CrawlSession) -> None:
        self._crawler = crawler
        self._session = session
        limits = session.context.source.limits
        self._pages = limits.pages
        self._budget = PageBudget(limits)
        self._frontier: Frontier[QueueEntry] = make_frontier(session)
        self._pacing = Pacing(session, self._frontier)
        self._direct: deque[Request] = deque()
        self._retries: dict[int, Visit] = {}
        self._alarm = Alarm(self._wake)
        self._addresses = AddressResolver(session.hosts, self._frontier, self._alarm.set)
        self._headers = dict(session.context.rules.headers)
        self._payloads = session.context.rules.payloads
        self._timeout = limits.timeout
        self._grouping = session.context.rules.grouping

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the scheduler of a crawler (Scrapy's component protocol)."""
        return cls(crawler, CrawlSession.of(crawler))

    # ---- Scrapy's scheduler protocol

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Open the session and take up the stored queue."""
        self._spider = spider
        session = self._session
        if not session.begin():
            return None
        session.context.ports.queue = self
        session.context.hooks.resumed.append(partial(self._alarm.set, 0.0))
        session.context.hooks.visit_ended.append(self._finished)
        session.watch.handed_back = self._direct
        session.robots.claim = self._pacing.claim
        session.robots.hold = self._pacing.hold
        session.robots.asked_at = self._pacing.mirrors.url
        session.robots.recalled = self._pacing.robots_recalled
        if watch := session.logs.events.watch(self._frontier.given_up):
            self._frontier.watch_sites(watch)
        self._pacing.begin()
        self._intake = LinkIngest(session, self._enqueue, self._enqueue_stored)
        self.admission = self._intake.admission
        self._ending = CycleEnd(session, self._intake.waking, self._alarm.set)
        self._take_up_queue()
        ways = Ways(
            self._intake.take,
            self._alarm.set,
            self._must_ask,
            self._is_over,
            partial(self._intake.detours.note, 0, ()),
        )
        self._sitemaps = SitemapBarrier(session, self._frontier, self.admission, ways)
        session.sitemaps.begin(self._sitemaps)
        take_links(session, self._intake.offer)
        session.feeds.begin(self._intake)
        return None

    def _take_up_queue(self) -> None:
        """Give the frontier every site with stored entries, as far as a run that is resumed has pages of it left."""
        session = self._session
        if session.context.report.resumed and self._budget.per_site is not None:
            self._budget.resume(session.context.store.visits.fetched_since(session.context.mark.started))
        for site, _ in session.context.store.queue.waiting_sites():
            if self._budget.is_begun(site):
                self._keep_to_budget(site)
            if not self._budget.is_spent(site):
                self._frontier.entries.leave_stored(site)

    def close(self, reason: str) -> Deferred[None]:
        """End the session once nothing is in flight."""
        self._alarm.close()
        if self._session.running.opened:
            self._pacing.end()
        return deferred_from_coro(self._session.close(reason))

    def has_pending_requests(self) -> bool:
        """Whether anything waits, in memory or in the store, that this run may still ask for; a paused one waits."""
        if self._session.control.paused:
            return True
        if self._session.context.run.failed or self._may_fetch() <= 0:
            return bool(self._direct)
        return bool(self._direct or self._frontier.pending or self._session.sitemaps.held)

    def enqueue_request(self, request: Request) -> bool:
        """Take a request of a spider or a middleware."""
        if visit_of(request) or request.callback or request.method != "GET" or request.body:
            self._direct.append(request)
            return True
        return bool(self.seed([request.url]))

    def next_request(self) -> Request | None:
        """Hand out the next request, or None until something changes; the engine is woken when a delay is over."""
        if self._session.control.paused:
            return None
        if self._direct:
            return self._direct.popleft()
        if self._session.context.run.failed or self._session.limits.reached:
            return None
        if self._pages and self._may_fetch() <= self._unanswered():
            return None
        if self._session.context.documents.congested or self._session.conversion.congested:
            self._alarm.set(CONGESTION_WAIT)
            return None
        now = time.monotonic()
        try:
            entry = self._pop(now)
            if entry is not None:
                return self._request(entry)
        except WorkError as error:  # Scrapy would only log it, and ask for ever
            self._session.context.run.fail(str(error))
            return None
        at = self._frontier.next_at()
        if at is not None:
            self._alarm.set(min(max(at - now, 0.001), LONGEST_SLEEP))
        return None

    def _may_fetch(self) -> int:
        """Return how many answers this run may still get (`limits.pages`), none after a limit of the run."""
        if self._session.limits.reached:
            return 0
        return sys.maxsize if self._pages is None else self._pages - self._session.context.report.fetched

    def _unanswered(self) -> int:
        return sum(not (visit.status or visit.sitemap) for visit in self._session.context.visits.values())

    def _pop(self, now: float) -> QueueEntry | None:
        """Return the next entry whose robots.txt is known; a site without one spends its turn on fetching it."""
        while True:
            self._refill()
            self._addresses.attend()
            entry = self._frontier.pop_entry(now)
            if entry is None:
                return None
            if self._session.items.skips(entry):
                self._frontier.clocks.refund_turn(entry.site)
                self._frontier.finish_entry(entry.site)
                continue
            if rule := self._intake.refuses(entry):
                self._refuse(entry, rule)
                continue
            self._pacing.asked(entry.site)
            if self._sitemaps.rules_known(entry):
                if self._sitemaps.keeps(entry):
                    continue
                return entry
            self._frontier.spend_turn(entry)
            task = self._session.robots.fetch(entry.url, has_turn=True)
            task.add_done_callback(partial(self._robots_known, entry))

    def _robots_known(self, entry: QueueEntry, task: asyncio.Task[RobotsRules]) -> None:
        """Let a site go on by the rules that came, and at the pace that they ask for."""
        if self._alarm.closed or task.cancelled():
            return
        if error := task.exception():
            self._session.context.run.fail(
                f"robots.txt of {entry.site} cannot be judged: {type(error).__name__}: {error}"
            )
            return
        self._pacing.robots_known(entry.site, task.result())
        self._frontier.resume_site(entry.site)
        self._alarm.set(0.0)

    def _refill(self) -> None:
        while self._frontier.hungry:
            site = next(iter(self._frontier.hungry))
            if site in self._session.sitemaps.held:
                self._frontier.hungry.discard(site)
                continue
            found = [self._refill_level(site, level) for level in self._frontier.entries.hungry_levels(site)]
            self._intake.waking.catch_up()
            if not all(found):
                # A pause: one batch after the other would hold up everything else.
                self._frontier.entries.leave_stored(site)
                self._alarm.set(0.0)
                return

    def _refill_level(self, site: str, level: int) -> bool:
        """Give a site stored entries of a level; False if none of those that were read has to be asked for."""
        batch = self._frontier.entries.batch_size
        levels = self._session.context.rules.levels.levels
        # A resumed run may hold levels that the definition no longer has; they count as the last one.
        stop = level + 1 if level < levels else sys.maxsize
        stored = self._session.context.store.queue.entries_of(site, batch, range(level, stop))
        asked = self._sitemaps.asked([one for one in stored if one.key not in self._session.context.visits])
        more = len(stored) == batch
        self._frontier.entries.refill_site(site, asked, more=more, level=level)
        return bool(asked) or not more

    def _is_over(self, site: str) -> bool:
        return self._budget.is_spent(site) or site in self._frontier.given_up

    def _must_ask(self, key: int) -> bool:
        return key in self._retries or self._intake.must_ask(key)

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
        visit = self._retries.pop(entry.key, None) or self._intake.visit(entry)
        self._session.watch.begin(visit)
        if entry.seq:
            self._session.context.visits[entry.key] = visit
        visit.stand_in = self._pacing.mirrors.stand_in(entry.site)
        payload = None if visit.sitemap else self._payloads.of(entry.url)
        return Request(
            self._pacing.mirrors.url(entry.url),
            method="GET" if payload is None else "POST",
            body=payload,
            callback=self._spider.read_sitemap if visit.sitemap else self._spider.visit,  # type: ignore[attr-defined]  # the spider is a SourceSpider
            errback=self._spider.failed,  # type: ignore[attr-defined]
            headers=self._headers if payload is None else {"Content-Type": FORM, **self._headers},
            meta={
                META_KEY: visit,
                "download_slot": entry.site,
                "download_timeout": self._timeout,
                "handle_httpstatus_all": True,
                **({"cookiejar": self._grouping.of(host_of(entry.url))} if self._grouping else {}),
                **({"download_maxsize": LARGEST_SITEMAP} if visit.sitemap else {}),
            },
            dont_filter=True,
        )

    def _finished(self, visit: Visit) -> None:
        if visit.entry.seq or visit.given:
            self._session.context.visits.pop(visit.entry.key, None)
        self._intake.finished(visit)
        if visit.given:
            return
        self._pacing.ended(visit)
        if self._budget.count(visit):
            self._keep_to_budget(visit.entry.site)
        if not visit.asked:
            self._frontier.clocks.refund_turn(visit.entry.site)
        if not visit.released:
            self._frontier.finish_entry(visit.entry.site)

    def _refuse(self, entry: QueueEntry, rule: str) -> None:
        """End an entry that was handed out and is not asked for."""
        self._session.context.endings.skip(entry, rule)
        self._frontier.clocks.refund_turn(entry.site)
        self._frontier.finish_entry(entry.site)

    def _keep_to_budget(self, site: str) -> None:
        """Let no more requests of a site out than it has pages left; with none left, turn away what waits."""
        left = self._budget.left(site)
        if left:
            self._frontier.limit_site(site, min(left, self._frontier.concurrency))
            return
        waiting = self._frontier.entries.withdraw_site(site)
        while waiting:
            for entry in waiting:
                self._turn_away(entry)
            waiting = self._session.context.store.queue.entries_of(site, REFILL)

    def _turn_away(self, entry: QueueEntry) -> None:
        self._retries.pop(entry.key, None)
        if not entry.seq:
            self._session.sitemaps.abandon(entry.key)
            return
        self._session.context.endings.skip(entry, self._budget.rule)

    def release(self, visit: Visit) -> None:
        """Give back the place of a visit whose answer is here; not where pages are counted by site as they end."""
        if self._budget.per_site is None and visit.entry.seq and not visit.released:
            visit.released = True
            self._frontier.finish_entry(visit.entry.site)
            self._alarm.set(0.0)

    def retry(self, visit: Visit, delay: float) -> None:
        """Let a visit that failed wait for its site, at least `delay` seconds, and be tried again."""
        self._pacing.ended(visit)
        self._session.watch.retried(visit)
        visit.attempts += 1
        visit.status = visit.size = 0
        visit.error, visit.follow = "", None
        entry = visit.entry
        self._session.context.visits.pop(entry.key, None)
        self._retries[entry.key] = visit
        if not visit.released:
            self._frontier.finish_entry(entry.site)
        visit.released = False
        self._frontier.clocks.hold_site(entry.site, time.monotonic() + delay)
        if entry.seq:
            self._frontier.entries.add_entry(entry)
        elif not self._is_over(entry.site):
            self._frontier.entries.add_first(entry)
        else:
            self._session.sitemaps.abandon(entry.key)

    # ---- what comes in (`LinkQueue`)

    def seed(self, urls: Iterable[str]) -> int:
        """Queue start URLs, at depth 0; returns how many were new."""
        return self._intake.seed(urls)

    def follow(self, visit: Visit, hrefs: Iterable[str], base: str) -> int:
        """Queue the links of a page that are new and inside the boundary; returns how many."""
        return self._intake.follow(visit, hrefs, base)

    def redirect(self, visit: Visit, target: str, display_url: str) -> None:
        """Queue the target of an allowed redirect, at the depth of the URL that led there."""
        self._intake.redirect(visit, target, display_url)

    def again(self, record: UrlRecord) -> None:
        """Take note of a record that was changed: have its page fetched in this run, whether it was or not."""
        self._intake.again(record)

    def amended(self, record: UrlRecord) -> None:
        """Take note of a record that was changed: its visit, if there is one, goes on from it."""
        key = url_key(record.url)
        visit = self._session.context.visits.get(key) or self._retries.get(key)
        if visit is not None and not visit.done:
            visit.record = record

    def _enqueue(self, entry: QueueEntry) -> None:
        self._session.context.report.scheduled += 1
        if self._budget.is_spent(entry.site):
            self._turn_away(entry)
        elif entry.site not in self._session.sitemaps.held:
            self._frontier.entries.add_entry(entry)

    def _enqueue_stored(self, entry: QueueEntry) -> None:
        """Have an entry taken from the store in its turn, by its rank and past the word of sitemaps."""
        self._session.context.report.scheduled += 1
        if self._budget.is_spent(entry.site):
            self._turn_away(entry)
        elif entry.site not in self._session.sitemaps.held:
            self._frontier.entries.leave_stored(entry.site)
