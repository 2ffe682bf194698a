"""Sites whose pages wait until the sitemaps that may list them are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracrawl.run.visit import SitemapJob


class HeldPages:
    """Counts the unread sitemaps of each site; after the last one, the pages of the site are released."""

    def __init__(self, release: Callable[[str], None]) -> None:
        """Initialise; `release` is called with a site whose pages may be fetched."""
        self._release = release
        self._pending: Counter[str] = Counter()
        self._pending_for_all = 0
        self.sites: set[str] = set()
        """Sites whose pages wait in the store."""

    def hold_site(self, site: str) -> bool:
        """Hold the pages of a site if a sitemap that may list them is still unread; returns whether there is one."""
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
        """Hold the pages of further sites, if the sitemap is still pending."""
        if job.pending:
            self._pending.update(sites)

    def stop_waiting(self, job: SitemapJob) -> None:
        """Stop waiting for a sitemap, and release the sites that wait for no other one."""
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
