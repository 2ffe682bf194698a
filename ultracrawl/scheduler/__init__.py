"""The scheduler: a durable frontier behind Scrapy's scheduler interface.

`UltracrawlScheduler` (the Scrapy face), `LinkIngest` (what comes in), `CandidateFilter` (from a link to a queue entry),
`LinkRewriting` (the source's own rewriter on the way), `RecrawlActivator` (known URLs that are to be fetched again),
`Pacing` (how requests went, and what of it is kept), `AddressResolver` (addresses of sites), `PageBudget` (pages left
of each site), `Alarm` (its timer), `SitemapBarrier` (sitemaps, and the pages that wait for them), `CycleEnd` (orphans).
"""

from ultracrawl.scheduler.budget import PageBudget
from ultracrawl.scheduler.candidate_filter import CandidateFilter
from ultracrawl.scheduler.rewriting import LinkRewriting
from ultracrawl.scheduler.scheduler import UltracrawlScheduler
from ultracrawl.scheduler.sitemap_barrier import SitemapBarrier

__all__ = ["CandidateFilter", "LinkRewriting", "PageBudget", "SitemapBarrier", "UltracrawlScheduler"]
