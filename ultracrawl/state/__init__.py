"""The document table and the queue of a source, durable.

`StateStore` (the interface), `SqliteState` (its implementation, also in memory), `QueueEntry` (a waiting
URL), `RunMark` (a run), `StateCounts` (sizes), `SitemapStore` (the part about sitemaps), `StoredSitemap` (one of
them), `PendingStore` (documents that wait for an approval), `DetourStore` (hops of
focused crawling). The module `control` has the files by which a running crawl is seen and steered.
"""

from ultracrawl.state.detour_table import DetourStore
from ultracrawl.state.pending_table import PendingStore
from ultracrawl.state.sitemap_table import SitemapStore, StoredSitemap
from ultracrawl.state.sqlite import SqliteState
from ultracrawl.state.store import QueueEntry, RunMark, StateCounts, StateStore

__all__ = [
    "DetourStore",
    "PendingStore",
    "QueueEntry",
    "RunMark",
    "SitemapStore",
    "SqliteState",
    "StateCounts",
    "StateStore",
    "StoredSitemap",
]
