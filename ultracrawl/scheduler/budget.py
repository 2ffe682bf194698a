"""How many pages of each site a run may still fetch, and what becomes of the URLs beyond."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Mapping

from ultracrawl.crawl import CrawlContext, Visit
from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.sources import LimitsSection
from ultracrawl.stores import QueueEntry

REFILL = 2000
"""Entries of one site that are excluded at once."""


class PageBudget:
    """Counts the pages of each site against `limits.pages_per_site` (FAST 5.1 B11).

    A page counts once it was fetched: answered with success, or with 304. Errors and redirects do not count. A run
    that is resumed goes on with what it has fetched.
    """

    def __init__(self, limits: LimitsSection) -> None:
        self.per_site = limits.pages_per_site
        self._fetched: Counter[str] = Counter()

    def resume(self, fetched: Mapping[str, int]) -> None:
        """Start from the number of pages of each site that this run fetched before it was interrupted."""
        self._fetched.update(fetched)

    def is_begun(self, site: str) -> bool:
        """Tell whether some of the pages of a site are used up."""
        return self.per_site is not None and self._fetched[site] > 0

    @property
    def rule(self) -> str:
        """The name under which further URLs of a site are excluded."""
        return f"pages_per_site {self.per_site}"

    def left(self, site: str) -> int:
        """Return how many pages of a site may still be fetched; meant for sources with a limit."""
        return max((self.per_site or 0) - self._fetched[site], 0)

    def is_spent(self, site: str) -> bool:
        """Tell whether nothing more of a site may be fetched."""
        return self.per_site is not None and self._fetched[site] >= self.per_site

    def count(self, visit: Visit) -> bool:
        """Count a visit that ended; True if it used up a page of a limited site."""
        if (
            self.per_site is None
            or visit.sitemap
            or not (200 <= visit.fetch.status < 300 or visit.fetch.status == 304)
        ):
            return False
        self._fetched[visit.entry.site] += 1
        return True


class EntryGate:
    """Lets entries into the frontier as long as pages of their site are left; the others end without a request.

    `retries` are the visits that wait to be tried again, `held` the sites whose pages wait for their sitemaps;
    `abandon` is called with the key of a sitemap that will not be fetched.
    """

    def __init__(
        self,
        context: CrawlContext,
        frontier: Frontier[QueueEntry],
        retries: dict[int, Visit],
        held: Container[str],
        abandon: Callable[[int], None],
    ) -> None:
        self._context = context
        self._frontier = frontier
        self._retries = retries
        self._held = held
        self._abandon = abandon
        self._budget = PageBudget(context.source.limits)
        self.keeps_places = self._budget.per_site is not None
        """Whether a visit keeps its place at its site until it ends, because pages are counted then."""

    def take_up_queue(self) -> None:
        """Give the frontier every site with stored entries, except those whose pages a resumed run has used up."""
        store = self._context.store
        if self._context.counters.resumed and self._budget.per_site is not None:
            self._budget.resume(store.visits.fetched_since(self._context.mark.started))
        for site, _ in store.queue.waiting_sites():
            if self._budget.is_begun(site):
                self._keep_to_budget(site)
            if not self._budget.is_spent(site):
                self._frontier.entries.leave_stored(site)

    def place_entry(self, entry: QueueEntry) -> None:
        """Put an entry that was accepted just now into the frontier."""
        if self._is_let_in(entry):
            self._frontier.entries.add_entry(entry)

    def leave_entry(self, entry: QueueEntry) -> None:
        """Leave an entry in the store, to be read in the order of ranks and checked against the dates of sitemaps."""
        if self._is_let_in(entry):
            self._frontier.entries.leave_stored(entry.site)

    def _is_let_in(self, entry: QueueEntry) -> bool:
        """Count an entry; returns whether it may go on now, and ends it if pages of its site are used up."""
        self._context.counters.count_scheduled()
        spent = self._budget.is_spent(entry.site)
        if spent:
            self.exclude_entry(entry)
        return not spent and entry.site not in self._held

    def place_sitemap(self, entry: QueueEntry) -> bool:
        """Put a sitemap ahead of the pages of its site; False if nothing more of the site may be fetched."""
        if self.is_over(entry.site):
            self._abandon(entry.key)
            return False
        self._frontier.entries.add_first(entry)
        return True

    def exclude_entry(self, entry: QueueEntry) -> None:
        """End a waiting entry without a request, because its site has used up its pages."""
        self._retries.pop(entry.key, None)
        if not entry.seq:
            self._abandon(entry.key)
            return
        self._context.endings.skip(entry, self._budget.rule)

    def is_over(self, site: str) -> bool:
        """Whether nothing more of a site may be fetched."""
        return self._budget.is_spent(site) or site in self._frontier.given_up

    def count_page(self, visit: Visit) -> None:
        """Count the page of a visit that ended."""
        if self._budget.count(visit):
            self._keep_to_budget(visit.entry.site)

    def _keep_to_budget(self, site: str) -> None:
        """Limit the requests in flight of a site to the pages it has left; with none left, exclude what waits."""
        left = self._budget.left(site)
        if left:
            self._frontier.limit_site(site, min(left, self._frontier.concurrency))
            return
        waiting = self._frontier.entries.withdraw_site(site)
        while waiting:
            for entry in waiting:
                self.exclude_entry(entry)
            waiting = self._context.store.queue.entries_of(site, REFILL)
