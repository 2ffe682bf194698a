"""Queues known URLs once per cycle when something links to them, if the refresh mode requires it."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable

from ultracrawl.model import UrlRecord
from ultracrawl.rules.recrawl.cycle import RefreshMode
from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.run import CrawlContext, Visit
from ultracrawl.run.hooks import Feature
from ultracrawl.scheduler.candidates.seen_urls import SeenUrls
from ultracrawl.stores import KnownUrl, QueueEntry


class RecrawlActivator(Feature):
    """Queues known URLs when a page, a redirect or a sitemap of this cycle leads to them.

    An unchanged page counts as leading to its stored links, so that their targets are requested and stay seen although
    the page was not read again (a 304 keeps its children alive). In mode `known` there is nothing to do: all known
    URLs are in the queue. In mode `adaptive` URLs are only marked as seen; start URLs are queued in the first minor
    cycle. `enqueue` takes an entry that is in the store only; `is_sitemap` returns whether this run reads the URL of a
    key as a sitemap.
    """

    def __init__(
        self,
        context: CrawlContext,
        seen: SeenUrls,
        enqueue: Callable[[QueueEntry], None],
        is_sitemap: Callable[[int], bool],
    ) -> None:
        self._context = context
        self._seen = seen
        self.enqueue = enqueue
        """Takes an entry that is read from the store later."""
        self._is_sitemap = is_sitemap
        self._mode = RefreshMode(context.mark.mode)
        self._left_over_sites = frozenset[str]()
        """Sites that continue with the queue of the previous cycle."""
        self._vouched_links: list[bytes] = []
        if self._mode is RefreshMode.SOFT:
            self._left_over_sites = frozenset(context.store.queue.sites_with_leftovers())

    @property
    def on(self) -> bool:
        """Whether this run tracks which known URLs something leads to; not in mode `known`."""
        return self._mode is not RefreshMode.KNOWN

    def note_linked(self, keys: Iterable[int]) -> None:
        """Mark known URLs as seen in this cycle; queue those that were not seen before."""
        fresh = self._context.store.visits.note_met(keys)
        if self._mode.requests_known_when_linked:
            self._queue_fresh(fresh)

    def is_fresh(self, key: int) -> bool:
        """Mark a known URL as seen; returns whether it neither waits nor was fetched in this cycle."""
        return self.on and bool(self._context.store.visits.note_met((key,)))

    def queue_known_seed(self, url: str) -> bool:
        """Queue a known start URL for this cycle; returns whether it was queued."""
        fresh = self._context.store.visits.note_met((url_key(url),)) if self.on else []
        if self._mode is RefreshMode.ADAPTIVE and self._context.mark.minor:
            return False
        return self._queue_fresh(fresh)

    def _queue_fresh(self, fresh: Iterable[KnownUrl]) -> bool:
        queued = False
        for known in fresh:
            if known.site in self._left_over_sites or self._is_sitemap(known.key):
                continue
            self.queue_known(known)
            queued = True
        return queued

    def queue_known(self, known: KnownUrl) -> None:
        """Queue a known URL for this cycle."""
        seq = self._context.store.queue.next_seq()
        level = self._context.rules.levels.of(known.url)
        entry = QueueEntry(
            known.key, known.url, known.site, known.depth, seq, display_url=known.display_url, level=level
        )
        self._context.store.queue.requeue_url(entry)
        self.enqueue(entry)

    def queue_orphan(self, key: int) -> None:
        """Queue a known URL that nothing leads to, so that the server's response decides about it."""
        record = self._context.store.records.get_record(key)
        if record is None:
            return
        self._context.store.visits.note_seen((key,))
        site = site_of(record.url)
        self.queue_known(KnownUrl(key, record.url, site, record.depth, record.display_url))

    def visit_ended(self, visit: Visit) -> None:
        """Treat the stored links of an unchanged page as seen in this cycle."""
        if not self.on or visit.outcome is None or not (visit.outcome.unchanged or visit.fetch.status == 304):
            return
        if visit.sitemap is None or not self._is_index(visit.entry.key):
            self._reassert(visit.links or visit.record.links)

    def unchanged_skipped(self, record: UrlRecord) -> None:
        """Note the stored links of a page that a sitemap reports as unchanged, for the next `catch_up`."""
        if self.on and record.links and not self._is_index(url_key(record.url)):
            self._vouched_links.append(record.links)

    def catch_up(self) -> None:
        """Treat the links of skipped pages as seen; separate because nothing may be queued during a refill."""
        while self._vouched_links:
            self._reassert(self._vouched_links.pop())

    def _is_index(self, key: int) -> bool:
        stored = self._context.store.sites.get_sitemap(key)
        return stored is not None and stored.is_index

    def _reassert(self, links: bytes) -> None:
        unseen = [key for key in array("q", links) if self._seen.get(key) is None]
        if not unseen:
            return
        known = self._context.store.records.known_urls(unseen)
        for key, (_, depth) in known.items():
            self._seen.add_key(key, depth)
        self.note_linked(key for key in unseen if key in known)
