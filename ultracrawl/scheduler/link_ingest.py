"""What comes in to be fetched: start URLs, links, redirect targets, URLs that have to be fetched once more."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import replace

from ultracrawl.crawl import CrawlSession, Visit
from ultracrawl.crawl.run.limits import REFRESH_ONLY
from ultracrawl.model import UrlRecord
from ultracrawl.rules.boundary.focus import FOCUSED, NO_LINKS
from ultracrawl.rules.frontier.limits import PATHS, TrapGuard
from ultracrawl.rules.urls import site_of, url_key
from ultracrawl.scheduler.candidate_filter import CandidateFilter
from ultracrawl.scheduler.off_focus_hops import OffFocusHops
from ultracrawl.scheduler.recrawl_activator import RecrawlActivator
from ultracrawl.stores import QueueEntry

logger = logging.getLogger(__name__)

INDEX_ONLY = "crawling_mode index-only"
"""The rule that turns away links to URLs that are not known yet."""


class LinkIngest:
    """Puts whatever comes in through admission, and places what is let in in the frontier.

    `place` takes an entry that was let in just now, `leave` one that is to be read from the store in its turn.
    """

    def __init__(
        self,
        session: CrawlSession,
        place: Callable[[QueueEntry], None],
        leave: Callable[[QueueEntry], None],
    ) -> None:
        self._session = session
        self._place = place
        rules = session.context.rules
        self.admission = CandidateFilter(
            rules.url_policy,
            rules.boundary,
            session.context.store,
            session.context.clock,
            session.context.report.rejected_by,
            session.rewriter,
            session.hosts.look_up,
            session.logs.candidate_excluded,
            "" if rules.follows_links else INDEX_ONLY,
            rules.levels.of,
        )
        self.admission.traps = self._trap_guard()
        self._closed = "" if rules.follows_links else INDEX_ONLY
        session.context.hooks.limits_changed.append(self._keep_to_limits)
        self._keep_to_limits()
        self.waking = RecrawlActivator(session, self.admission.seen, leave)
        if self.waking.on:
            self.admission.meet = self.waking.meet
            session.context.hooks.visit_ended.append(self.waking.finished)
            session.context.hooks.vouched.append(self.waking.vouched)
        if session.chooser is not None:
            self.admission.admits = session.chooser.admits
        self.detours = OffFocusHops(session, self._requeue)
        self._depths: dict[int, int] = {}
        self._unconditional: set[int] = set()
        self._once_more: set[int] = set()
        """Keys in flight whose record was changed after their request went out."""

    def _trap_guard(self) -> TrapGuard:
        limits, state = self._session.context.source.limits, self._session.context.store
        sizes: dict[str, int] = {}
        if (
            limits.urls_per_site and state.records.count_urls().known >= limits.urls_per_site // 2
        ):  # else none is near it
            sizes = {site: size.fetched + size.new for site, size in state.visits.site_sizes().items()}
        queries = state.visits.path_sizes(PATHS // 2) if limits.query_variations else {}
        return TrapGuard(limits.urls_per_site, limits.query_variations, sizes, queries)

    def _keep_to_limits(self) -> None:
        self.admission.close(self._closed or (REFRESH_ONLY if self._session.limits.refresh_only else ""))

    # ---- what is known of URLs on their way out

    def refuses(self, entry: QueueEntry) -> str:
        """Return the rule that keeps an entry from being fetched now: it is new, and only known URLs are asked for."""
        if not self._session.limits.refresh_only or not entry.seq:
            return ""
        record = self._session.context.store.records.get_record(entry.key)
        return "" if record is not None and record.last_fetched else REFRESH_ONLY

    def must_ask(self, key: int) -> bool:
        """Whether the URL of a key has to be fetched, for reasons of this run."""
        return key in self._unconditional or key in self._depths

    def visit(self, entry: QueueEntry) -> Visit:
        """Return the visit of an entry whose turn has come."""
        session = self._session
        record = session.context.store.records.get_record(entry.key)
        if record is None:
            record = UrlRecord(
                entry.url, session.context.source.name, entry.depth, first_seen=session.context.clock()
            )
        nearer = self._depths.pop(entry.key, None)
        if nearer is None and record.depth < entry.depth:  # found before the run was interrupted
            nearer = record.depth
        # Its links are a step nearer too, and may be inside now.
        rescan = session.context.run.rescan or entry.key in self._unconditional or nearer is not None
        self._unconditional.discard(entry.key)
        task = session.sitemaps.task(entry.key)
        if task is not None:
            rescan = rescan or task.again or session.context.store.sites.get_sitemap(entry.key) is None
        return Visit(
            entry._replace(display_url=record.display_url),
            record,
            rescan=rescan,
            sitemap=task,
            nearer=nearer,
        )

    def finished(self, visit: Visit) -> None:
        """Queue a URL once more whose record was changed while it was fetched."""
        if visit.entry.key in self._once_more:
            self._once_more.discard(visit.entry.key)
            depth = self._depths.pop(visit.entry.key, visit.depth)
            self._requeue(visit.entry.key, visit.record, min(depth, visit.depth))

    # ---- what comes in

    def seed(self, urls: Iterable[str]) -> int:
        """Queue start URLs, at depth 0; returns how many were new. Domain rules do not apply to them by default."""
        return 0 if self._session.context.run.failed else sum(map(self._seed, urls))

    def _seed(self, url: str) -> bool:
        rules, report = self._session.context.rules, self._session.context.report
        canonical = rules.url_policy.canonical(url)
        if canonical is None:
            self._session.context.run.problems.append(f"start URL {url!r} is not a URL that can be crawled")
            return False
        key = url_key(canonical)
        if self._session.context.store.records.known_urls([key]):
            return self.waking.start(canonical)
        rule = rules.boundary.rejects(canonical, seed=True)
        if rule is None:
            self._place(self.admission.enter(key, canonical, 0, level=rules.levels.start))
            return True
        report.rejected_by[rule] += 1
        if self._session.outbox is not None:
            self._session.outbox.send([canonical], canonical)
        if self._session.logs.screened is not None:
            self._session.logs.screened.add(canonical, rule, "")
        logger.warning("30027 start URL outside the boundary: %s (%s)", canonical, rule)
        return False

    def follow(self, visit: Visit, hrefs: Iterable[str], base: str) -> int:
        """Queue the links of a page that are new and inside the boundary; returns how many.

        The keys of all links inside are noted in the visit, so that an unchanged page re-asserts them later.
        """
        with self.admission.closed_by(FOCUSED if visit.link_hops == NO_LINKS else ""):
            located = self.admission.located(hrefs, base)
            entries, inside = self.admission.admit_located(located.values(), visit.url, visit.depth + 1)
        visit.links = inside.tobytes()
        if self._session.anchors is not None:
            self._session.anchors.note(visit, located, inside)
        self.detours.note(visit.link_hops, (entry.key for entry in entries), inside)
        self.take(entries)
        return len(entries)

    def offer(self, urls: Iterable[str], depth: int) -> int:
        """Queue links that no page of this source has, if they are new and inside; returns how many."""
        if self._session.context.run.failed:
            return 0
        entries, _ = self.admission.admit_offered(urls, depth)
        self.take(entries)
        return len(entries)

    def feed(self, visit: Visit, hrefs: Iterable[str], *, ignore_rules: bool) -> dict[str, tuple[int, bool]]:
        """Queue what a feed names that is new; returns key, and whether it is new, of all that are inside, by href."""
        located = self.admission.located(hrefs, visit.url)
        with self.admission.without_rules() if ignore_rules else nullcontext():
            entries, inside = self.admission.admit_located(located.values(), visit.url, visit.depth + 1)
        self.detours.note(0, (entry.key for entry in entries), inside)
        self.take(entries)
        new, kept = {entry.key for entry in entries}, set(inside)
        keys = ((href, url_key(url)) for href, url in located.items())
        return {href: (key, key in new) for href, key in keys if key in kept}

    def forget(self, keys: Iterable[int]) -> None:
        """Take note that URLs left the document table."""
        self.admission.forget(keys)

    def take(self, entries: Iterable[QueueEntry]) -> None:
        """Place entries that admission let in."""
        for entry in entries:
            self._place(entry)
        if self.admission.shorter:
            self._take_shorter_routes()

    def redirect(self, visit: Visit, target: str, display_url: str) -> None:
        """Queue the target of an allowed redirect, at the depth of the URL that led there."""
        key = url_key(target)
        known = self._session.context.store.records.known_urls([key])
        if known and self.waking.on:
            self.waking.meet(known)
        if not known:
            entry = visit.entry
            self._place(
                self.admission.enter(key, target, visit.depth, display_url=display_url, hops=entry.hops + 1)
            )
        self.detours.pass_on(visit.entry.key, key, new=not known)

    def again(self, record: UrlRecord) -> None:
        """Take note of a record that was changed: have its page fetched in this run, whether it was or not."""
        if record.removed:
            return
        key = url_key(record.url)
        visit = self._session.context.visits.get(key)
        if visit is not None:
            visit.record = record
            visit.entry = visit.entry._replace(display_url=record.display_url)
            self._once_more.add(key)
        elif self._was_visited(record) or self.waking.is_fresh(key):
            self._requeue(key, record, record.depth)

    def _was_visited(self, record: UrlRecord) -> bool:
        return record.last_fetched >= self._session.context.mark.started

    def _requeue(self, key: int, record: UrlRecord, depth: int) -> None:
        self._unconditional.add(key)
        state = self._session.context.store
        level = self._session.context.rules.levels.of(record.url)
        entry = QueueEntry(
            key,
            record.url,
            site_of(record.url),
            depth,
            state.queue.next_seq(),
            display_url=record.display_url,
            level=level,
        )
        state.queue.requeue_url(entry)
        self._place(entry)

    def _take_shorter_routes(self) -> None:
        """Lower the depth of URLs that turned out to be nearer; pages already scanned are fetched once more.

        Only where the source has a depth limit: elsewhere depth decides nothing (Ultra Search 9.5).
        """
        shorter, self.admission.shorter = self.admission.shorter, []
        if self._session.context.rules.depth_limit is None:
            return
        for key, depth in shorter:
            record = self._session.context.store.records.get_record(key)
            if key in self._session.context.visits:
                self._depths[key] = depth
                self._once_more.add(key)
            elif record is None or not self._was_visited(record):
                self._depths[key] = depth
                if record is not None:
                    self._session.context.store.records.amend_record(key, replace(record, depth=depth))
            elif not record.removed:
                self._requeue(key, record, depth)
