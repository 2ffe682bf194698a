"""The page budget per site of a run (`limits.pages_per_site`), and the exclusion of URLs beyond it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Mapping

from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.run import CrawlContext, Visit
from ultracrawl.sources import LimitsSection
from ultracrawl.stores import QueueEntry

EXCLUSION_BATCH = 2000
"""Entries of a site that are excluded per batch."""


class PageBudget:
    """Counts the fetched pages of each site against `limits.pages_per_site` (FAST 5.1 B11).

    A page counts if the response was a success or 304; errors and redirects do not count. A resumed run includes the
    pages that it fetched before the interruption.
    """

    def __init__(self, limits: LimitsSection) -> None:
        self.per_site = limits.pages_per_site
        self._fetched: Counter[str] = Counter()

    def resume(self, fetched: Mapping[str, int]) -> None:
        """Add the pages per site that this run fetched before it was interrupted."""
        self._fetched.update(fetched)

    def is_begun(self, site: str) -> bool:
        """Return whether the site has a limit and some of its pages are used up."""
        return self.per_site is not None and self._fetched[site] > 0

    @property
    def rule(self) -> str:
        """The exclusion rule under which further URLs of a site are counted."""
        return f"pages_per_site {self.per_site}"

    def left(self, site: str) -> int:
        """Return how many pages of a site may still be fetched; only meaningful for sources with a limit."""
        return max((self.per_site or 0) - self._fetched[site], 0)

    def is_spent(self, site: str) -> bool:
        """Return whether all pages of a site are used up."""
        return self.per_site is not None and self._fetched[site] >= self.per_site

    def count(self, visit: Visit) -> bool:
        """Count a finished visit; returns whether it used up a page of a limited site."""
        if (
            self.per_site is None
            or visit.sitemap
            or not (200 <= visit.fetch.status < 300 or visit.fetch.status == 304)
        ):
            return False
        self._fetched[visit.entry.site] += 1
        return True


class EntryGate:
    """Adds entries to the frontier while their site has pages left; the others end without a request.

    `retries` holds visits that wait for another attempt, by key; `held` the sites whose pages wait for their sitemaps.
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
        self.holds_places_until_end = self._budget.per_site is not None
        """Whether a visit keeps its place at the site until it ends, because pages are counted at the end."""

    def load_stored_queue(self) -> None:
        """Add every site with stored entries to the frontier, except those that used up their pages before a resume."""
        store = self._context.store
        if self._context.counters.resumed and self._budget.per_site is not None:
            self._budget.resume(store.visits.fetched_since(self._context.mark.started))
        for site, _ in store.queue.waiting_sites():
            if self._budget.is_begun(site):
                self._keep_to_budget(site)
            if not self._budget.is_spent(site):
                self._frontier.mark_stored(site)

    def add_entry(self, entry: QueueEntry) -> None:
        """Add a newly admitted entry to the frontier."""
        if self._count_and_check(entry):
            self._frontier.add_entry(entry)

    def leave_in_store(self, entry: QueueEntry) -> None:
        """Leave an entry in the store: it is read later by rank, and checked against sitemap dates."""
        if self._count_and_check(entry):
            self._frontier.mark_stored(entry.site)

    def _count_and_check(self, entry: QueueEntry) -> bool:
        """Count an entry; returns whether it may go on now. Ends it if its site has used up its pages."""
        self._context.counters.count_scheduled()
        spent = self._budget.is_spent(entry.site)
        if spent:
            self.exclude_entry(entry)
        return not spent and entry.site not in self._held

    def add_sitemap(self, entry: QueueEntry) -> bool:
        """Put a sitemap ahead of the pages of its site; returns False if nothing more of the site may be fetched."""
        if self.is_finished(entry.site):
            self._abandon(entry.key)
            return False
        self._frontier.add_first(entry)
        return True

    def exclude_entry(self, entry: QueueEntry) -> None:
        """End a waiting entry without a request because its site has used up its pages."""
        self._retries.pop(entry.key, None)
        if not entry.seq:
            self._abandon(entry.key)
            return
        self._context.endings.exclude_queued(entry, self._budget.rule)

    def is_finished(self, site: str) -> bool:
        """Return whether nothing more of a site may be fetched: its budget is spent, or it was given up."""
        return self._budget.is_spent(site) or site in self._frontier.given_up

    def count_page(self, visit: Visit) -> None:
        """Count the page of a finished visit."""
        if self._budget.count(visit):
            self._keep_to_budget(visit.entry.site)

    def _keep_to_budget(self, site: str) -> None:
        """Limit the concurrency of a site to its remaining pages; with none left, exclude its waiting entries."""
        left = self._budget.left(site)
        if left:
            self._frontier.limit_site(site, min(left, self._frontier.concurrency))
            return
        waiting = self._frontier.withdraw_site(site)
        while waiting:
            for entry in waiting:
                self.exclude_entry(entry)
            waiting = self._context.store.queue.entries_of(site, EXCLUSION_BATCH)
