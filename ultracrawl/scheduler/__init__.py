"""The scheduler: a persistent frontier behind Scrapy's scheduler interface.

`scheduler` has `UltracrawlScheduler`, Scrapy's entry point; `assembly` builds its parts. `crawl_queue` is the port
through which URLs come in, `entry_picker` chooses the next entry, `flight` tracks visits from request to outcome,
`budget` counts pages per site, `sitemap_barrier` holds pages back until sitemaps are read, `pacing` updates delays.

`candidates` turns links into queue entries and re-queues known URLs; `leasing` shares sites between crawls. `replay`
schedules stored responses in place of requests, `inspection` only the requests of a person who looks at single pages.
"""

from ultracrawl.scheduler.scheduler import UltracrawlScheduler

__all__ = ["UltracrawlScheduler"]
