"""What is known of a source, durable.

`Store` (the interface, made of the parts in `stores.port`), `SqliteStore` (its implementation, also in memory), and
the values that go in and out: `QueueEntry` (a waiting URL), `QueuedUrl` (one that people look at), `QueueStart` (how
the queue of a new run is made), `RunMark` (a run), `StateCounts` (sizes), `Retained` (what documents are kept back
for), `Expiries` and `Unrecorded` (of documents), `LinkTexts` (what links to a document are called), `StoredSite` and
`StoredSitemap` (of sites), `Advice`, `KnownUrl` and `UnseenUrl` (of visits). What the sources of a project know
together of sites is in a
`SiteStore` (`SqliteSiteStore`): `SiteClock`, `LeaseHolder`, `StoredRobots`. The module `control_channel` has the files
by which a running crawl is seen and steered.
"""

from ultracrawl.stores.port.documents import Expiries, Retained, Unrecorded
from ultracrawl.stores.port.links import LinkTexts
from ultracrawl.stores.port.queue import QueuedUrl, QueueEntry, QueueStart
from ultracrawl.stores.port.records import StateCounts
from ultracrawl.stores.port.site_store import LeaseHolder, SiteClock, SiteStore, StoredRobots
from ultracrawl.stores.port.sites import StoredSite, StoredSitemap
from ultracrawl.stores.port.store import RunMark, Store
from ultracrawl.stores.port.visits import Advice, KnownUrl, UnseenUrl
from ultracrawl.stores.sqlite.shared.site_store import SqliteSiteStore
from ultracrawl.stores.sqlite.store import SqliteStore

__all__ = [
    "Advice",
    "Expiries",
    "KnownUrl",
    "LeaseHolder",
    "LinkTexts",
    "QueueEntry",
    "QueueStart",
    "QueuedUrl",
    "Retained",
    "RunMark",
    "SiteClock",
    "SiteStore",
    "SqliteSiteStore",
    "SqliteStore",
    "StateCounts",
    "Store",
    "StoredRobots",
    "StoredSite",
    "StoredSitemap",
    "Unrecorded",
    "UnseenUrl",
]
