"""Visits in flight: begun, retried, finished."""

from __future__ import annotations

import time
from collections.abc import Callable

from ultracrawl.model import UrlRecord
from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run import CrawlContext, Visit
from ultracrawl.run.control.visit_watch import VisitWatch
from ultracrawl.run.discovery.sitemap_manager import SitemapManager
from ultracrawl.run.hooks import Feature
from ultracrawl.scheduler.budget import EntryGate
from ultracrawl.scheduler.candidates.repeats import RepeatVisits
from ultracrawl.scheduler.pacing import Pacing
from ultracrawl.stores import QueueEntry


class VisitsInFlight(Feature):
    """Begins the visit of an entry that is due, and gives its place at the site back when the visit ends.

    `retries` holds the visits that wait for another attempt, by key; `wake` schedules the next look for a request in
    so many seconds.
    """

    def __init__(
        self,
        context: CrawlContext,
        frontier: Frontier[QueueEntry],
        pacing: Pacing,
        gate: EntryGate,
        repeats: RepeatVisits,
        sitemaps: SitemapManager,
        watch: VisitWatch,
        retries: dict[int, Visit],
        wake: Callable[[float], None],
    ) -> None:
        self._context = context
        self._frontier = frontier
        self._pacing = pacing
        self._gate = gate
        self._repeats = repeats
        self._sitemaps = sitemaps
        self._watch = watch
        self._retries = retries
        self._wake = wake
        self._released = set[Visit]()
        """Visits that gave their place back early: the response is here, and no further request follows."""

    def must_fetch(self, key: int) -> bool:
        """Return whether this run has to fetch the URL of a key: it is retried, or queued as a repeat."""
        return key in self._retries or self._repeats.must_fetch(key)

    def begin_visit(self, entry: QueueEntry) -> Visit:
        """Return the visit of an entry that is due: the one of the previous attempt, or a new one."""
        visit = self._retries.pop(entry.key, None)
        if visit is None:
            visit = self._new_visit(entry)
        elif (record := self._context.store.records.get_record(entry.key)) is not None:
            visit.note_shorter_depth(record.depth)  # found while it waited for another attempt
        self._watch.begin_visit(visit)
        if entry.seq:
            self._context.visits[entry.key] = visit
        self._pacing.visit_begun(visit)
        return visit

    def _new_visit(self, entry: QueueEntry) -> Visit:
        context = self._context
        record = context.store.records.get_record(entry.key)
        if record is None:
            record = UrlRecord(entry.url, context.source.name, entry.depth, first_seen=context.clock())
        shorter_depth = self._repeats.shorter_depth(entry, record)
        # The links of a page with a lower depth have a lower depth too, and may be within the limit now.
        rescan = self._repeats.pop_unconditional(entry.key) or context.run.rescan or shorter_depth is not None
        job = self._sitemaps.job_of(entry.key)
        if job is not None:
            rescan = rescan or job.reread or context.store.sites.get_sitemap(entry.key) is None
        hops = entry.hops if job is not None else record.hops
        entry = entry._replace(display_url=record.display_url, hops=hops)
        return Visit(entry, record, rescan=rescan, sitemap=job, shorter_depth=shorter_depth)

    def visit_ended(self, visit: Visit) -> None:
        """Give back the place of a visit that has its outcome."""
        if visit.entry.seq or visit.without_request:
            self._context.visits.pop(visit.entry.key, None)
        self._repeats.visit_finished(visit)
        if visit.without_request:
            return
        self._pacing.note_end(visit)
        self._gate.count_page(visit)
        if not visit.requested:
            self._frontier.refund_turn(visit.entry.site)
        self._return_place(visit)

    def refuse_entry(self, entry: QueueEntry, rule: str) -> None:
        """End an entry that was handed out, without a request."""
        self._context.endings.exclude_queued(entry, rule)
        self.return_turn(entry)

    def return_turn(self, entry: QueueEntry) -> None:
        """Give back the turn and the place of an entry that was handed out and is not requested."""
        self._frontier.refund_turn(entry.site)
        self._frontier.finish_entry(entry.site)

    def release_place(self, visit: Visit) -> None:
        """Give back the place of a visit whose response has arrived, unless pages per site are counted at the end."""
        if not self._gate.holds_places_until_end and visit.entry.seq and visit not in self._released:
            self._released.add(visit)
            self._frontier.finish_entry(visit.entry.site)
            self._wake(0.0)

    def _return_place(self, visit: Visit) -> None:
        if visit in self._released:
            self._released.discard(visit)
        else:
            self._frontier.finish_entry(visit.entry.site)

    def retry_visit(self, visit: Visit, delay: float) -> None:
        """Queue a failed visit for another attempt; its site waits at least `delay` seconds."""
        self._pacing.note_end(visit)
        self._watch.suspend_visit(visit)
        visit.count_attempt()
        entry = visit.entry
        self._context.visits.pop(entry.key, None)
        self._retries[entry.key] = visit
        self._return_place(visit)
        self._frontier.hold_site(entry.site, time.monotonic() + delay)
        if entry.seq:
            self._frontier.add_entry(entry)
        elif not self._gate.is_finished(entry.site):
            self._frontier.add_first(entry)
        else:
            self._sitemaps.abandon(entry.key)

    def replace_record(self, record: UrlRecord) -> None:
        """Replace the record of the visit in flight to the same URL, if there is one."""
        key = url_key(record.url)
        visit = self._context.visits.get(key) or self._retries.get(key)
        if visit is not None and not visit.done:
            visit.replace_record(record)
