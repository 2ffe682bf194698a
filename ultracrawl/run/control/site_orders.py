"""Follows the orders of a person about URLs and sites, left before the crawl or while it runs (FAST `crawleradmin`)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ultracrawl.model.record_changes import restored
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.control.orders import ORDER_POLL_TICKS
from ultracrawl.run.hooks import Feature
from ultracrawl.stores.project_stores import source_notes
from ultracrawl.stores.site_orders import SITE_ORDERS, SiteAction, SiteOrder, taking_site_orders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ultracrawl.model import UrlRecord
    from ultracrawl.run.context import CrawlContext

logger = logging.getLogger(__name__)


class SiteOrders(Feature):
    """Adds, fetches and deletes URLs in the running crawl, and leaves sites alone for a time.

    Orders are looked for once a second, in a note of the source; there are none if the state is in memory. `decide`
    carries out an order about what the guards hold back.
    """

    def __init__(self, context: CrawlContext, decide: Callable[[SiteOrder], None]) -> None:
        self._context = context
        self._decide = decide
        self._notes = source_notes(context.project, context.source.name)
        self._seen: bytes | None = None
        """The note when its orders were last followed."""
        self._ticks = 0
        self._deleting: set[int] = set()
        """Keys of URLs to delete whose visits are in flight."""

    def queue_opened(self) -> None:
        """Follow the orders that were left since the last crawl, and those that still hold."""
        self._follow(begins=True)

    def tick(self) -> None:
        """Follow new orders."""
        self._ticks += 1
        if self._ticks % ORDER_POLL_TICKS == 0:
            self._follow()
        if self._deleting:
            self._delete_finished()

    def _follow(self, *, begins: bool = False) -> None:
        if self._notes is None or (text := self._notes.read(SITE_ORDERS)) == self._seen:
            return
        self._seen = text
        with taking_site_orders(self._notes, self._context.clock(), begins=begins) as orders:
            for order in orders:
                logger.info("%s: received %s %s", self._context.source.name, order.action, order.place)
                self._carry_out(order)
            if orders:
                self._context.flush()  # an order is kept until what it has changed is durable

    def _carry_out(self, order: SiteOrder) -> None:
        queue = self._context.queue
        match order.action:
            case SiteAction.ADD:
                self._add(order.place)
            case SiteAction.REFETCH:
                queue.fetch_now([record for record in self._chosen(order) if not record.removed])
            case SiteAction.DELETE:
                self._delete([url_key(record.url) for record in self._chosen(order)])
            case SiteAction.RESTORE:
                self._restore([record for record in self._chosen(order) if record.removed])
            case SiteAction.APPROVE:
                keys = [url_key(record.url) for record in self._chosen(order) if record.pending]
                wanted = frozenset(order.keys)
                self._approve([key for key in keys if key in wanted] if wanted else keys)
            case (
                SiteAction.DELETE_HELD | SiteAction.KEEP_HELD | SiteAction.ACCEPT_HELD | SiteAction.DROP_HELD
            ):
                self._decide(order)
                self._update_visits(order.keys)
            case SiteAction.QUARANTINE:
                left = order.until - self._context.clock()
                if left > 0:
                    queue.hold_site(order.place, left, "an order holds it back")
                else:
                    queue.end_hold(order.place)
            case SiteAction.BLACKLIST if order.until > self._context.clock():
                queue.leave_out(order.place)
            case SiteAction.BLACKLIST:
                queue.readmit(order.place)

    def _add(self, url: str) -> None:
        """Queue a URL as a start URL; a known one is fetched in this run, also if it was deleted before."""
        store = self._context.store.records
        canonical = self._context.rules.url_policy.canonical(url)
        record = store.get_record(url_key(canonical)) if canonical else None
        if record is None:
            self._context.queue.seed([url])
            return
        if record.removed:
            self._restore([record])
        else:
            self._context.queue.fetch_now([record])

    def _restore(self, gone: list[UrlRecord]) -> None:
        """Fetch URLs in this run that were deleted, as if they were new."""
        records = [restored(record) for record in gone]
        for record in records:
            self._context.store.records.amend_record(url_key(record.url), record)
        self._context.queue.fetch_now(records)

    def _approve(self, keys: list[int]) -> None:
        """Submit documents that wait for approval to the index."""
        context = self._context
        context.flush()  # what the approval makes durable is durable by itself
        context.documents.approve(keys)
        self._update_visits(keys)

    def _update_visits(self, keys: Iterable[int]) -> None:
        """Pass the changed records of URLs to those of their visits that are in flight."""
        context = self._context
        for key in context.visits.keys() & set(keys):
            if (record := context.store.records.get_record(key)) is not None:
                context.queue.update_record(record)

    def _chosen(self, order: SiteOrder) -> list[UrlRecord]:
        """Return the known URLs that an order is about."""
        selects = order.test(self._context.rules.url_policy.canonical)
        records = self._context.store.records.all_records()
        return [record for record in records if selects(record.url) or selects(record.shown_url)]

    def _delete(self, keys: list[int]) -> None:
        visits = self._context.visits
        self._deleting.update(key for key in keys if key in visits)
        idle = [key for key in keys if key not in visits]
        self._context.queue.withdraw(idle)
        self._context.documents.delete(idle)

    def _delete_finished(self) -> None:
        """Delete URLs whose visits have ended."""
        ended = [key for key in self._deleting if key not in self._context.visits]
        self._deleting.difference_update(ended)
        if ended:
            self._delete(ended)
