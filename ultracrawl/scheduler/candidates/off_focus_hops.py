"""Counts off-focus hops: documents in other languages on the way to a URL (FAST 5.18)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ultracrawl.model.record_changes import without_validators
from ultracrawl.rules.boundary.focus import NO_LINKS

if TYPE_CHECKING:
    from ultracrawl.model import UrlRecord
    from ultracrawl.run import CrawlContext

Requeue = Callable[[int, "UrlRecord", int], None]
"""Queues a URL (key, record, depth) that was visited in this run for another fetch."""


class OffFocusHops:
    """Stores the smallest number of hops of each URL; a page that gets fewer hops is fetched again for its links.

    Costs a query per page of a focused source, and nothing for others.
    """

    def __init__(self, context: CrawlContext, requeue: Requeue) -> None:
        self._context = context
        self._requeue = requeue
        self.on = context.rules.focus is not None

    def note(self, hops: int, new: Iterable[int], inside: Iterable[int]) -> None:
        """Store the hops of links: `new` has the keys of new URLs, `inside` those of all accepted links."""
        if not self.on or hops == NO_LINKS:
            return
        new_keys = set(new)
        store = self._context.store.queue
        if hops:
            for key in new_keys:
                store.put_hops(key, hops)
        for key, before in store.hops_to([key for key in inside if key not in new_keys]).items():
            if hops < before:
                store.put_hops(key, hops)
                self._fetch_again(key)

    def pass_on(self, key: int, target: int, *, new: bool) -> None:
        """Give the target of a redirect the hops of the redirecting URL."""
        if self.on:
            hops = self._context.store.queue.hops_to([key]).get(key, 0)
            self.note(hops, [target] if new else [], [target])

    def _fetch_again(self, key: int) -> None:
        """Fetch a page in full again because its links were stored with too many hops.

        A page with a document in the index is in a kept language, and needs no other fetch.
        """
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
