"""The document table and the queue of a source, durable.

`StateStore` (the interface), `SqliteState` (its implementation, also in memory), `QueueEntry` (a waiting
URL), `RunMark` (a run), `StateCounts` (sizes), `SitemapStore` (the part about sitemaps), `StoredSitemap` (one of
them), `SiteStore` (the part about sites), `StoredSite` (one of them).
"""

from ultracrawl.state.site_table import SiteStore, StoredSite
from ultracrawl.state.sitemap_table import SitemapStore, StoredSitemap
from ultracrawl.state.sqlite import SqliteState
from ultracrawl.state.store import QueueEntry, RunMark, StateCounts, StateStore

__all__ = [
    "QueueEntry",
    "RunMark",
    "SiteStore",
    "SitemapStore",
    "SqliteState",
    "StateCounts",
    "StateStore",
    "StoredSite",
    "StoredSitemap",
]
