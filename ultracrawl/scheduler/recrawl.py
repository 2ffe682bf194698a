"""Known URLs that are fetched in this run: those that something links to, changed records, shorter routes."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from ultracrawl.model import UrlRecord
from ultracrawl.rules.recrawl.cycle import RefreshMode
from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.run import CrawlContext, Visit
from ultracrawl.run.hooks import Feature
from ultracrawl.scheduler.candidate_filter import CandidateFilter
from ultracrawl.stores import KnownUrl, QueueEntry


class RecrawlActivator(Feature):
    """Queues known URLs when a page, a redirect or a sitemap of this cycle leads to them.

    An unchanged page counts as leading to its stored links, so that their targets are requested and stay seen although
    the page was not read again (a 304 keeps its children alive). In mode `known` there is nothing to do: all known
    URLs are in the queue. In mode `adaptive` URLs are only marked as seen; start URLs are queued in the first minor
    cycle. `enqueue` takes an entry that is in the store only; `expect` a site that may get one; `is_sitemap` returns
    whether this run reads the URL of a key as a sitemap.
    """

    def __init__(
        self,
        context: CrawlContext,
        candidates: CandidateFilter,
        enqueue: Callable[[QueueEntry], None],
        expect: Callable[[str], None],
        is_sitemap: Callable[[int], bool],
    ) -> None:
        self._context = context
        self._candidates = candidates
        self.enqueue = enqueue
        """Takes an entry that is read from the store later."""
        self._expect = expect
        self._is_sitemap = is_sitemap
        self._mode = RefreshMode(context.mark.mode)
        self._left_over_sites = frozenset[str]()
        """Sites that continue with the queue of the previous cycle."""
        self._vouched_links: list[tuple[bytes, str]] = []
        """Stored links of pages, with their sites."""
        if self._mode is RefreshMode.SOFT:
            self._left_over_sites = frozenset(context.store.queue.sites_with_leftovers())

    @property
    def on(self) -> bool:
        """Whether this run tracks which known URLs something leads to; not in mode `known`."""
        return self._mode is not RefreshMode.KNOWN

    @property
    def requests_linked(self) -> bool:
        """Whether known URLs are requested only when something leads to them."""
        return self._mode.requests_known_when_linked

    def note_linked(self, keys: Iterable[int]) -> None:
        """Mark known URLs as seen in this cycle; queue those that were not seen before."""
        if self.requests_linked:
            self._queue_fresh(self._context.store.visits.note_met(keys))
        else:
            self._context.store.visits.note_seen(keys)

    def note_late(self, key: int, site: str) -> int:
        """Note a link to a URL that is looked up later; returns the place in the queue that it may need by then.

        The site has an entry in the store, as far as the frontier knows: before that is read, the URL is looked up, and
        what comes meanwhile waits there, too.
        """
        if not self.requests_linked:
            self._context.store.visits.note_seen((key,))
            return 0
        self._expect(site)
        return self._context.store.queue.next_seq()

    def look_up_late(self) -> dict[int, tuple[str, int]]:
        """Look up the links that wait, and queue what was not seen in this cycle; returns (url, depth) by key."""
        late, visits = self._candidates.late, self._context.store.visits
        keys = list(late)
        unflushed = self._context.store.records.known_in_memory(keys)
        found = visits.linked_urls(keys)
        own = {key: one for key, one in found.items() if late[key].url in (one.known.url, "")}
        visits.note_seen(own)
        self._queue_fresh(
            (own[key].known for key in keys if key in own and own[key].is_first),
            {key: late[key].seq for key in own},
        )
        known = {key: (one.known.url, one.known.depth) for key, one in found.items()}
        return known if unflushed is None else known | unflushed.known

    def is_fresh(self, key: int) -> bool:
        """Mark a known URL as seen; returns whether it neither waits nor was fetched in this cycle."""
        return self.on and bool(self._context.store.visits.note_met((key,)))

    def meet_seeds(self, keys: Sequence[int]) -> dict[int, KnownUrl]:
        """Mark known start URLs as seen in this cycle; returns those that are to be queued for it, by key."""
        fresh = self._context.store.visits.note_met(keys) if self.on and keys else []
        is_minor = self._mode is RefreshMode.ADAPTIVE and self._context.mark.minor
        return {} if is_minor else {known.key: known for known in fresh}

    def queue_known_seed(self, seed: KnownUrl) -> bool:
        """Queue a known start URL for this cycle; returns whether it was queued."""
        return self._queue_fresh((seed,))

    def _queue_fresh(self, fresh: Iterable[KnownUrl], places: Mapping[int, int] | None = None) -> bool:
        queued = False
        for known in fresh:
            if known.site in self._left_over_sites or self._is_sitemap(known.key):
                continue
            self.queue_known(known, places[known.key] if places else 0)
            queued = True
        return queued

    def queue_known(self, known: KnownUrl, seq: int = 0) -> None:
        """Queue a known URL for this cycle, at a place that was kept for it if there is one."""
        seq = seq or self._context.store.queue.next_seq()
        level = self._context.rules.levels.of(known.url)
        entry = QueueEntry(
            known.key, known.url, known.site, known.depth, seq, display_url=known.display_url, level=level
        )
        self._context.store.queue.requeue_url(entry)
        self.enqueue(entry)

    def queue_orphan(self, key: int) -> None:
        """Queue a known URL that nothing leads to, so that the server's response decides about it."""
        record = self._context.store.records.get_record(key)
        if record is None:
            return
        self._context.store.visits.note_seen((key,))
        site = site_of(record.url)
        self.queue_known(KnownUrl(key, record.url, site, record.depth, record.display_url))

    def visit_ended(self, visit: Visit) -> None:
        """Treat the stored links of an unchanged page as seen in this cycle."""
        if not self.on or visit.outcome is None or not (visit.outcome.unchanged or visit.fetch.status == 304):
            return
        if visit.sitemap is None or not self._is_index(visit.entry.key):
            self._reassert(visit.links or visit.record.links, visit.entry.site)

    def unchanged_skipped(self, record: UrlRecord) -> None:
        """Note the stored links of a page that a sitemap reports as unchanged, for the next `catch_up`."""
        if self.on and record.links and not self._is_index(url_key(record.url)):
            self._vouched_links.append((record.links, site_of(record.url)))

    def catch_up(self) -> None:
        """Treat the links of skipped pages as seen; separate because nothing may be queued during a refill."""
        while self._vouched_links:
            self._reassert(*self._vouched_links.pop())

    def _is_index(self, key: int) -> bool:
        stored = self._context.store.sites.get_sitemap(key)
        return stored is not None and stored.is_index

    def _reassert(self, links: bytes, site: str) -> None:
        """Treat the stored links of a page of a site as seen; most of them are of this site, too."""
        seen = self._candidates.seen
        unseen = [key for key in array("q", links) if seen.get(key) is None]
        if not self.requests_linked:
            self.note_linked(unseen)  # what is not known stays so
        elif unseen and not self._candidates.wait_for_stored(unseen, site):
            known = self._context.store.records.known_urls(unseen)
            for key, (url, depth) in known.items():
                seen.add_url(key, url, depth)
            self.note_linked(key for key in unseen if key in known)


