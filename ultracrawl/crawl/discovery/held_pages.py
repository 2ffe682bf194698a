"""The pages of sites that wait until the sitemaps are read which may speak of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracrawl.crawl.visit import SitemapJob


class HeldPages:
    """Counts the sitemaps that are still to be read, by site, and lets the pages of a site go after the last one."""

    def __init__(self, release: Callable[[str], None]) -> None:
        """`release` lets the pages of a site out."""
        self._release = release
        self._pending: Counter[str] = Counter()
        self._pending_for_all = 0
        self.sites: set[str] = set()
        """Sites whose pages wait in the store."""

    def hold_site(self, site: str) -> bool:
        """Have the pages of a site wait, if a sitemap is to be read that may name them; returns whether they do."""
        if not (self._pending[site] or self._pending_for_all):
            return False
        self.sites.add(site)
        return True

    def wait_for(self, job: SitemapJob) -> None:
        """Have pages wait for a sitemap."""
        job.pending = True
        if job.sites is None:
            self._pending_for_all += 1
        else:
            self._pending.update(job.sites)

    def add_sites(self, job: SitemapJob, sites: Iterable[str]) -> None:
        """Have the pages of further sites wait for a sitemap, if any wait for it."""
        if job.pending:
            self._pending.update(sites)

    def stop_waiting(self, job: SitemapJob) -> None:
        """Take note that nothing more comes of a sitemap: pages go on whose last one this was."""
        if not job.pending:
            return
        job.pending = False
        if job.sites is None:
            self._pending_for_all -= 1
        else:
            self._pending.subtract(job.sites)
        if self._pending_for_all:
            return
        for site in [site for site in (job.sites or self.sites) if site in self.sites]:
            if not self._pending[site]:
                self.sites.discard(site)
                self._release(site)
