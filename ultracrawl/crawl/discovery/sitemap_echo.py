"""Repeats what is stored of sitemaps that did not change, or that are too young to be fetched again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from ultracrawl.crawl.discovery.robots_answers import keep_answer, latest_answer
from ultracrawl.model import UrlOutcome
from ultracrawl.rules.recrawl.change import is_known
from ultracrawl.rules.robots.policy import origin_of
from ultracrawl.rules.urls.canonical import site_of
from ultracrawl.stores import QueueEntry, StoredSitemap

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.visit import SitemapJob, Visit
    from ultracrawl.model import UrlRecord

logger = logging.getLogger(__name__)

FLUSH_AFTER = 4000
"""Entries after which the state is made durable, so that no flush takes long."""
_UNCHANGED = frozenset({UrlOutcome.NOT_MODIFIED, UrlOutcome.UNMODIFIED})


class SitemapFinder(Protocol):
    """Knows which sitemaps this run reads."""

    def announce(self, href: str, base: str | None, task: SitemapJob, hops: int = 0) -> int | None:
        """Queue a sitemap unless this run reads it already; returns its key, or None if it is refused."""

    def skips(
        self, href: str, base: str, task: SitemapJob, latest: int
    ) -> tuple[int, UrlRecord, StoredSitemap] | None:
        """Return a sitemap that its index says has not changed, so that it is not fetched; None if it has to be."""


class SitemapEcho:
    """Repeats what the store knows of sitemaps, in small portions so that the crawl goes on meanwhile."""

    def __init__(
        self,
        context: CrawlContext,
        finder: SitemapFinder,
        stop_waiting: Callable[[SitemapJob], None],
        is_adaptive: Callable[[], bool],
    ) -> None:
        """`stop_waiting` releases the pages that wait for a sitemap."""
        self._context = context
        self._finder = finder
        self._stop_waiting = stop_waiting
        self._is_adaptive = is_adaptive
        self._section = context.source.sitemaps
        self._repeating: set[asyncio.Task[None]] = set()

    # ---- the time of a sitemap

    def is_young(self, record: UrlRecord | None) -> bool:
        """Whether a sitemap need not be asked for again, because it was read or proved unchanged a short time ago."""
        known = record is not None and is_known(record) and not record.failed_runs
        return known and record is not None and self._is_lately(record.last_fetched)

    def was_guessed(self, place: str) -> bool:
        """Whether a usual place for sitemaps was asked a short time ago, and had none."""
        stored = latest_answer(self._context.sites, self._context.rules, origin_of(place))
        return stored is not None and self._is_lately(stored.guessed)

    def note_guess(self, place: str) -> None:
        """Store that there is no sitemap at a usual place."""
        context = self._context
        if (stored := latest_answer(context.sites, context.rules, origin_of(place))) is not None:
            keep_answer(context.sites, context.rules, replace(stored, guessed=context.clock()))

    def _is_lately(self, moment: float) -> bool:
        return not self._context.run.rescan and 0 <= self._context.clock() - moment < self._section.ttl

    def take_as_read(self, key: int, url: str, record: UrlRecord, stored: StoredSitemap) -> None:
        """Record a sitemap that is not fetched as unchanged."""
        self._context.counters.count_scheduled()
        self._context.endings.not_asked(QueueEntry(key, url, site_of(url), 0, 0), record)
        self._context.store.sites.put_sitemap(key, replace(stored, run=self._context.mark.number))

    def note_end(self, visit: Visit, outcome: UrlOutcome, task: SitemapJob) -> None:
        """Store what a sitemap listed, or that it has not changed."""
        context, key = self._context, visit.entry.key
        run = context.mark.number
        if not visit.entry.seq:
            context.counters.count_scheduled()
        stored = task.stored
        if stored is None and (outcome.transient or outcome in _UNCHANGED):
            stored = context.store.sites.get_sitemap(key)
        if task.stored is not None:
            context.counters.count_sitemap()
        context.store.sites.put_sitemap(key, replace(stored or StoredSitemap(run), run=run))

    # ---- saying it again

    @property
    def trusts_dates(self) -> bool:
        """Whether this run skips pages that sitemaps say are unchanged."""
        return self._section.trust_lastmod and not self._context.run.rescan and not self._is_adaptive()

    def entries(self, record: UrlRecord | None, stored: StoredSitemap) -> list[tuple[str, int]]:
        """Return what a sitemap held when it was read last: URL and date (0 for none) of each entry still known."""
        if record is None:
            return []
        dates = dict(stored.entries(record.links))
        known = self._context.store.records.known_urls(list(dates))
        return [(known[key][0], date) for key, date in dates.items() if key in known]

    def begin(self, task: SitemapJob, record: UrlRecord, stored: StoredSitemap) -> None:
        """Repeat a stored sitemap in the background; its pages are released when that is done."""
        repeating = asyncio.ensure_future(self.repeat(task, record, stored))
        self._repeating.add(repeating)
        repeating.add_done_callback(partial(self._ended, task))

    def _ended(self, task: SitemapJob, repeating: asyncio.Task[None]) -> None:
        self._repeating.discard(repeating)
        if not repeating.cancelled() and (error := repeating.exception()) is not None:
            logger.error("what a sitemap said cannot be repeated", exc_info=error)
        self._stop_waiting(task)

    async def repeat(self, task: SitemapJob, record: UrlRecord, stored: StoredSitemap) -> None:
        """Queue the stored entries of a sitemap, with their dates, as if it had just been read."""
        if stored.is_index:
            for href, date in self.entries(record, stored):
                await self.child(task, href, record.url, date)
            return
        entries = list(stored.entries(record.links))
        for start in range(0, len(entries), FLUSH_AFTER):
            self.note_dates(entries[start : start + FLUSH_AFTER])
            self._context.flush()
            await asyncio.sleep(0)

    async def child(self, parent: SitemapJob, href: str, base: str, latest: int) -> int | None:
        """Queue a sitemap of an index, or repeat it if it did not change since `latest`; returns its key."""
        task = parent.child()
        unchanged = self._finder.skips(href, base, task, latest)
        if unchanged is None:
            return self._finder.announce(href, base, task)
        key, record, stored = unchanged
        await self.repeat(task, record, stored)
        return key

    def note_dates(self, dates: Iterable[tuple[int, int]]) -> None:
        """Store the dates on which a sitemap says that pages changed, if this run uses them."""
        if self.trusts_dates:
            self._context.store.sites.announce_dates((key, date) for key, date in dates if date)
