"""Visits in flight: begun, retried, finished; their requests, and the page budget of their sites."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.http import Headers

from ultracrawl.model import UrlRecord
from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.rules.frontier.mirrors import Mirrors
from ultracrawl.rules.urls.canonical import host_of, site_of, url_key
from ultracrawl.rules.urls.site_table import NO_SITES, SiteTable
from ultracrawl.run import CrawlContext, Visit
from ultracrawl.run.control.second_attempts import SecondAttempts
from ultracrawl.run.control.visit_watch import VisitWatch
from ultracrawl.run.discovery.sitemap_manager import SitemapManager
from ultracrawl.run.hooks import Feature
from ultracrawl.run.visit import META_KEY
from ultracrawl.scheduler.pacing import Pacing
from ultracrawl.scheduler.recrawl import RepeatVisits
from ultracrawl.stores import QueueEntry

if TYPE_CHECKING:
    from scrapy import Spider

    from ultracrawl.sources.compilation.sites import SiteOverlay

EXCLUSION_BATCH = 2000
"""Entries of a site that are excluded per batch."""
WITHDRAWN = "removed by hand"
"""The rule under which URLs are counted that a person removes while they wait."""
FORM_CONTENT_TYPE = "application/x-www-form-urlencoded"
MAX_SITEMAP_BYTES = 50 << 20
"""Bytes of a sitemap, as the protocol allows; the limit of pages is a setting."""


class PageBudget:
    """Counts the fetched pages of each site against `limits.pages_per_site` (FAST 5.1 B11).

    A page counts if the response was a success or 304; errors and redirects do not count. A resumed run includes the
    pages that it fetched before the interruption.
    """

    def __init__(self, per_site: int | None, overlays: SiteTable[SiteOverlay] = NO_SITES) -> None:
        self._per_site = per_site
        self._overlays = overlays
        limits = {overlay.source.limits.pages_per_site for overlay in overlays.values.values()}
        self.is_limited = per_site is not None or not limits <= {None}
        """Whether there is a limit for any site."""
        self._fetched: Counter[str] = Counter()

    def limit_of(self, site: str) -> int | None:
        """Return how many pages of a site may be fetched in a run, None for any number."""
        overlay = self._overlays.find(site) if self._overlays else None
        return self._per_site if overlay is None else overlay.source.limits.pages_per_site

    def resume(self, fetched: Mapping[str, int]) -> None:
        """Add the pages per site that this run fetched before it was interrupted."""
        self._fetched.update(fetched)

    def is_begun(self, site: str) -> bool:
        """Return whether the site has a limit and some of its pages are used up."""
        return self.limit_of(site) is not None and self._fetched[site] > 0

    def rule(self, site: str) -> str:
        """Return the exclusion rule under which further URLs of a site are counted."""
        return f"pages_per_site {self.limit_of(site)}"

    def left(self, site: str) -> int:
        """Return how many pages of a site may still be fetched; only meaningful for sources with a limit."""
        return max((self.limit_of(site) or 0) - self._fetched[site], 0)

    def is_spent(self, site: str) -> bool:
        """Return whether all pages of a site are used up."""
        limit = self.limit_of(site) if self.is_limited else None
        return limit is not None and self._fetched[site] >= limit

    def count(self, visit: Visit) -> bool:
        """Count a finished visit; returns whether it used up a page of a limited site."""
        if (
            not self.is_limited
            or self.limit_of(visit.entry.site) is None
            or visit.sitemap
            or not (200 <= visit.fetch.status < 300 or visit.fetch.status == 304)
        ):
            return False
        self._fetched[visit.entry.site] += 1
        return True


class EntryGate:
    """Adds entries to the frontier while their site has pages left; the others end without a request.

    Pages of sites whose sitemaps are still to be read wait in the store.
    """

    def __init__(
        self, context: CrawlContext, frontier: Frontier[QueueEntry], sitemaps: SitemapManager
    ) -> None:
        self._context = context
        self._frontier = frontier
        self._held = sitemaps.waiting_sites
        self._abandon = sitemaps.abandon
        self.sitemap_of = sitemaps.job_of
        """Returns what this run reads the URL with a key as, if it is a sitemap."""
        self._retries: dict[int, Visit] = {}
        """The visits that wait for another attempt, by key."""
        self._budget = PageBudget(context.source.limits.pages_per_site, context.rules.overlays)
        self.holds_places_until_end = self._budget.is_limited
        """Whether a visit keeps its place at the site until it ends, because pages are counted at the end."""

    def load_stored_queue(self) -> None:
        """Add every site with stored entries to the frontier, except those that used up their pages before a resume."""
        store = self._context.store
        if self._context.counters.resumed and self._budget.is_limited:
            self._budget.resume(store.visits.fetched_since(self._context.mark.started))
        for site, _ in store.queue.waiting_sites():
            if self._budget.is_begun(site):
                self._keep_to_budget(site)
            if not self._budget.is_spent(site):
                self._frontier.mark_stored(site)

    def add_entry(self, entry: QueueEntry) -> None:
        """Add a newly admitted entry to the frontier."""
        if self._count_and_check(entry):
            self._frontier.add_entry(entry)

    def expect_entry(self, site: str) -> None:
        """Look for entries of a site in the store when it has none in memory: it may have got some by then."""
        if not self._budget.is_spent(site) and site not in self._held:
            self._frontier.mark_stored(site)

    def leave_in_store(self, entry: QueueEntry) -> None:
        """Leave an entry in the store: it is read later by rank, and checked against sitemap dates."""
        if self._count_and_check(entry):
            self._frontier.mark_stored(entry.site)

    def _count_and_check(self, entry: QueueEntry) -> bool:
        """Count an entry; returns whether it may go on now. Ends it if its site has used up its pages."""
        self._context.counters.count_scheduled()
        spent = self._budget.is_spent(entry.site)
        if spent:
            self.exclude_entry(entry)
        return not spent and entry.site not in self._held

    def note_retry(self, visit: Visit) -> None:
        """Note that a visit waits for another attempt, for which `add_retry` adds its entry later."""
        self._retries[visit.entry.key] = visit

    def add_retry(self, visit: Visit) -> None:
        """Add the entry of a visit for another attempt; one of a sitemap only if its site goes on.

        It ends without another request if the pages of its site are used up by then.
        """
        entry = visit.entry
        self._retries[entry.key] = visit
        if not entry.seq:
            if not self.add_sitemap(entry):
                del self._retries[entry.key]
        elif self._budget.is_spent(entry.site):
            self.exclude_entry(entry)
        else:
            self._frontier.add_entry(entry)

    def retry_of(self, key: int) -> Visit | None:
        """Return the visit with a key that waits for another attempt, None if there is none."""
        return self._retries.get(key)

    def pop_retry(self, key: int) -> Visit | None:
        """Do the same as `retry_of`, and forget the visit: it goes on."""
        return self._retries.pop(key, None)

    def release_site(self, site: str) -> None:
        """Let the pages of a site follow that waited in the store."""
        self._frontier.mark_stored(site)

    def add_sitemap(self, entry: QueueEntry) -> bool:
        """Put a sitemap ahead of the pages of its site; returns False if nothing more of the site may be fetched."""
        if self.is_finished(entry.site):
            self._abandon(entry.key)
            return False
        self._frontier.add_first(entry)
        return True

    def exclude_entry(self, entry: QueueEntry) -> None:
        """End a waiting entry without a request because its site has used up its pages."""
        self._retries.pop(entry.key, None)
        if not entry.seq:
            self._abandon(entry.key)
            return
        self._context.endings.exclude_queued(entry, self._budget.rule(entry.site))

    def is_finished(self, site: str) -> bool:
        """Return whether nothing more of a site may be fetched: its budget is spent, or it was given up."""
        return self._budget.is_spent(site) or site in self._frontier.given_up

    def count_page(self, visit: Visit) -> None:
        """Count the page of a finished visit."""
        if self._budget.count(visit):
            self._keep_to_budget(visit.entry.site)

    def _keep_to_budget(self, site: str) -> None:
        """Limit the concurrency of a site to its remaining pages; with none left, exclude its waiting entries."""
        left = self._budget.left(site)
        if left:
            self._frontier.limit_site(site, min(left, self._frontier.pace.at(site).concurrency))
            return
        waiting = self._frontier.withdraw_site(site) or self._stored_entries(site)
        while waiting:
            for entry in waiting:
                self.exclude_entry(entry)
            waiting = self._stored_entries(site)

    def _stored_entries(self, site: str) -> list[QueueEntry]:
        """Return stored entries of a site whose visits are neither under way nor set aside."""
        stored = self._context.store.queue.entries_of(site, EXCLUSION_BATCH)
        under_way = self._context.visits.keys() | {key for key, one in self._retries.items() if one.alone}
        return [entry for entry in stored if entry.key not in under_way]


class VisitsInFlight(Feature):
    """Begins the visit of an entry that is due, and gives its place at the site back when the visit ends."""

    def __init__(
        self,
        context: CrawlContext,
        frontier: Frontier[QueueEntry],
        pacing: Pacing,
        gate: EntryGate,
        repeats: RepeatVisits,
        watch: VisitWatch,
    ) -> None:
        self._context = context
        self._frontier = frontier
        self._pacing = pacing
        self._gate = gate
        self._repeats = repeats
        self._watch = watch
        self.second = SecondAttempts()
        """The visits that were set aside."""
        self._released = set[Visit]()
        """Visits that gave their place back early: the response is here, and no further request follows."""
        self._withdrawn: dict[int, int] = {}
        """Keys that were withdrawn, with the `seq` up to which their entries are not handed out."""

    def must_fetch(self, key: int) -> bool:
        """Return whether this run has to fetch the URL of a key: it is retried, or queued as a repeat."""
        return self._gate.retry_of(key) is not None or self._repeats.must_fetch(key)

    def begin_visit(self, entry: QueueEntry) -> Visit:
        """Return the visit of an entry that is due: the one of the previous attempt, or a new one."""
        visit = self._gate.pop_retry(entry.key)
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
        rescan = rescan or context.run.makes_anew(entry.site)
        job = self._gate.sitemap_of(entry.key)
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
        self.second.note_end(visit)
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

    def withdraw_entries(self, keys: Iterable[int]) -> None:
        """Take URLs that wait out of the queue, without a request; they are not handed out any more."""
        store, wanted = self._context.store, set(keys)
        records = store.records.get_records(list(wanted)).values()
        for site in {site_of(record.url) for record in records}:
            for entry in store.queue.entries_of(site, sys.maxsize):
                if entry.key in wanted:
                    self._context.endings.exclude_queued(entry, WITHDRAWN)
        self._repeats.forget(wanted)
        last = store.queue.next_seq()
        self._withdrawn.update(dict.fromkeys(wanted, last))

    def is_withdrawn(self, entry: QueueEntry) -> bool:
        """Return whether an entry that was handed out was withdrawn; its turn is then given back."""
        if not entry.seq or entry.seq > self._withdrawn.get(entry.key, 0):
            return False
        self.return_turn(entry)
        return True

    def return_turn(self, entry: QueueEntry) -> None:
        """Give back the turn and the place of an entry that was handed out and is not requested."""
        self._frontier.refund_turn(entry.site)
        self._frontier.finish_entry(entry.site)

    def release_place(self, visit: Visit) -> None:
        """Give back the place of a visit whose response has arrived, unless pages per site are counted at the end."""
        if not self._gate.holds_places_until_end and visit.entry.seq and visit not in self._released:
            self._released.add(visit)
            self._frontier.finish_entry(visit.entry.site)
            self._pacing.wake()

    def _return_place(self, visit: Visit) -> None:
        if visit in self._released:
            self._released.discard(visit)
        else:
            self._frontier.finish_entry(visit.entry.site)

    def retry_visit(self, visit: Visit, delay: float, *, counts: bool = True) -> None:
        """Queue a failed visit for another attempt; its site waits at least `delay` seconds."""
        self._pacing.note_end(visit)
        self._watch.suspend_visit(visit)
        visit.prepare_retry(counts=counts)
        entry = visit.entry
        self._context.visits.pop(entry.key, None)
        self._return_place(visit)
        self._frontier.hold_site(entry.site, time.monotonic() + delay)
        self._gate.add_retry(visit)

    def set_aside(self, visit: Visit, why: str) -> bool:
        """Have a failed visit made once more when nothing else is queued or in flight; False if its failure counts.

        Its entry stays in the store, and is not read from there before.
        """
        again = self.second.add(visit, why)
        if again is None:
            return False
        self._pacing.note_end(visit)
        self._watch.suspend_visit(visit)
        self._context.visits.pop(visit.entry.key, None)
        self._return_place(visit)
        self._gate.note_retry(again)
        return True

    def begin_second_attempts(self) -> bool:
        """Queue the next of the visits that were set aside; returns whether something is queued now."""
        second, frontier = self.second, self._frontier
        while second and (second.are_in_vain or not frontier.pending):
            visit = second.take_next()
            visit.prepare_retry(counts=False)
            self._gate.add_retry(visit)  # left in the store if its site was given up meanwhile
        return frontier.pending

    def replace_record(self, record: UrlRecord) -> None:
        """Replace the record of the visit in flight to the same URL, if there is one."""
        key = url_key(record.url)
        visit = self._context.visits.get(key) or self._gate.retry_of(key)
        if visit is not None and not visit.done:
            visit.replace_record(record)


class RequestFactory:
    """Builds the requests of a source: URL of the mirror in use, headers, payload and cookie jar."""

    def __init__(self, context: CrawlContext, spider: Spider, mirrors: Mirrors) -> None:
        rules = context.rules
        self._spider = spider
        self._mirrors = mirrors
        self._headers = Headers(rules.headers)
        self._payloads = rules.payloads
        self._grouping = rules.grouping
        self._timeout = context.source.limits.timeout
        self._context, self._overlays = context, rules.overlays

    def request_for(self, visit: Visit) -> Request:
        """Return the request of a visit."""
        entry = visit.entry
        payload = None if visit.sitemap else self._payloads.of(entry.url)
        request = Request(
            self._mirrors.request_url(entry.url),
            method="GET" if payload is None else "POST",
            body=payload,
            callback=self._spider.read_sitemap if visit.sitemap else self._spider.visit,  # type: ignore[attr-defined]  # the spider is a SourceSpider
            errback=self._spider.failed,  # type: ignore[attr-defined]
            meta={
                META_KEY: visit,
                "download_slot": entry.site,
                "download_timeout": self._timeout,
                "handle_httpstatus_all": True,
                # The URL is canonical; Scrapy would escape it character by character.
                "verbatim_url": True,
                **({"cookiejar": self._grouping.of(host_of(entry.url))} if self._grouping else {}),
                **({"download_maxsize": MAX_SITEMAP_BYTES} if visit.sitemap else {}),
            },
            dont_filter=True,
        )
        headers = Headers() if payload is None else Headers({"Content-Type": FORM_CONTENT_TYPE})
        # The header names are normalised already.
        dict.update(headers, {name: [*values] for name, values in dict.items(self._headers)})
        request.headers = headers
        if self._overlays:
            limits = self._context.source_at(entry.url).limits
            request.meta["download_timeout"] = limits.timeout
            request.meta.setdefault("download_maxsize", limits.max_size)
        return request
