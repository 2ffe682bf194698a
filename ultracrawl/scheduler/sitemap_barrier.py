"""Sitemaps at the frontier: they go ahead of the pages of their site, which wait, and need not be asked for."""

from __future__ import annotations

from collections.abc import Callable

from ultracrawl.crawl import CrawlContext
from ultracrawl.crawl.discovery.robots_cache import RobotsCache
from ultracrawl.crawl.discovery.sitemap_manager import SitemapManager
from ultracrawl.model import CauseCode
from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.rules.recrawl.change import vouches
from ultracrawl.stores import QueueEntry


class SitemapBarrier:
    """Holds back pages of sites whose sitemaps are still to be read, as the `SitemapManager` decides.

    `must_ask` tells of a key whether the URL has to be fetched, for reasons of this run.
    """

    def __init__(
        self,
        context: CrawlContext,
        frontier: Frontier[QueueEntry],
        manager: SitemapManager,
        robots: RobotsCache,
        must_ask: Callable[[int], bool],
    ) -> None:
        self._context = context
        self._frontier = frontier
        self._manager = manager
        self._robots = robots
        self._must_ask = must_ask

    def rules_known(self, entry: QueueEntry) -> bool:
        """Whether what is needed of robots.txt is known; one that is not obeyed may still name sitemaps."""
        if not self._robots.ready(entry.url):
            return False
        named_there = self._manager.discovers and self._manager.unmet(entry)
        return not named_there or self._robots.known(entry.url) is not None

    def holds(self, site: str) -> bool:
        """Whether the pages of a site wait for its sitemaps."""
        return site in self._manager.waiting_sites

    def keeps(self, entry: QueueEntry) -> bool:
        """Look for the sitemaps of a site; returns whether its pages, this one too, were put back to wait for them."""
        if not self._manager.unmet(entry):
            return False
        if not self._manager.meet(entry, self._robots.known(entry.url)):
            return False
        self._frontier.clocks.refund_turn(entry.site)
        self._frontier.finish_entry(entry.site)
        for waiting in self._frontier.entries.withdraw_site(entry.site):
            if not waiting.seq:  # what stands in the store comes back from there
                self._frontier.entries.add_first(waiting)
        return True

    def asked(self, entries: list[QueueEntry]) -> list[QueueEntry]:
        """Return the entries that need a request; pages that a sitemap says are unchanged get their outcome here."""
        sites = self._context.store.sites
        if not sites.dates_announced or not self._manager.trusts_dates:
            return entries
        dates = sites.announced_dates([entry.key for entry in entries])
        return [
            one for one in entries if one.key not in dates or not self._is_vouched_for(one, dates[one.key])
        ]

    def _is_vouched_for(self, entry: QueueEntry, latest: int) -> bool:
        context = self._context
        if self._must_ask(entry.key):
            return False
        record = context.store.records.get_record(entry.key)
        if record is None or not record.indexed or record.removal or record.cause.code is CauseCode.EXPIRES:
            return False
        rules = self._robots.known(entry.url)
        if context.rules.robots.obey and (rules is None or rules.blocks(entry.url)):
            return False
        if not vouches(latest, record, context.clock()):
            return False
        context.endings.not_asked(entry, record)
        return True
