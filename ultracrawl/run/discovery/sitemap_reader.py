"""Reads the response for a sitemap into queue entries and dates, in chunks that leave the event loop responsive."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

from ultracrawl.content.feeds.sitemap import Sitemap, SitemapKind, SitemapUrl, parse_sitemap
from ultracrawl.model import Cause, CauseCode, StatusCode, UrlOutcome
from ultracrawl.rules.recrawl.change import classify, is_credible
from ultracrawl.run.discovery.stored_sitemaps import FLUSH_AFTER
from ultracrawl.run.ending import Ending
from ultracrawl.run.hooks import Feature
from ultracrawl.run.transport.headers import header_of
from ultracrawl.run.visit import SitemapJob, Visit
from ultracrawl.stores import Advice, StoredSitemap

if TYPE_CHECKING:
    from scrapy.http import Response

    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.discovery.sitemap_manager import SitemapManager

CHUNK = 500
"""Entries that are processed before control returns to the event loop."""


class SitemapReader:
    """Reads one sitemap: its pages are queued like links, its child sitemaps are queued as sitemaps."""

    def __init__(
        self, context: CrawlContext, sitemaps: SitemapManager, visit: Visit, job: SitemapJob
    ) -> None:
        self._context = context
        self._visit = visit
        self._job = job
        self._stored = sitemaps.stored_sitemaps
        self._keys = array("q")
        self._dates = array("q")

    async def read(self, response: Response) -> None:
        """Handle the response, 304 or a body, and end the visit."""
        visit = self._visit
        stored = self._context.store.sites.get_sitemap(visit.entry.key)
        unchanged = not visit.rescan and classify(visit.record, visit.checksum) is UrlOutcome.UNMODIFIED
        if stored is not None and (response.status == 304 or unchanged):
            await self._stored.requeue(self._job, visit.record, stored)
            self._job.stored = stored
            outcome = UrlOutcome.NOT_MODIFIED if response.status == 304 else UrlOutcome.UNMODIFIED
            self._finish(outcome, response.status, visit.record.cause)
        elif response.status == 200:
            sitemap = await asyncio.to_thread(
                parse_sitemap, response.body, response.url, header_of(response, "Content-Type")
            )
            await self._read_sitemap(sitemap, response)
        else:
            self._finish(UrlOutcome.NOT_INDEXED, response.status, Cause(CauseCode.NO_SITEMAP_ANSWER))

    async def _read_sitemap(self, sitemap: Sitemap, response: Response) -> None:
        if sitemap.kind is SitemapKind.UNKNOWN:
            self._job.tentative = self._job.tentative and not _claims_to_be_xml(response.body)
            cause = Cause(CauseCode.NO_SITEMAP, detail=sitemap.problem)
            self._finish(UrlOutcome.FAILED, StatusCode.CONVERSION_FAILED, cause)
            return
        self._job.tentative = False
        await self._queue_children(sitemap.children, response.url)
        await self._queue_pages(sitemap.urls)
        self._visit.note_links(self._keys.tobytes())
        is_index = bool(sitemap.children)
        if is_index and sitemap.urls:
            # Such a mix cannot be requeued from the store, so the next run has to fetch it in full.
            self._visit.drop_validators()
            self._visit.note_checksum(b"")
        self._job.stored = StoredSitemap(self._context.mark.number, is_index, self._dates.tobytes())
        number = len(sitemap.children) + len(sitemap.urls)
        detail = "; ".join(filter(None, [f"{number} entries", sitemap.problem]))
        self._finish(UrlOutcome.LIST, 200, Cause(CauseCode.SITEMAP, sitemap.kind, detail))

    def _finish(self, outcome: UrlOutcome, status: int, cause: Cause) -> None:
        self._context.endings.end_visit(self._visit, Ending(outcome, status, cause))

    # ---- sitemaps in an index

    async def _queue_children(self, children: Sequence[SitemapUrl], base: str) -> None:
        now = self._context.clock()
        self._stored.expect((child.loc for child in children), base)
        for child in children:
            key = await self._stored.queue_child(self._job, child.loc, base, _latest_change(child, now))
            if key is not None:
                self._keys.append(key)
                self._dates.append(_latest_change(child, now))

    # ---- pages

    async def _queue_pages(self, entries: Sequence[SitemapUrl]) -> None:
        now = self._context.clock()
        for start in range(0, len(entries), CHUNK):
            chunk = entries[start : start + CHUNK]
            for on_links in self._context.hooks[Feature.links_found]:
                on_links(self._visit, [entry.loc for entry in chunk], self._visit.url)
            dates = {entry.loc: _latest_change(entry, now) for entry in chunk}
            advises = any(map(self._advises, chunk))
            found = self._queue_urls(dates, advises=advises)
            if advises:
                self._context.store.visits.note_advice(
                    Advice(found[entry.loc], entry.changefreq, entry.priority, self._changed(entry))
                    for entry in chunk
                    if entry.loc in found
                )
            alternates = {href: 0 for entry in chunk for _, href in entry.alternates}
            if alternates:
                self._queue_urls(alternates, anywhere=True)
            await self._yield_control(start + CHUNK)

    def _advises(self, entry: SitemapUrl) -> bool:
        return bool(entry.changefreq or entry.priority is not None or self._changed(entry))

    def _changed(self, entry: SitemapUrl) -> float:
        """Return the earliest time of the last change if scores need it; 0 if the entry has no credible date."""
        source = self._context.source
        if entry.lastmod is None or not (source.sitemaps.trust_lastmod and source.refresh.mode == "adaptive"):
            return 0.0
        moment = entry.lastmod.timestamp()
        return moment if is_credible(moment, self._context.clock()) else 0.0

    def _queue_urls(
        self, dates: dict[str, int], *, anywhere: bool = False, advises: bool = False
    ) -> dict[str, int]:
        sites = None if anywhere else self._job.sites
        found, new = self._context.queue.queue_sitemap_entries(self._visit.url, dates, sites, advises=advises)
        self._keys.extend(found.values())
        self._dates.extend(dates[href] for href in found)
        self._stored.note_dates((key, dates[href]) for href, key in found.items() if key not in new)
        return found

    async def _yield_control(self, done: int) -> None:
        if done % FLUSH_AFTER < CHUNK:
            self._context.flush()
        await asyncio.sleep(0)


def _latest_change(entry: SitemapUrl, now: float) -> int:
    """Return the latest time at which an entry may have changed; 0 if it has no credible date."""
    if entry.lastmod is None or not is_credible(entry.lastmod.timestamp(), now):
        return 0
    return ceil(entry.changed_by)


def _claims_to_be_xml(body: bytes) -> bool:
    """Return whether a body that is no sitemap looks like XML, and not like an HTML error page."""
    head = body[:4096].lstrip().lower()
    return head.startswith((b"<", b"\x1f\x8b")) and b"<html" not in head and b"doctype html" not in head
