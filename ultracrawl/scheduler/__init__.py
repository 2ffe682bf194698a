"""Scrapy's `SCHEDULER`: links come in as strings, requests go out one at a time when the frontier says so.

`UltracrawlScheduler` (the Scrapy face), `Admission` (from a link to a queue entry).
"""

from ultracrawl.scheduler.admission import Admission
from ultracrawl.scheduler.scheduler import UltracrawlScheduler

__all__ = ["Admission", "UltracrawlScheduler"]
