"""Scrapy's `SCHEDULER`: links come in as strings, requests go out one at a time when the frontier says so.

`UltracrawlScheduler` (the Scrapy face), `Intake` (what comes in), `Admission` (from a link to a queue entry),
`LinkRewriting` (the source's own rewriter on the way), `Waking` (known URLs that are to be fetched again), `Pacing`
(how requests went, and what of it is kept), `AddressDesk` (addresses of sites), `PageBudget` (pages left of each site),
`Alarm` (its timer), `SitemapGate` (sitemaps, and the pages that wait for them), `CycleEnd` (orphans).
"""

from ultracrawl.scheduler.budget import PageBudget
from ultracrawl.scheduler.candidate_filter import Admission
from ultracrawl.scheduler.rewriting import LinkRewriting
from ultracrawl.scheduler.scheduler import UltracrawlScheduler
from ultracrawl.scheduler.sitemap_barrier import SitemapGate

__all__ = ["Admission", "LinkRewriting", "PageBudget", "SitemapGate", "UltracrawlScheduler"]
