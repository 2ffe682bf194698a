"""Scrapy's `SCHEDULER`: links come in as strings, requests go out one at a time when the frontier says so.

`UltracrawlScheduler` (the Scrapy face), `Admission` (from a link to a queue entry), `LinkRewriting` (the source's
own rewriter on the way), `PageBudget` (pages left of each site).
"""

from ultracrawl.scheduler.admission import Admission
from ultracrawl.scheduler.budget import PageBudget
from ultracrawl.scheduler.rewriting import LinkRewriting
from ultracrawl.scheduler.scheduler import UltracrawlScheduler

__all__ = ["Admission", "LinkRewriting", "PageBudget", "UltracrawlScheduler"]
