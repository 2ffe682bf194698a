"""The tables of a store that are parts of their own, beside those of documents, queue and runs."""

from __future__ import annotations

from collections.abc import Callable
from sqlite3 import Connection
from typing import Any

from ultracrawl.stores.sqlite.parts.allowance_table import AllowanceTable
from ultracrawl.stores.sqlite.parts.anchor_table import AnchorTable
from ultracrawl.stores.sqlite.parts.detour_table import DetourTable
from ultracrawl.stores.sqlite.parts.expiry_table import ExpiryTable
from ultracrawl.stores.sqlite.parts.failure_table import FailureTable
from ultracrawl.stores.sqlite.parts.feed_table import FeedTable
from ultracrawl.stores.sqlite.parts.near_table import NearTable
from ultracrawl.stores.sqlite.parts.pending_table import PendingTable
from ultracrawl.stores.sqlite.parts.revisit_table import RevisitTable
from ultracrawl.stores.sqlite.parts.robots_table import RobotsTable
from ultracrawl.stores.sqlite.parts.site_table import SiteTable
from ultracrawl.stores.sqlite.parts.sitemap_table import SitemapTable
from ultracrawl.stores.sqlite.queue_view import SqliteOutlook


class StateTables:
    """What `SqliteState` has of tables: each takes note of changes, and writes them when the store is flushed."""

    def __init__(self, db: Connection, read: Callable[..., list[Any]], flush: Callable[[], None]) -> None:
        """`read` answers queries, `flush` makes everything said so far durable."""
        self.sitemaps = SitemapTable(db, read)
        self.pending = PendingTable(db, read)
        self.detours = DetourTable(db, read)
        self.failures = FailureTable(db, read)
        self.revisits = RevisitTable(db, read)
        self.sites = SiteTable(db, read, flush)
        self.robots = RobotsTable(db, read)
        self.expiry = ExpiryTable(db, read)
        self.allowances = AllowanceTable(db, read)
        self.feeds = FeedTable(db, read)
        self.near = NearTable(db, read)
        self.successors = PendingTable(db, read, "successor")
        self.told = PendingTable(db, read, "told")
        self.told_lists = PendingTable(db, read, "told_lists")
        self.anchors = AnchorTable(db, read)
        self.outlook = SqliteOutlook(read)
        self._of_urls = (
            self.told,
            self.told_lists,
            self.sitemaps,
            self.pending,
            self.successors,
            self.detours,
            self.failures,
            self.feeds,
        )
        self._parts = (
            *self._of_urls,
            self.revisits,
            self.sites,
            self.robots,
            self.expiry,
            self.near,
            self.allowances,
            self.anchors,
        )

    def _forget_dropped(self) -> None:
        """Forget what is said of URLs that have left the document table; part of a transaction."""
        for part in self._of_urls:
            part.forget_dropped()
