"""The pages of sites that wait until the sitemaps are read which may speak of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracrawl.crawl.visit import SitemapJob


class HeldPages:
    """Counts the sitemaps that are still to be read, by site; after the last one it releases the pages of the site."""

    def __init__(self, release: Callable[[str], None]) -> None:
        """`release` is called with a site whose pages may be fetched."""
        self._release = release
        self._pending: Counter[str] = Counter()
        self._pending_for_all = 0
        self.sites: set[str] = set()
        """Sites whose pages wait in the store."""

    def hold_site(self, site: str) -> bool:
        """Hold the pages of a site if a sitemap that may name them is still to be read; returns whether it is."""
        if not (self._pending[site] or self._pending_for_all):
            return False
        self.sites.add(site)
        return True

    def wait_for(self, job: SitemapJob) -> None:
        """Hold the pages of the sites of a job until its sitemap is read."""
        job.pending = True
        if job.sites is None:
            self._pending_for_all += 1
        else:
            self._pending.update(job.sites)

    def add_sites(self, job: SitemapJob, sites: Iterable[str]) -> None:
        """Hold the pages of further sites too, if any pages wait for this sitemap."""
        if job.pending:
            self._pending.update(sites)

    def stop_waiting(self, job: SitemapJob) -> None:
        """Stop waiting for a sitemap, and release the sites for which it was the last one."""
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
