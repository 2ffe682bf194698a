"""The persistent state of sources and projects.

`Store` is the interface of the state of one source, made of the parts in `stores.port`; `SqliteStore` implements it, on
disk or in memory. Its value types: `QueueEntry` (a URL in the queue), `QueuedUrl` (the same for display), `QueueStart`
(how the queue of a new run is filled), `RunMark` (a run), `StateCounts`, `Retained` (why a document is kept back),
`Copy`, `Expiries`, `Unrecorded` (documents), `LinkTexts` (anchor texts), `StoredSite`, `StoredSitemap` (sites),
`Advice`, `KnownUrl` and `UnseenUrl` (visits).

`SiteStore` (`SqliteSiteStore`) holds what all sources of a project share about sites: `SiteClock`, `LeaseHolder`,
`StoredRobots`. The interface `port.notes` has small texts between processes: `control_channel` watches and steers a
running crawl by them.
"""

from typing import TYPE_CHECKING

from ultracrawl.stores.port.documents import Copy, Expiries, Retained, Unrecorded
from ultracrawl.stores.port.links import LOWERED, LinkTexts
from ultracrawl.stores.port.queue import QueuedUrl, QueueEntry, QueueStart
from ultracrawl.stores.port.records import StateCounts
from ultracrawl.stores.port.site_store import LeaseHolder, SiteClock, SiteStore, StoredRobots
from ultracrawl.stores.port.sites import StoredSite, StoredSitemap
from ultracrawl.stores.port.store import RunMark, Store
from ultracrawl.stores.port.visits import Advice, KnownUrl, UnseenUrl

if TYPE_CHECKING:
    from ultracrawl.stores.sqlite.shared import SqliteSiteStore
    from ultracrawl.stores.sqlite.store import SqliteStore

__all__ = [
    "LOWERED",
    "Advice",
    "Copy",
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


def __getattr__(name: str) -> object:
    """Return a store of SQLite: who searches, or crawls with another engine, does not load them."""
    if name == "SqliteSiteStore":
        from ultracrawl.stores.sqlite.shared import SqliteSiteStore  # noqa: PLC0415 - as above

        return SqliteSiteStore
    if name == "SqliteStore":
        from ultracrawl.stores.sqlite.store import SqliteStore  # noqa: PLC0415 - as above

        return SqliteStore
    raise AttributeError(name)
