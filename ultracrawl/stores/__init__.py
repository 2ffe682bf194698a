"""The persistent state of sources and projects.

`Store` is the interface of the state of one source, made of the parts in `stores.port`; `SqliteStore` implements it, on
disk or in memory. Its value types: `QueueEntry` (a URL in the queue), `QueuedUrl` (the same for display), `QueueStart`
(how the queue of a new run is filled), `RunMark` (a run), `StateCounts`, `Retained` (why a document is kept back),
`Copy`, `Expiries`, `Unrecorded` (documents), `LinkTexts` (anchor texts), `StoredSite`, `StoredSitemap` (sites),
`Advice`, `KnownUrl` and `UnseenUrl` (visits).

`SiteStore` (`SqliteSiteStore`) holds what all sources of a project share about sites: `SiteClock`, `LeaseHolder`,
`StoredRobots`. The interface `port.notes` has small texts between processes: `control_channel` watches and steers a
running crawl by them.

The names are imported on first use: who searches, or crawls with another engine, does not load SQLite.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
