"""Requeues the stored entries of sitemaps that did not change, or were read too recently to be fetched again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.rules.recrawl.change import is_known
from ultracrawl.rules.robots.policy import origin_of
from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.run.discovery.robots_answers import keep_answer, latest_answer
from ultracrawl.stores import QueueEntry, StoredSitemap

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import SitemapJob, Visit

logger = logging.getLogger(__name__)

FLUSH_AFTER = 4000
"""Entries per flush, so that no flush takes long."""
_UNCHANGED = frozenset({UrlOutcome.NOT_MODIFIED, UrlOutcome.UNMODIFIED})


class SitemapFinder(Protocol):
    """What `StoredSitemaps` uses of the sitemap manager."""

    def announce(self, href: str, base: str | None, job: SitemapJob, hops: int = 0) -> int | None:
        """Queue a sitemap unless this run has it already; returns its key, or None if it is excluded."""

    def skip_unchanged(
        self, href: str, base: str, job: SitemapJob, latest: int
    ) -> tuple[int, UrlRecord, StoredSitemap] | None:
        """Return a sitemap that its index reports as unchanged, and record that; None if it has to be fetched."""


class StoredSitemaps:
    """Requeues what the store has of sitemaps, in small portions so that the crawl goes on meanwhile."""

    def __init__(
        self,
        context: CrawlContext,
        finder: SitemapFinder,
        stop_waiting: Callable[[SitemapJob], None],
        is_adaptive: Callable[[], bool],
    ) -> None:
        """Initialise; `stop_waiting` releases the pages that wait for a sitemap."""
        self._context = context
        self._finder = finder
        self._stop_waiting = stop_waiting
        self._is_adaptive = is_adaptive
        self._section = context.source.sitemaps
        self._noted = 0
        """Entries that were queued again since they were flushed last."""
        self._running: set[asyncio.Task[None]] = set()

    # ---- age of sitemaps

    def is_recent(self, record: UrlRecord | None) -> bool:
        """Return whether a sitemap was read, or confirmed as unchanged, within `sitemaps.ttl`."""
        known = record is not None and is_known(record) and not record.failed_runs
        return known and record is not None and self._is_within_ttl(record.last_fetched)

    def was_guessed_recently(self, url: str) -> bool:
        """Return whether the default path for sitemaps was requested within `sitemaps.ttl`, and had none."""
        stored = latest_answer(self._context.sites, self._context.rules, origin_of(url))
        return stored is not None and self._is_within_ttl(stored.guessed)

    def note_guess(self, url: str) -> None:
        """Store that there is no sitemap at the default path."""
        context = self._context
        if (stored := latest_answer(context.sites, context.rules, origin_of(url))) is not None:
            keep_answer(context.sites, context.rules, replace(stored, guessed=context.clock()))

    def _is_within_ttl(self, moment: float) -> bool:
        return not self._context.run.rescan and 0 <= self._context.clock() - moment < self._section.ttl

    def record_unchanged(self, key: int, url: str, record: UrlRecord, stored: StoredSitemap) -> None:
        """Record a sitemap that is not fetched as unchanged."""
        self._context.counters.count_scheduled()
        self._context.endings.skip_unchanged(QueueEntry(key, url, site_of(url), 0, 0), record)
        self._context.store.sites.put_sitemap(key, replace(stored, run=self._context.mark.number))

    def store_outcome(self, visit: Visit, outcome: UrlOutcome, job: SitemapJob) -> None:
        """Store the entries of a sitemap, or that it has not changed."""
        context, key = self._context, visit.entry.key
        run = context.mark.number
        if not visit.entry.seq:
            context.counters.count_scheduled()
        stored = job.stored
        if stored is None and (outcome.transient or outcome in _UNCHANGED):
            stored = context.store.sites.get_sitemap(key)
        if job.stored is not None:
            context.counters.count_sitemap()
        context.store.sites.put_sitemap(key, replace(stored or StoredSitemap(run), run=run))

    # ---- requeueing

    @property
    def trusts_dates(self) -> bool:
        """Whether this run skips pages that sitemaps report as unchanged."""
        return self._section.trust_lastmod and not self._context.run.rescan and not self._is_adaptive()

    def entries(self, record: UrlRecord | None, stored: StoredSitemap) -> list[tuple[str, int]]:
        """Return the entries of a sitemap when it was last read: URL and date (0 for none) of those still known."""
        if record is None:
            return []
        dates = dict(stored.entries(record.links))
        known = self._context.store.records.known_urls(list(dates))
        return [(known[key][0], date) for key, date in dates.items() if key in known]

    def start_requeue(self, job: SitemapJob, record: UrlRecord, stored: StoredSitemap) -> None:
        """Requeue a stored sitemap in the background; the pages that wait for it are released afterwards."""
        running = asyncio.ensure_future(self.requeue(job, record, stored))
        self._running.add(running)
        running.add_done_callback(partial(self._ended, job))

    def _ended(self, job: SitemapJob, running: asyncio.Task[None]) -> None:
        self._running.discard(running)
        if not running.cancelled() and (error := running.exception()) is not None:
            logger.error("the stored entries of a sitemap cannot be queued", exc_info=error)
        self._stop_waiting(job)

    async def requeue(self, job: SitemapJob, record: UrlRecord, stored: StoredSitemap) -> None:
        """Queue the stored entries of a sitemap, with their dates, as if it had just been read."""
        if stored.is_index:
            children = self.entries(record, stored)
            self.expect((href for href, _ in children), record.url)
            for href, date in children:
                await self.queue_child(job, href, record.url, date)
            return
        entries = list(stored.entries(record.links))
        for start in range(0, len(entries), FLUSH_AFTER):
            portion = entries[start : start + FLUSH_AFTER]
            self.note_dates(portion)
            self._noted += len(portion)
            if self._noted >= FLUSH_AFTER:
                self._noted = 0
                self._context.flush()
            await asyncio.sleep(0)

    def expect(self, hrefs: Iterable[str], base: str) -> None:
        """Have what is stored of sitemaps of an index read together."""
        form = self._context.rules.url_policy.without_rewriting
        urls = (form.canonical(href, base) for href in hrefs)
        self._context.store.queue.expect_urls([url_key(url) for url in urls if url is not None])

    async def queue_child(self, parent: SitemapJob, href: str, base: str, latest: int) -> int | None:
        """Queue a sitemap of an index, or requeue its entries if it did not change since `latest`; returns its key."""
        job = parent.child()
        unchanged = self._finder.skip_unchanged(href, base, job, latest)
        if unchanged is None:
            return self._finder.announce(href, base, job)
        key, record, stored = unchanged
        await self.requeue(job, record, stored)
        return key

    def note_dates(self, dates: Iterable[tuple[int, int]]) -> None:
        """Store the dates of change that a sitemap states for pages, if this run uses them."""
        if self.trusts_dates:
            self._context.store.sites.announce_dates((key, date) for key, date in dates if date)
