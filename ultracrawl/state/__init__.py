"""The document table and the queue of a source, durable.

`StateStore` (the interface), `SqliteState` (its implementation, also in memory), `QueueEntry` (a waiting
URL), `RunMark` (a run), `StateCounts` (sizes), `SitemapStore` (the part about sitemaps), `StoredSitemap` (one of
them), `RevisitStore` (the part about visits over time), `KnownUrl` and `UnseenUrl` (its answers), `QueueOutlook` with
`OutlookUrl` (the queue for people who look at it).
"""

from ultracrawl.state.outlook import OutlookUrl, QueueOutlook
from ultracrawl.state.revisit_table import KnownUrl, RevisitStore, UnseenUrl
from ultracrawl.state.sitemap_table import SitemapStore, StoredSitemap
from ultracrawl.state.sqlite import SqliteState
from ultracrawl.state.store import QueueEntry, RunMark, StateCounts, StateStore

__all__ = [
    "KnownUrl",
    "OutlookUrl",
    "QueueEntry",
    "QueueOutlook",
    "RevisitStore",
    "RunMark",
    "SitemapStore",
    "SqliteState",
    "StateCounts",
    "StateStore",
    "StoredSitemap",
    "UnseenUrl",
]
