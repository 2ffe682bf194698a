"""Schedules stored responses in place of requests: the documents of a source are made again without downloads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.core.scheduler import BaseScheduler
from scrapy.utils.defer import deferred_from_coro

from ultracrawl.model import Cause, CauseCode, StatusCode, UrlOutcome, UrlRecord
from ultracrawl.rules.robots.rules import RobotsRules
from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.run import CrawlContext, Visit, begin_crawl, context_of, end_crawl, parts_of
from ultracrawl.run.control.orders import CrawlControl
from ultracrawl.run.control.second_attempts import SecondAttempts
from ultracrawl.run.control.visit_watch import VisitWatch
from ultracrawl.run.cycle.settling import RecipeSettling
from ultracrawl.run.ending import Ending
from ultracrawl.run.hooks import Feature
from ultracrawl.run.indexing.response_store import ResponseStore
from ultracrawl.run.reading.document_converter import DocumentConverter
from ultracrawl.run.visit import HANDLED_KEY, META_KEY
from ultracrawl.scheduler.alarm import Alarm
from ultracrawl.stores import QueueEntry

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred

    from ultracrawl.model.page import Link

CONGESTION_POLL_INTERVAL = 0.05
"""Seconds between checks whether converters and index have caught up."""


class ReplayScheduler(BaseScheduler, Feature):
    """A scheduler whose queue is the stored responses of a source."""

    def __init__(
        self,
        crawler: Crawler,
        context: CrawlContext,
        responses: ResponseStore | None,
        control: CrawlControl,
        conversion: DocumentConverter,
        watch: VisitWatch,
    ) -> None:
        self._crawler = crawler
        self._context = context
        self._responses = responses
        self._control = control
        self._conversion = conversion
        self._watch = watch
        self._alarm = Alarm(self._wake)
        self._sites = frozenset(crawler.settings.getlist("ULTRACRAWL_REINDEX_SITES"))
        """Sites whose documents are made again; empty for all."""
        self._keys: list[int] = []
        self._spare: set[int] = set()
        self._second = SecondAttempts()
        self._settling = RecipeSettling(context)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the scheduler of a crawler (Scrapy's component protocol)."""
        return cls(
            crawler,
            context_of(crawler),
            parts_of(crawler).get(ResponseStore),
            parts_of(crawler)[CrawlControl],
            parts_of(crawler)[DocumentConverter],
            parts_of(crawler)[VisitWatch],
        )

    # ---- Scrapy's scheduler protocol

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Begin the crawl and queue all stored responses of indexed documents."""
        self._spider = spider
        context = self._context
        if not begin_crawl(self._crawler):
            return None
        settling = self._settling
        queue = ReplayQueue(context, self._keys, self._spare, self._set_aside, settling.compare_links)
        context.open_queue(queue, self, settling)
        settling.begin(of_all_sites=not self._sites)
        context.store.flush()
        leaving = {url_key(record.url) for record in context.store.records.records_to_remove()}
        searchable = self._of_sites(context.store.documents.kept_keys() - leaving)
        store = None if self._responses is None else self._responses.store
        stored = set(store.stored_keys()) if store is not None else set()
        self._keys += sorted(stored & searchable, reverse=True)
        self._spare |= stored - context.store.documents.kept_keys() - leaving
        missing = len(searchable - stored)
        context.counters.count_scheduled(len(self._keys))
        if self._sites and not searchable:
            context.run.add_problem(f"no document of {', '.join(sorted(self._sites))} is in the index")
        if missing:
            context.run.add_problem(
                f"{missing:,} documents of {context.source.name} are in the index and not stored; "
                "`ultracrawl crawl --force` fetches and indexes them again"
            )
        return None

    def _of_sites(self, keys: frozenset[int]) -> frozenset[int]:
        """Return the keys of documents of the chosen sites."""
        if not self._sites:
            return keys
        records = ((key, self._context.store.records.get_record(key)) for key in keys)
        return frozenset(key for key, record in records if record and site_of(record.url) in self._sites)

    def close(self, reason: str) -> Deferred[None]:
        """End the crawl."""
        self._alarm.close()
        self._context.counters.reset_fetched()
        return deferred_from_coro(end_crawl(self._crawler, reason))

    def has_pending_requests(self) -> bool:
        """Return whether stored responses wait."""
        return bool(self._keys or self._second) and not self._context.run.failed

    def enqueue_request(self, request: Request) -> bool:
        """Refuse requests of the spider; accept those that the downloader gives back, which were handled."""
        return HANDLED_KEY in request.meta

    def next_request(self) -> Request | None:
        """Return a request for the next stored response; the download handler answers it from the store."""
        if not self.has_pending_requests():
            return None
        if self._control.paused:
            return None
        if self._context.documents.congested or self._conversion.congested:
            self._alarm.set_timer(CONGESTION_POLL_INTERVAL)
            return None
        if not self._keys:
            may_begin = self._second.are_in_vain or not self._context.visits
            return self._request(self._second.take_next()) if may_begin else None
        key = self._keys.pop()
        record = self._context.store.records.get_record(key)
        if record is None:
            return self.next_request()
        site, shown = site_of(record.url), record.display_url
        entry = QueueEntry(key, record.url, site, record.depth, 0, record.hops, shown)
        return self._request(Visit(entry, record, rescan=True, from_store=True))

    def _request(self, visit: Visit) -> Request:
        entry = visit.entry
        self._context.visits[entry.key] = visit
        self._watch.begin_visit(visit)
        return Request(
            entry.url,
            callback=self._spider.visit,  # type: ignore[attr-defined]  # the spider is a SourceSpider
            errback=self._spider.failed,  # type: ignore[attr-defined]
            meta={
                META_KEY: visit,
                "download_slot": entry.site,
                "handle_httpstatus_all": True,
                "verbatim_url": True,  # Scrapy would escape it, and finds no scheme in `table:///`
            },
            dont_filter=True,
        )

    def _set_aside(self, visit: Visit, why: str) -> bool:
        """Make a visit once more when all others have ended; returns False if its failure counts."""
        if self._second.add(visit, why) is None:
            return False
        self._watch.suspend_visit(visit)
        del self._context.visits[visit.entry.key]
        self._wake()
        return True

    def _wake(self) -> None:
        engine = self._crawler.engine
        if engine._slot is not None:
            engine._slot.nextcall.schedule()

    def resumed(self) -> None:
        """Look for the next stored response."""
        self._wake()

    def visit_ended(self, visit: Visit) -> None:
        """Forget a visit that ended; what was set aside may be next."""
        self._second.note_end(visit)
        self._context.visits.pop(visit.entry.key, None)


class ReplayQueue:
    """The port `queue` of a crawl without downloads: links, redirects and retries are dropped.

    `keys` are those of the stored responses that wait; `spare` those that are replayed only when a document gives up
    its place. `set_aside` is that of `LinkQueue`; `on_links` is called with the links of each page and their base.
    """

    waiting_requests: tuple[Request, ...] = ()

    def __init__(
        self,
        context: CrawlContext,
        keys: list[int],
        spare: set[int],
        set_aside: Callable[[Visit, str], bool] = lambda _visit, _why: False,
        on_links: Callable[[Visit, Iterable[str], str], None] = lambda _visit, _hrefs, _base: None,
    ) -> None:
        self._context = context
        self.set_aside = set_aside
        self._on_links = on_links
        self._keys = keys
        self._spare = spare

    def seed(self, urls: Iterable[str]) -> int:
        """Ignore start URLs."""
        return 0

    def follow(self, visit: Visit, hrefs: Iterable[str], base: str, named: Sequence[Link] = ()) -> int:
        """Ignore the links of a page; its stored links stay."""
        self._on_links(visit, hrefs, base)
        visit.note_links(visit.record.links)
        return 0

    def redirect(self, visit: Visit, target: str, display_url: str) -> None:
        """Ignore the target of a redirect."""

    def retry(self, visit: Visit, delay: float, *, counts: bool = True) -> None:
        """End the visit as failed: the stored response cannot be read later either."""
        ending = Ending(UrlOutcome.FAILED, StatusCode.IO_ERROR, Cause(CauseCode.NOT_STORED))
        self._context.endings.end_visit(visit, ending)

    def requeue(self, record: UrlRecord) -> None:
        """Replay the stored response of a document; one without is left to the next crawl."""
        key = url_key(record.url)
        if key in self._spare:
            self._spare.discard(key)
            self._keys.append(key)

    def release(self, visit: Visit) -> None:
        """Do nothing: places are not limited."""

    def update_record(self, record: UrlRecord) -> None:
        """Replace the record of the visit in flight to the same URL, if there is one."""
        for visit in self._context.visits.values():
            if visit.url == record.url and not visit.done:
                visit.replace_record(record)

    def offer_links(self, urls: Iterable[str], depth: int) -> int:
        """Ignore links from other sources."""
        return 0

    def queue_listed(self, key: int, url: str, display_url: str, *, known: bool) -> None:
        """Ignore entries of listers."""

    def listing_changed(self) -> None:
        """Do nothing."""

    def fetch_now(self, records: Sequence[UrlRecord]) -> None:
        """Do nothing: nothing is requested."""

    def withdraw(self, keys: Iterable[int]) -> None:
        """Do nothing: no URL waits for a request."""

    def forget_urls(self, keys: Iterable[int]) -> None:
        """Do nothing: no URLs are remembered."""

    def queue_feed_links(
        self, visit: Visit, hrefs: Iterable[str], *, ignore_rules: bool, may_wait: bool
    ) -> dict[str, tuple[int, bool]]:
        """Ignore entries of feeds."""
        return {}

    def queue_sitemap_entries(
        self, parent: str, hrefs: Iterable[str], sites: set[str] | None, *, advises: bool
    ) -> tuple[dict[str, int], set[int]]:
        """Ignore entries of sitemaps."""
        return {}, set()

    def queue_sitemap(self, entry: QueueEntry, *, noted: bool) -> None:
        """Ignore sitemaps."""

    def release_site(self, site: str) -> None:
        """Do nothing: no pages wait."""

    async def wait_for_turn(self, site: str) -> None:
        """Return at once: nothing is requested."""

    def hold_site(self, site: str, seconds: float, why: str = "") -> None:
        """Do nothing: nothing is requested."""

    def end_hold(self, site: str) -> None:
        """Do nothing: nothing is requested."""

    def leave_out(self, site: str) -> None:
        """Do nothing: nothing is requested."""

    def readmit(self, site: str) -> None:
        """Do nothing: nothing is requested."""

    def request_url(self, url: str) -> str:
        """Return the URL itself."""
        return url

    def restore_robots_rules(self, url: str, rules: RobotsRules) -> None:
        """Do nothing: there are no delays to change."""
