"""Holds pages back until the sitemaps of their site are read, and skips pages that sitemaps report as unchanged."""

from __future__ import annotations

from collections.abc import Callable

from ultracrawl.model import CauseCode
from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.rules.recrawl.change import proves_unchanged
from ultracrawl.run import CrawlContext
from ultracrawl.run.discovery.robots_cache import RobotsCache
from ultracrawl.run.discovery.sitemap_manager import SitemapManager
from ultracrawl.stores import QueueEntry


class SitemapBarrier:
    """Holds back the pages of sites whose sitemaps are still to be read, as the `SitemapManager` decides.

    `must_fetch` returns whether this run has to fetch the URL of a key.
    """

    def __init__(
        self,
        context: CrawlContext,
        frontier: Frontier[QueueEntry],
        manager: SitemapManager,
        robots: RobotsCache,
        must_fetch: Callable[[int], bool],
    ) -> None:
        self._context = context
        self._frontier = frontier
        self._manager = manager
        self._robots = robots
        self._must_ask = must_fetch

    def robots_known(self, entry: QueueEntry) -> bool:
        """Return whether robots.txt is known as far as needed; one that is not obeyed may still name sitemaps."""
        if not self._robots.ready(entry.url):
            return False
        named_there = self._manager.discovers and self._manager.needs_discovery(entry)
        return not named_there or self._robots.known(entry.url) is not None

    def is_waiting(self, site: str) -> bool:
        """Return whether the pages of a site wait for its sitemaps."""
        return site in self._manager.waiting_sites

    def holds_back(self, entry: QueueEntry) -> bool:
        """Look for the sitemaps of a site; returns whether its entries were put back to wait for them."""
        if not self._manager.needs_discovery(entry):
            return False
        if not self._manager.discover_sitemaps(entry, self._robots.known(entry.url)):
            return False
        self._frontier.refund_turn(entry.site)
        self._frontier.finish_entry(entry.site)
        for waiting in self._frontier.withdraw_site(entry.site):
            if not waiting.seq:  # stored entries are loaded again later
                self._frontier.add_first(waiting)
        return True

    def needing_request(self, entries: list[QueueEntry]) -> list[QueueEntry]:
        """Return the entries that need a request; pages that a sitemap reports as unchanged get their outcome here."""
        sites = self._context.store.sites
        if not sites.dates_announced or not self._manager.trusts_dates:
            return entries
        dates = sites.announced_dates([entry.key for entry in entries])
        return [
            entry
            for entry in entries
            if entry.key not in dates or not self._is_vouched_for(entry, dates[entry.key])
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
        if self._robots.reserves(entry.url):
            return False
        if not proves_unchanged(latest, record, context.clock()):
            return False
        context.endings.skip_unchanged(entry, record)
        return True
