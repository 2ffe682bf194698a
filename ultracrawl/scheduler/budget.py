"""How many pages a run, and each site in it, may still fetch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ultracrawl.crawl import Visit
from ultracrawl.sources import LimitsSection


class PageBudget:
    """Counts the pages of each site against `limits.pages_per_site` (FAST 5.1 B11).

    A page counts once it was fetched: answered with success, or with 304. Errors and redirects do not count. A run
    that is resumed goes on with what it has fetched.
    """

    def __init__(self, limits: LimitsSection) -> None:
        self.per_site = limits.pages_per_site
        self._fetched: Counter[str] = Counter()

    def resume(self, fetched: Mapping[str, int]) -> None:
        """Take up how many pages of each site the run has fetched before it was interrupted."""
        self._fetched.update(fetched)

    def is_begun(self, site: str) -> bool:
        """Tell whether some of the pages of a site are used up."""
        return self.per_site is not None and self._fetched[site] > 0

    @property
    def rule(self) -> str:
        """The name under which further URLs of a site are turned away."""
        return f"pages_per_site {self.per_site}"

    def left(self, site: str) -> int:
        """Return how many pages of a site may still be fetched; meant for sources with a limit."""
        return max((self.per_site or 0) - self._fetched[site], 0)

    def is_spent(self, site: str) -> bool:
        """Tell whether nothing more of a site may be fetched."""
        return self.per_site is not None and self._fetched[site] >= self.per_site

    def count(self, visit: Visit) -> bool:
        """Count a visit that ended; True if it used up a page of a limited site."""
        if self.per_site is None or visit.sitemap or not (200 <= visit.status < 300 or visit.status == 304):
            return False
        self._fetched[visit.entry.site] += 1
        return True
