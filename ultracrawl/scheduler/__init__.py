"""The scheduler: a durable frontier behind Scrapy's scheduler interface.

`UltracrawlScheduler` (the Scrapy face), made of the parts that `assembly` names: `CrawlQueue` (the port through which
things come in), `EntryPicker` (what goes out next), `VisitsInFlight` (what is out, or waits to be tried again),
`EntryGate` and `PageBudget` (pages left of each site), `SitemapBarrier` (pages that wait for sitemaps), `Pacing` (how
requests went, and what of it is kept), `RequestFactory`, `AddressResolver`, `Alarm` (its timer), `CycleEnd` (orphans).
The room `candidates` takes in what is found: `LinkIngest`, `LinkUrls`, `CandidateFilter` (from link to queue entry),
`LinkRewriting`, `OffFocusHops`, `RecrawlActivator` and `RepeatVisits` (known URLs that are to be fetched again).
`ReplayScheduler` hands out stored answers instead.
"""

from ultracrawl.scheduler.scheduler import UltracrawlScheduler

__all__ = ["UltracrawlScheduler"]
