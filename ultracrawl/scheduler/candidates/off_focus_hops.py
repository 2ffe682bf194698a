"""Counts the hops through documents in other languages that lead to a URL (FAST 5.18)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ultracrawl.model.record_changes import without_validators
from ultracrawl.rules.boundary.focus import NO_LINKS

if TYPE_CHECKING:
    from ultracrawl.crawl import CrawlContext
    from ultracrawl.model import UrlRecord

Requeue = Callable[[int, "UrlRecord", int], None]
"""Has a URL (key, record, depth) that was visited in this run fetched once more."""


class OffFocusHops:
    """Keeps the smallest number of hops for each URL; a page that turns out to be nearer is scanned again.

    Costs a query for each page of a focused source, and nothing for others.
    """

    def __init__(self, context: CrawlContext, requeue: Requeue) -> None:
        self._context = context
        self._requeue = requeue
        self.on = context.rules.focus is not None

    def note(self, hops: int, new: Iterable[int], inside: Iterable[int]) -> None:
        """Store the hops of links: `new` are the keys of new URLs, `inside` those of all accepted links."""
        if not self.on or hops == NO_LINKS:
            return
        found = set(new)
        store = self._context.store.queue
        if hops:
            for key in found:
                store.put_hops(key, hops)
        for key, before in store.hops_to([key for key in inside if key not in found]).items():
            if hops < before:
                store.put_hops(key, hops)
                self._come_nearer(key)

    def pass_on(self, key: int, target: int, *, new: bool) -> None:
        """Give the target of a redirect the hops of the URL that leads there."""
        if self.on:
            hops = self._context.store.queue.hops_to([key]).get(key, 0)
            self.note(hops, [target] if new else [], [target])

    def _come_nearer(self, key: int) -> None:
        """Fetch a page again whose links were stored with too many hops; a page in a kept language needs none."""
        state = self._context.store
        record = state.records.get_record(key)
        if record is None or record.retained or record.removed or not record.last_fetched:
            return
        if key in self._context.visits:
            return
        unread = without_validators(record)
        state.records.amend_record(key, unread)
        if record.last_fetched >= self._context.mark.started:
            self._requeue(key, unread, record.depth)
