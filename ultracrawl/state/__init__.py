"""The document table and the queue of a source, durable.

`StateStore` (the interface), `SqliteState` (its implementation, also in memory), `QueueEntry` (a waiting
URL), `RunMark` (a run), `StateCounts` (sizes), `SitemapStore` (the part about sitemaps), `StoredSitemap` (one of
them), `PendingStore` (documents that wait for an approval).
"""

from ultracrawl.state.pending_table import PendingStore
from ultracrawl.state.sitemap_table import SitemapStore, StoredSitemap
from ultracrawl.state.sqlite import SqliteState
from ultracrawl.state.store import QueueEntry, RunMark, StateCounts, StateStore

__all__ = [
    "PendingStore",
    "QueueEntry",
    "RunMark",
    "SitemapStore",
    "SqliteState",
    "StateCounts",
    "StateStore",
    "StoredSitemap",
]
