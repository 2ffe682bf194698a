"""URLs that are fetched again in this run: changed records, and URLs found at a lower depth."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ultracrawl.model import UrlRecord
from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.run import CrawlContext, Visit
from ultracrawl.stores import QueueEntry


class RepeatVisits:
    """Queues URLs again, and knows which pages have to be read in full.

    `place` adds an entry to the frontier; `is_fresh` marks the URL of a key as seen in this cycle, and returns whether
    it was not before.
    """

    def __init__(
        self, context: CrawlContext, place: Callable[[QueueEntry], None], is_fresh: Callable[[int], bool]
    ) -> None:
        self._context = context
        self._place = place
        self._is_fresh = is_fresh
        self._depths: dict[int, int] = {}
        """Lower depths of URLs that were queued or fetched with a greater depth, by key."""
        self._unconditional: set[int] = set()
        self._once_more: set[int] = set()
        """Keys of visits in flight whose record changed after the request was made."""

    def must_fetch(self, key: int) -> bool:
        """Return whether this run has to fetch the URL of a key."""
        return key in self._unconditional or key in self._depths

    def shorter_depth(self, entry: QueueEntry, record: UrlRecord) -> int | None:
        """Return the lower depth that was found while an entry waited, or None; the depth is then forgotten."""
        shorter = self._depths.pop(entry.key, None)
        if shorter is None and record.depth < entry.depth:  # found before the run was interrupted
            return record.depth
        return shorter

    def pop_unconditional(self, key: int) -> bool:
        """Return whether a page has to be read in full; the key is then forgotten."""
        if key not in self._unconditional:
            return False
        self._unconditional.discard(key)
        return True

    def visit_finished(self, visit: Visit) -> None:
        """Queue a URL again whose record changed while it was fetched."""
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
        """Return whether a lister reported a URL as unchanged, so that it is not queued."""
        return self._context.rules.listed and not self._context.store.queue.is_waiting(key)

    def requeue(self, key: int, record: UrlRecord, depth: int) -> None:
        """Queue a known URL for a fetch in full."""
        self._unconditional.add(key)
        state, level = self._context.store, self._context.rules.levels.of(record.url)
        site, seq = site_of(record.url), state.queue.next_seq()
        entry = QueueEntry(key, record.url, site, depth, seq, display_url=record.display_url, level=level)
        state.queue.requeue_url(entry)
        self._place(entry)

    def apply_shorter_routes(self, routes: Iterable[tuple[int, int]]) -> None:
        """Apply lower depths to URLs, given as (key, depth), and store them: a crawl that is killed goes on with them.

        With a depth limit pages that were fetched already are fetched again, because more of their links count
        (Ultra Search 9.5). Elsewhere depth decides nothing, and is corrected without a request at the end of the run.
        """
        limited, counts = self._context.rules.depth_limit is not None, self._context.rules.counts_links
        if not (limited or counts):
            return
        store = self._context.store
        for key, depth in routes:
            visit, record = self._context.visits.get(key), store.records.get_record(key)
            if counts and (visit is not None or (record is not None and record.last_fetched)):
                store.links.note_depth_due(key)
            if limited and visit is None and record is not None and self._was_visited(record):
                if not record.removed:
                    self.requeue(key, record, depth)
                continue
            if record is not None and record.depth > depth:
                store.records.amend_record(key, replace(record, depth=depth))
            if limited:
                self._note_depth(key, depth, in_flight=visit is not None)
            elif visit is not None:
                visit.note_shorter_depth(depth)

    def _note_depth(self, key: int, depth: int, *, in_flight: bool) -> None:
        """Have a URL fetched with a lower depth, once more if it is in flight."""
        self._depths[key] = depth
        if in_flight:
            self._once_more.add(key)
