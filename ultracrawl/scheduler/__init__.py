"""The scheduler: a persistent frontier behind Scrapy's scheduler interface.

`scheduler` has `UltracrawlScheduler`, Scrapy's entry point; `assembly` builds its parts and the port through which the
crawl asks for URLs to be fetched. Four jobs: `ingest` takes in URLs (through `link_urls` and `candidate_filter`;
`recrawl` for known ones), `picking` chooses the next entry, `pacing` updates delays, `leases` shares sites between
crawls. `flight` tracks visits from request to outcome and the pages of their sites, `cycle_end` acts when nothing is
left.

`replay` schedules stored responses in place of requests, `inspection` only the requests of a person who looks at single
pages.
"""

from ultracrawl.scheduler.scheduler import UltracrawlScheduler

__all__ = ["UltracrawlScheduler"]
