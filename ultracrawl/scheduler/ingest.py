"""Queues URLs that come in: start URLs, links, redirect targets, entries of feeds and sitemaps."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ultracrawl.model.candidate import Candidate
from ultracrawl.model.page import Link
from ultracrawl.model.record_changes import without_validators
from ultracrawl.rules.boundary.focus import FOCUSED, NO_LINKS
from ultracrawl.rules.candidates.rules import REFRESH_ONLY
from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.run import CrawlContext, Visit
from ultracrawl.run.discovery.new_urls import closing_rule
from ultracrawl.run.hooks import Feature
from ultracrawl.scheduler.candidate_filter import CandidateFilter, LinkPage
from ultracrawl.scheduler.recrawl import RecrawlActivator, RepeatVisits
from ultracrawl.stores import KnownUrl, QueueEntry

if TYPE_CHECKING:
    from ultracrawl.model import UrlRecord

logger = logging.getLogger(__name__)

OTHER_SITE = "sitemap entry of another site"

Requeue = Callable[[int, "UrlRecord", int], None]
"""Queues a URL (key, record, depth) that was visited in this run for another fetch."""


class OffFocusHops:
    """Stores the smallest number of hops of each URL; a page that gets fewer hops is fetched again for its links.

    Costs nothing for a source without a focus.
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


