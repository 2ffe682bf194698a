"""Queues known URLs again once a cycle when something leads to them, if the refresh mode says so."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable

from ultracrawl.crawl import CrawlContext, Visit
from ultracrawl.model import UrlRecord
from ultracrawl.rules.recrawl.cycle import RefreshMode
from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.scheduler.candidates.seen_urls import SeenUrls
from ultracrawl.stores import KnownUrl, QueueEntry


class RecrawlActivator:
    """Puts known URLs into the queue when a page, a redirect or a sitemap of this cycle leads to them.

    A page that was found unchanged leads to what its stored links lead to, so that its targets are asked for and
    stay seen although the page was not read again (a 304 keeps its children alive). In mode `known` there is
    nothing to do: all known URLs are in the queue. In mode `adaptive` URLs are only seen; start URLs are asked for
    with the first minor cycle. `enqueue` takes an entry that is in the store only; `is_sitemap` says of a key whether
    this run reads the URL as a sitemap.
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
        """Takes an entry that is read from the store in its turn."""
        self._is_sitemap = is_sitemap
        self._mode = RefreshMode(context.mark.mode)
        self._held = frozenset[str]()
        """Sites that go on with the queue of the cycle before."""
        self._later: list[bytes] = []
        if self._mode is RefreshMode.SOFT:
            self._held = frozenset(context.store.queue.left_over_sites())

    @property
    def on(self) -> bool:
        """Whether this run has to know which known URLs something leads to; not in mode `known`."""
        return self._mode is not RefreshMode.KNOWN

    def meet(self, keys: Iterable[int]) -> None:
        """Note that something leads to these known URLs; queue those for which that is the first time in this cycle."""
        fresh = self._context.store.visits.note_met(keys)
        if self._mode.asks_known:
            self._wake(fresh)

    def is_fresh(self, key: int) -> bool:
        """Return whether a known URL neither waits nor was fetched in this cycle; from now on it counts as seen."""
        return self.on and bool(self._context.store.visits.note_met((key,)))

    def start(self, url: str) -> bool:
        """Queue a known start URL for this cycle; returns whether it was."""
        fresh = self._context.store.visits.note_met((url_key(url),)) if self.on else []
        if self._mode is RefreshMode.ADAPTIVE and self._context.mark.minor:
            return False
        return self._wake(fresh)

    def _wake(self, fresh: Iterable[KnownUrl]) -> bool:
        woken = False
        for one in fresh:
            if one.site in self._held or self._is_sitemap(one.key):
                continue
            self.queue_known(one)
            woken = True
        return woken

    def queue_known(self, one: KnownUrl) -> None:
        """Queue a known URL for this cycle."""
        seq = self._context.store.queue.next_seq()
        level = self._context.rules.levels.of(one.url)
        entry = QueueEntry(
            one.key, one.url, one.site, one.depth, seq, display_url=one.display_url, level=level
        )
        self._context.store.queue.requeue_url(entry)
        self.enqueue(entry)

    def queue_orphan(self, key: int) -> None:
        """Queue a known URL that nothing leads to, so that the server decides about it."""
        record = self._context.store.records.get_record(key)
        if record is None:
            return
        self._context.store.visits.note_seen((key,))
        site = site_of(record.url)
        self.queue_known(KnownUrl(key, record.url, site, record.depth, record.display_url))

    def finished(self, visit: Visit) -> None:
        """Treat the stored links of a page that was found unchanged as met in this cycle."""
        if not self.on or visit.outcome is None or not (visit.outcome.unchanged or visit.fetch.status == 304):
            return
        if visit.sitemap is None or not self._is_index(visit.entry.key):
            self._reassert(visit.links or visit.record.links)

    def vouched(self, record: UrlRecord) -> None:
        """Put off the same, to the next `catch_up`, for a page that a sitemap says is unchanged."""
        if self.on and record.links and not self._is_index(url_key(record.url)):
            self._later.append(record.links)

    def catch_up(self) -> None:
        """Treat as met what `vouched` put off: nothing may be queued while a site is being refilled."""
        while self._later:
            self._reassert(self._later.pop())

    def _is_index(self, key: int) -> bool:
        stored = self._context.store.sites.get_sitemap(key)
        return stored is not None and stored.is_index

    def _reassert(self, links: bytes) -> None:
        unmet = [key for key in array("q", links) if self._seen.get(key) is None]
        if not unmet:
            return
        known = self._context.store.records.known_urls(unmet)
        for key, (_, depth) in known.items():
            self._seen.add_key(key, depth)
        self.meet(key for key in unmet if key in known)