class RepeatVisits:
    """Queues URLs again, and knows which pages have to be read in full.

    `place` adds an entry to the frontier; `is_fresh` marks the URL of a key as seen in this cycle, and returns whether
    it was not before; `retry_of` returns the visit with a key that waits for another attempt.
    """

    def __init__(
        self,
        context: CrawlContext,
        place: Callable[[QueueEntry], None],
        is_fresh: Callable[[int], bool],
        retry_of: Callable[[int], Visit | None],
    ) -> None:
        self._context = context
        self._place = place
        self._is_fresh = is_fresh
        self._retry_of = retry_of
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

    def forget(self, keys: Iterable[int]) -> None:
        """Forget URLs that were taken out of the queue: they do not wait any more."""
        self._unconditional.difference_update(keys)

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
        elif (
            self._retry_of(key) is not None
            or self._was_visited(record)
            or self._is_fresh(key)
            or self._was_vouched_for(key)
        ):
            self.requeue(key, record, record.depth)

    def fetch_now(self, records: Sequence[UrlRecord]) -> None:
        """Fetch known URLs in full in this run, whether they wait, were fetched, or neither."""
        store = self._context.store
        sites = {site_of(record.url) for record in records}
        waiting = {entry.key for site in sites for entry in store.queue.entries_of(site, sys.maxsize)}
        store.visits.note_met([url_key(record.url) for record in records])
        for record in records:
            key = url_key(record.url)
            visit = self._context.visits.get(key)
            if visit is not None:
                visit.replace_record(record)
                self._once_more.add(key)
            elif key in waiting and self._retry_of(key) is None:
                self._unconditional.add(key)
            else:
                self.requeue(key, record, record.depth)

    def _was_visited(self, record: UrlRecord) -> bool:
        return record.last_fetched >= self._context.mark.started

    def _was_vouched_for(self, key: int) -> bool:
        """Return whether a lister reported a URL as unchanged, so that it is not queued."""
        return self._context.rules.listed and not self._context.store.queue.is_waiting(key)

    def requeue(self, key: int, record: UrlRecord, depth: int) -> None:
        """Queue a known URL for a fetch in full; one that waits for that already waits at the lower depth.

        One whose visit waits for another attempt waits already, too: that attempt fetches it in full.
        """
        visit = self._retry_of(key)
        if visit is not None:
            visit.replace_record(record)
            visit.replace_display_url(record.display_url)
            visit.require_reading()
            visit.note_shorter_depth(depth)
            return
        if key in self._unconditional:
            self._depths[key] = min(depth, self._depths.get(key, depth))
            return
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
