"""What sitemaps said when they were read last, said again: of those that did not change, or whose time is not over."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ultracrawl.rules.recrawl import is_known
from ultracrawl.rules.robots import origin_of

if TYPE_CHECKING:
    from ultracrawl.crawl.discovery.sitemap_manager import SitemapJob
    from ultracrawl.crawl.session import CrawlSession
    from ultracrawl.model import UrlRecord
    from ultracrawl.stores import StoredSitemap

logger = logging.getLogger(__name__)

FLUSH_AFTER = 4000
"""Entries after which the state is made durable, so that no flush takes long."""


class SitemapEcho:
    """Repeats what the store knows of sitemaps, a little at a time so that the crawl goes on meanwhile."""

    def __init__(self, session: CrawlSession) -> None:
        self._session = session
        self._repeating: set[asyncio.Task[None]] = set()

    # ---- the time of a sitemap

    def is_young(self, record: UrlRecord | None) -> bool:
        """Whether a sitemap need not be asked for again, because it was read or proved unchanged a short time ago."""
        known = record is not None and is_known(record) and not record.failures
        return known and record is not None and self._is_lately(record.last_fetched)

    def was_guessed(self, place: str) -> bool:
        """Whether there was no sitemap at a usual place a short time ago."""
        stored = self._session.context.store.sites.get_robots(origin_of(place))
        return stored is not None and self._is_lately(stored.guessed)

    def note_guess(self, place: str) -> None:
        """Keep in mind that there is no sitemap at a usual place."""
        sites = self._session.context.store.sites
        if (stored := sites.get_robots(origin_of(place))) is not None:
            sites.put_robots(replace(stored, guessed=self._session.context.clock()))

    def _is_lately(self, moment: float) -> bool:
        session = self._session
        return (
            not session.context.run.rescan
            and 0 <= session.context.clock() - moment < session.context.source.sitemaps.ttl
        )

    # ---- saying it again

    def begin(self, task: SitemapJob, record: UrlRecord, stored: StoredSitemap) -> None:
        """Repeat a sitemap beside the crawl; its pages go on when that is done."""
        repeating = asyncio.ensure_future(self.repeat(task, record, stored))
        self._repeating.add(repeating)
        repeating.add_done_callback(partial(self._ended, task))

    def _ended(self, task: SitemapJob, repeating: asyncio.Task[None]) -> None:
        self._repeating.discard(repeating)
        if not repeating.cancelled() and (error := repeating.exception()) is not None:
            logger.error("what a sitemap said cannot be repeated", exc_info=error)
        self._session.sitemaps.over(task)

    async def repeat(self, task: SitemapJob, record: UrlRecord, stored: StoredSitemap) -> None:
        """Say again what a sitemap said when it was read last."""
        if stored.is_index:
            for href, date in self._session.sitemaps.entries(record, stored):
                await self.child(task, href, record.url, date)
            return
        entries = list(stored.entries(record.links))
        for start in range(0, len(entries), FLUSH_AFTER):
            self.say(entries[start : start + FLUSH_AFTER])
            self._session.context.flush()
            await asyncio.sleep(0)

    async def child(self, parent: SitemapJob, href: str, base: str, latest: int) -> int | None:
        """Have a sitemap of an index read, or repeat it if it did not change since `latest`; returns its key."""
        desk = self._session.sitemaps
        task = desk.child_of(parent)
        unchanged = desk.skips(href, base, task, latest)
        if unchanged is None:
            return desk.announce(href, base, task)
        key, record, stored = unchanged
        await self.repeat(task, record, stored)
        return key

    def say(self, dates: Iterable[tuple[int, int]]) -> None:
        """Note when pages changed by the word of a sitemap, if that counts in this run."""
        if self._session.sitemaps.trusts_dates:
            self._session.context.store.sites.announce_dates((key, date) for key, date in dates if date)