class LinkIngest(Feature):
    """Passes incoming URLs through the filter, and adds those that are admitted to the frontier.

    `place` adds a newly admitted entry; `refresh_only` returns whether only URLs that were fetched before are
    requested.
    """

    def __init__(
        self,
        context: CrawlContext,
        candidates: CandidateFilter,
        place: Callable[[QueueEntry], None],
        activator: RecrawlActivator,
        repeats: RepeatVisits,
        refresh_only: Callable[[], bool],
    ) -> None:
        self._context = context
        self._place = place
        self._candidates = candidates
        self._asked: list[int] = []
        """Keys that the flush looks up which was begun last."""
        self._activator = activator
        self._repeats = repeats
        self._refresh_only = refresh_only
        self.limits_changed()
        if activator.on:
            candidates.on_known, candidates.on_late = activator.note_linked, activator.note_late
        self.forget_urls, self.mark_known = candidates.forget, candidates.mark_known
        self._hops = OffFocusHops(context, repeats.requeue)
        rules = context.rules
        self._limits_depth = rules.depth_limit is not None
        self._settles_early = self._limits_depth or activator.requests_linked
        """Whether what waits is looked up before a flush, which writes what comes of it with the pages."""
        candidates.on_late_admitted = context.store.queue.put_hops
        self._is_advised = False
        """Whether the next flush writes what a sitemap says of URLs that wait: they have to be known by then."""
        context.store.prepare_flush = self._settle_early

    def limits_changed(self) -> None:
        """Admit new URLs or only known ones, as the limits of the run say."""
        self._candidates.close(closing_rule(self._context.rules, refresh_only=self._refresh_only()))

    def refusal_rule(self, entry: QueueEntry) -> str:
        """Return the rule that keeps a new entry from being fetched while only known URLs are refreshed; else ""."""
        if not self._refresh_only() or not entry.seq:
            return ""
        record = self._context.store.records.get_record(entry.key)
        return "" if record is not None and record.last_fetched else REFRESH_ONLY

    # ---- start URLs

    def queue_seeds(self, urls: Iterable[str]) -> int:
        """Queue start URLs at depth 0; returns how many were new. Domain rules do not apply to them by default."""
        if self._context.run.failed:
            return 0
        form, seeds = self._context.rules.url_policy, list[str]()
        for url in urls:
            canonical = form.canonical(url)
            if canonical is None:
                self._context.run.add_problem(f"start URL {url!r} is not a URL that can be crawled")
            else:
                seeds.append(canonical)
        keys, store = [url_key(url) for url in seeds], self._context.store
        store.queue.expect_urls(keys)
        known = store.records.known_urls(keys)
        own = [key for key, url in zip(keys, seeds, strict=True) if key in known and known[key][0] == url]
        fresh = self._activator.meet_seeds(own)
        return sum(self._queue_seed(url, known, fresh) for url in seeds)

    def _queue_seed(
        self, canonical: str, known: dict[int, tuple[str, int]], fresh: dict[int, KnownUrl]
    ) -> bool:
        """Queue a start URL; `known` has (url, depth) of the known ones, `fresh` those to be queued in this cycle."""
        rules, key = self._context.rules, url_key(canonical)
        if key in known:
            if self._shares_key(canonical, known[key][0]):
                return False
            seed = fresh.pop(key, None)
            queued = seed is not None and self._activator.queue_known_seed(seed)
            self._candidates.seen.add_url(key, canonical, 0)
            if known[key][1]:  # a link, or another source, led here first
                self._repeats.apply_shorter_routes([(key, 0)])
            return queued
        rule = rules.boundary.rejects(canonical, seed=True)
        for on_judged in self._context.hooks[Feature.candidate_judged]:
            on_judged(Candidate(canonical, seed=True), rule or "")
        if rule is None:
            self._place(self._candidates.add_url(key, canonical, 0, level=rules.levels.start))
            known[key] = canonical, 0
            return True
        self._context.counters.count_excluded(rule)
        for on_excluded in self._context.hooks[Feature.seed_excluded]:
            on_excluded(canonical, rule)
        logger.warning("30027 start URL outside the boundary: %s (%s)", canonical, rule)
        return False

    def _shares_key(self, url: str, known: str) -> bool:
        """Return whether the known URL with the key of `url` is another one, and report that."""
        if url != known:
            self._context.run.note_shared_key(url, known)
        return url != known

    # ---- links

    def follow_links(self, visit: Visit, hrefs: Iterable[str], base: str, named: Sequence[Link] = ()) -> int:
        """Queue the links of a page that are new and inside the boundary; returns how many.

        The keys of all accepted links are stored with the visit, to be re-asserted when the page is unchanged later.
        """
        candidates = self._candidates
        closed = FOCUSED if visit.page.link_hops == NO_LINKS else ""
        resolved = candidates.resolve(hrefs, base)
        hops = max(visit.page.link_hops, 0)
        kinds = candidates.kinds_of(named, resolved)
        page = LinkPage(visit.url, visit.depth + 1, closed, may_wait=True, hops=hops, kinds=kinds)
        entries, inside = candidates.admit_resolved(resolved.values(), page)
        visit.note_links(inside.tobytes())
        for on_links in self._context.hooks[Feature.links_resolved]:
            on_links(visit, resolved, inside, named)
        self._hops.note(visit.page.link_hops, (entry.key for entry in entries), inside)
        self._place_all(entries)
        return len(entries)

    def before_flush(self) -> None:
        """Have the links of pages to known URLs looked up, by the flush if that may be."""
        if not self._settle_early():
            self._asked = list(self._candidates.late)
            self._context.store.records.look_up_later(self._asked)

    def _settle_early(self) -> bool:
        early = self._settles_early or self._is_advised
        if early:
            self._is_advised = False
            self.settle_now()
        return early

    def after_flush(self) -> None:
        """Do what waited for that."""
        known, asked = self._context.store.records.looked_up(), self._asked
        self._asked = []
        if asked:
            self._place_all(self._candidates.settle(asked, known))

    @property
    def is_waiting(self) -> bool:
        """Whether links wait for the next flush, among which a new URL may be."""
        return bool(self._candidates.late)

    def settle_now(self) -> bool:
        """Look up what waits for the next flush at once, as when nothing else is left; returns whether anything did."""
        late = list(self._candidates.late)
        if not late:
            return False
        if self._activator.requests_linked:
            known = self._activator.look_up_late()
        else:
            known = self._context.store.records.known_urls(late)
        self._place_all(self._candidates.settle(late, known))
        return True

    def settle_linked(self) -> None:
        """Look up what waits if it may become entries in the store, from which a site is to be filled now."""
        if self._activator.requests_linked:
            self.settle_now()

    def note_turn(self, entry: QueueEntry) -> bool:
        """Apply what waits for a URL whose turn has come, if a lower depth changes its visit; returns False."""
        if self._limits_depth and entry.seq:
            record = self._context.store.records.get_record(entry.key)
            if record is not None:
                self._candidates.settle_one(entry.key, record.url, min(record.depth, entry.depth))
                self._place_all(())
        return False

    def offer_links(self, urls: Iterable[str], depth: int) -> int:
        """Queue links from outside this source that are new and inside the boundary; returns how many."""
        if self._context.run.failed:
            return 0
        entries, _ = self._candidates.admit_offered(urls, depth)
        self._place_all(entries)
        return len(entries)

    def queue_listed(self, key: int, url: str, display_url: str, *, known: bool) -> None:
        """Queue a document that the lister of the source named."""
        if known:
            self._activator.queue_known(KnownUrl(key, url, site_of(url), 0, display_url))
        else:
            self._activator.enqueue(self._candidates.add_url(key, url, 0, display_url))

    def queue_feed_links(
        self, visit: Visit, hrefs: Iterable[str], *, ignore_rules: bool, may_wait: bool
    ) -> dict[str, tuple[int, bool]]:
        """Queue the new links of a feed; returns (key, is new) of those inside the boundary, by link as written.

        One that may wait for the next flush counts as known until then.
        """
        resolved = self._candidates.resolve(hrefs, visit.url)
        page = LinkPage(
            visit.url,
            visit.depth + 1,
            rules_hold=not ignore_rules,
            may_wait=may_wait and not ignore_rules,
            likely_only=True,
        )
        entries, inside = self._candidates.admit_resolved(resolved.values(), page)
        self._hops.note(0, (entry.key for entry in entries), inside)
        self._place_all(entries)
        new, kept = {entry.key for entry in entries}, set(inside)
        keys = ((href, url_key(url)) for href, url in resolved.items())
        return {href: (key, key in new) for href, key in keys if key in kept}

    def queue_sitemap_entries(
        self, parent: str, hrefs: Iterable[str], sites: set[str] | None, *, advises: bool
    ) -> tuple[dict[str, int], set[int]]:
        """Queue the entries of the sitemap `parent` that are new, inside the boundary and of one of `sites`.

        Returns the keys of all accepted entries by link as written, and the set of new keys; what waits for the next
        flush counts as known. Sitemaps count as start URLs, so their entries have depth 1. `advises` tells that more of
        what they say is written.
        """
        resolved = self._candidates.resolve(hrefs, parent)
        if sites is not None:
            allowed = {href: url for href, url in resolved.items() if site_of(url) in sites}
            if len(allowed) < len(resolved):
                self._context.counters.count_excluded(OTHER_SITE, len(resolved) - len(allowed))
            resolved = allowed
        page = LinkPage(parent, 1, may_wait=True, likely_only=True)
        entries, inside = self._candidates.admit_resolved(resolved.values(), page)
        self._is_advised = self._is_advised or (advises and self.is_waiting)
        self._place_all(entries)
        self._hops.note(0, (), inside)
        kept = set(inside)
        keys = ((href, url_key(url)) for href, url in resolved.items())
        return {href: key for href, key in keys if key in kept}, {entry.key for entry in entries}

    def _place_all(self, entries: Iterable[QueueEntry]) -> None:
        for entry in entries:
            self._place(entry)
        if self._candidates.shorter_routes:
            routes, self._candidates.shorter_routes = self._candidates.shorter_routes, []
            self._repeats.apply_shorter_routes(routes)

    def queue_redirect(self, visit: Visit, target: str, display_url: str) -> None:
        """Queue the target of an allowed redirect at the depth of the redirecting URL."""
        key = url_key(target)
        known = self._context.store.records.known_urls([key])
        if known and self._shares_key(target, known[key][0]):
            return
        if known and self._activator.on:
            self._activator.note_linked(known)
        if known and known[key][1] > visit.depth:
            self._repeats.apply_shorter_routes([(key, visit.depth)])
        if not known:
            hops = visit.entry.hops + 1
            self._place(
                self._candidates.add_url(key, target, visit.depth, display_url=display_url, hops=hops)
            )
        self._hops.pass_on(visit.entry.key, key, new=not known)
