"""The document table and the queue of a source, durable.

`StateStore` (the interface), `SqliteState` (its implementation, also in memory), `QueueEntry` (a waiting
URL), `RunMark` (a run), `StateCounts` (sizes), `QueueOutlook` with `OutlookUrl` (the queue for people who look at
it), `QueueStart` (how the queue of a new run is made). Parts of a store: `SitemapStore` (sitemaps; `StoredSitemap` is
one), `PendingStore` (documents that wait for an approval), `DetourStore` (hops of focused crawling), `FailureStore`
(errors by URL and rule), `RevisitStore` (visits over time; `Advice` goes in, `KnownUrl` and `UnseenUrl` are its
answers), `SiteStore` (what is remembered of sites; `StoredSite` is one), `RobotsStore` (robots.txt as it came;
`StoredRobots` is one), `AllowanceStore` (shares of new URLs
in a minor cycle). The module `control` has the files by which a running crawl is seen and steered.
"""

from ultracrawl.stores.sqlite.cycle_start import QueueStart
from ultracrawl.stores.sqlite.parts.allowance_table import AllowanceStore
from ultracrawl.stores.sqlite.parts.detour_table import DetourStore
from ultracrawl.stores.sqlite.parts.failure_table import FailureStore
from ultracrawl.stores.sqlite.parts.pending_table import PendingStore
from ultracrawl.stores.sqlite.parts.revisit_table import Advice, KnownUrl, RevisitStore, UnseenUrl
from ultracrawl.stores.sqlite.parts.robots_table import RobotsStore, StoredRobots
from ultracrawl.stores.sqlite.parts.site_table import SiteStore, StoredSite
from ultracrawl.stores.sqlite.parts.sitemap_table import SitemapStore, StoredSitemap
from ultracrawl.stores.sqlite.queue_view import OutlookUrl, QueueOutlook
from ultracrawl.stores.sqlite.store import SqliteState
from ultracrawl.stores.store import QueueEntry, RunMark, StateCounts, StateStore

__all__ = [
    "Advice",
    "AllowanceStore",
    "DetourStore",
    "FailureStore",
    "KnownUrl",
    "OutlookUrl",
    "PendingStore",
    "QueueEntry",
    "QueueOutlook",
    "QueueStart",
    "RevisitStore",
    "RobotsStore",
    "RunMark",
    "SiteStore",
    "SitemapStore",
    "SqliteState",
    "StateCounts",
    "StateStore",
    "StoredRobots",
    "StoredSite",
    "StoredSitemap",
    "UnseenUrl",
]
