"""URLs that have to be fetched in this run whatever is known of them: changed records, and shorter routes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ultracrawl.crawl import CrawlContext, Visit
from ultracrawl.model import UrlRecord
from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.stores import QueueEntry


class RepeatVisits:
    """Queues URLs once more, and knows of which pages the whole content is wanted.

    `place` takes an entry that is to be asked for; `is_fresh` tells of a key whether nothing led to the URL in this
    cycle yet, which counts as the first time then.
    """

    def __init__(
        self, context: CrawlContext, place: Callable[[QueueEntry], None], is_fresh: Callable[[int], bool]
    ) -> None:
        self._context = context
        self._place = place
        self._is_fresh = is_fresh
        self._depths: dict[int, int] = {}
        """Depths by shorter routes than those that URLs were queued with."""
        self._unconditional: set[int] = set()
        self._once_more: set[int] = set()
        """Keys in flight whose record was changed after their request went out."""

    def must_ask(self, key: int) -> bool:
        """Whether the URL of a key has to be fetched, for reasons of this run."""
        return key in self._unconditional or key in self._depths

    def shorter_depth(self, entry: QueueEntry, record: UrlRecord) -> int | None:
        """Return the depth of an entry that goes out by a shorter route that turned up while it waited, if one did."""
        shorter = self._depths.pop(entry.key, None)
        if shorter is None and record.depth < entry.depth:  # found before the run was interrupted
            return record.depth
        return shorter

    def pop_unconditional(self, key: int) -> bool:
        """Return whether a page that goes out has to be read in full, and forget it."""
        if key not in self._unconditional:
            return False
        self._unconditional.discard(key)
        return True

    def visit_finished(self, visit: Visit) -> None:
        """Queue a URL once more whose record was changed while it was fetched."""
        if visit.entry.key in self._once_more:
            self._once_more.discard(visit.entry.key)
            depth = self._depths.pop(visit.entry.key, visit.depth)
            self.requeue(visit.entry.key, visit.record, min(depth, visit.depth))

    def fetch_again(self, record: UrlRecord) -> None:
        """Fetch the page of a changed record in this run, even if it was fetched before."""
        if record.removed:
            return
        key = url_key(record.url)
        visit = self._context.visits.get(key)
        if visit is not None:
            visit.replace_record(record)
            visit.replace_display_url(record.display_url)
            self._once_more.add(key)
        elif self._was_visited(record) or self._is_fresh(key) or self._was_vouched_for(key):
            self.requeue(key, record, record.depth)

    def _was_visited(self, record: UrlRecord) -> bool:
        return record.last_fetched >= self._context.mark.started

    def _was_vouched_for(self, key: int) -> bool:
        """Whether a lister said of a URL that it is as it was, so that it waits for no visit."""
        return self._context.rules.listed and not self._context.store.queue.is_waiting(key)

    def requeue(self, key: int, record: UrlRecord, depth: int) -> None:
        """Have a known URL fetched, and its page read in full."""
        self._unconditional.add(key)
        state, level = self._context.store, self._context.rules.levels.of(record.url)
        site, seq = site_of(record.url), state.queue.next_seq()
        entry = QueueEntry(key, record.url, site, depth, seq, display_url=record.display_url, level=level)
        state.queue.requeue_url(entry)
        self._place(entry)

    def take_shorter_routes(self, shorter: Iterable[tuple[int, int]]) -> None:
        """Lower the depth of URLs (by key) to which a shorter route was found; pages already scanned are fetched again.

        Only where the source has a depth limit: elsewhere depth decides nothing (Ultra Search 9.5).
        """
        if self._context.rules.depth_limit is None:
            return
        for key, depth in shorter:
            record = self._context.store.records.get_record(key)
            if key in self._context.visits:
                self._depths[key] = depth
                self._once_more.add(key)
            elif record is None or not self._was_visited(record):
                self._depths[key] = depth
                if record is not None:
                    self._context.store.records.amend_record(key, replace(record, depth=depth))
            elif not record.removed:
                self.requeue(key, record, depth)
