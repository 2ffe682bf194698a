"""Turns the URLs of links into queue entries: recently seen keys, document table, boundary, limits of the site."""

from __future__ import annotations

import logging
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from ultracrawl.model.candidate import Candidate, ExceededLimit
from ultracrawl.rules.boundary import UrlRewriter
from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.candidates.rules import CandidateRules, TrapGuard
from ultracrawl.rules.urls.canonical import UrlPolicy, host_of, site_of
from ultracrawl.scheduler.candidates.link_urls import Excluded, LinkUrls
from ultracrawl.scheduler.candidates.seen_urls import REJECTED, SeenUrls, UrlKeys
from ultracrawl.stores import QueueEntry, Store

logger = logging.getLogger(__name__)

_DUMMY_BASE = "http://localhost/"
"""Base for absolute URLs, which joining leaves unchanged."""
OUTSIDE_BOUNDARY = "30027 URL outside the boundary"


class CandidateFilter:
    """Decides which links of a page become queue entries, and collects the keys of all accepted links.

    Order: canonical form and rewrite rules, rewriter, recently seen keys, document table, depth and boundary. An
    excluded link is counted once, under the rule that excluded it.

    `look_up` receives the hosts of new URLs before the boundary is checked, for rules about addresses. `excluded` are
    called when a link is excluded for the first time, not again while its key is remembered. `gates` are called with
    the site of each new URL and return whether it may be fetched in this cycle; if not, the URL is only recorded.
    `judged` are called for each new URL with the rule that excludes it (empty for none).
    """

    def __init__(
        self,
        policy: UrlPolicy,
        boundary: Boundary,
        state: Store,
        clock: Callable[[], float],
        count_excluded: Callable[[str], None],
        rewriter: UrlRewriter | None = None,
        look_up: Callable[[Iterable[str]], None] | None = None,
        excluded: Sequence[Excluded] = (),
        gates: Sequence[Callable[[str], bool]] = (),
        judged: Sequence[Callable[[Candidate, str], None]] = (),
        traps: TrapGuard | None = None,
        level_of: Callable[[str], int] = lambda _: 1,
    ) -> None:
        self._urls = LinkUrls(policy, count_excluded, rewriter, excluded)
        self.resolve = self._urls.resolve
        """Returns the URL of each link that has one, by link as written."""
        self._boundary = boundary
        self._resets_depth = boundary.rules.mode.reset_level
        self._look_up = look_up if boundary.needs_addresses else None
        self._state = state
        self._clock = clock
        self._count_excluded = count_excluded
        self._excluded, self._gates, self._judged = excluded, gates, judged
        self._rules = CandidateRules(boundary, traps)
        self._keys = UrlKeys()
        self._closed = self._closed_always = ""
        self._rules_hold = True
        self.limits_over: Callable[[], tuple[ExceededLimit, ...]] = tuple
        """Returns the limits that close the source to new URLs; called only if there are `judged` callbacks."""
        self._level_of = level_of
        self.seen = SeenUrls()
        self.on_known: Callable[[Iterable[int]], None] | None = None
        """Called with the keys of known URLs that were not seen recently."""
        self.shorter_routes: list[tuple[int, int]] = []
        """(key, depth) of known URLs that were found at a lower depth; the scheduler empties the list."""

    def admit(
        self, hrefs: Iterable[str], base: str, depth: int, parent: str = ""
    ) -> tuple[list[QueueEntry], array[int]]:
        """Return the new queue entries among links found at `depth`, and the keys of all accepted links.

        `base` is the base URL of relative links; `parent` is the URL of the page if it differs from the base.
        """
        return self.admit_resolved(self.resolve(hrefs, base).values(), parent or base, depth)

    def admit_resolved(
        self, urls: Iterable[str], parent: str, depth: int
    ) -> tuple[list[QueueEntry], array[int]]:
        """Do the same as `admit` for URLs returned by `resolve`."""
        if not self._resets_depth:
            return self._admit(urls, parent, depth)
        entries: list[QueueEntry] = []
        inside = array("q")
        by_depth: dict[int, list[str]] = {}
        for url in urls:
            by_depth.setdefault(self._boundary.link_depth(url, parent, depth - 1), []).append(url)
        for link_depth, group in by_depth.items():
            new, keys = self._admit(group, parent, link_depth)
            entries += new
            inside += keys
        return entries, inside

    def admit_offered(self, urls: Iterable[str], depth: int) -> tuple[list[QueueEntry], array[int]]:
        """Do the same as `admit` for absolute URLs that no page of this source links to."""
        return self._admit(self.resolve(urls, _DUMMY_BASE).values(), "", depth)

    def _admit(self, urls: Iterable[str], parent: str, depth: int) -> tuple[list[QueueEntry], array[int]]:
        inside = array("q")
        unseen: dict[int, str] = {}
        seen_depth, keys = self.seen.get, self._keys
        for url in urls:
            key = keys[url]
            seen = seen_depth(key)
            if seen is None:
                unseen[key] = url
            elif seen >= 0:
                inside.append(key)
                if seen > depth:
                    self._note_shorter_route(key, depth)
            elif not self._rules_hold:
                unseen[key] = url
        return (self._admit_unseen(unseen, parent, depth, inside) if unseen else []), inside

    def _note_shorter_route(self, key: int, depth: int) -> None:
        self.seen.add_key(key, depth)
        self.shorter_routes.append((key, depth))

    def _admit_unseen(
        self, unseen: dict[int, str], parent: str, depth: int, inside: array[int]
    ) -> list[QueueEntry]:
        known = self._state.records.known_urls(list(unseen))
        if self._look_up is not None:
            self._look_up(host_of(url) for key, url in unseen.items() if key not in known)
        shown = self._urls.shown
        if known and self.on_known is not None:
            self.on_known(key for key in unseen if key in known)
        entries: list[QueueEntry] = []
        for key, url in unseen.items():
            if key in known:
                self.seen.add_key(key, known[key][1])
                inside.append(key)
                if known[key][1] > depth:
                    self._note_shorter_route(key, depth)
            elif self._is_inside(key, url, parent, depth):
                inside.append(key)
                if self._gates and not all(gate(site_of(url)) for gate in self._gates):
                    self._record_only(key, url, depth, shown.get(url, ""))
                    continue
                entries.append(self.add_url(key, url, depth, shown.get(url, "")))
        return entries

    def _record_only(self, key: int, url: str, depth: int, display_url: str) -> None:
        entry = QueueEntry(key, url, site_of(url), depth, 0, display_url=display_url)
        self._state.records.discover_url(entry, self._clock(), queued=False)
        self.seen.add_key(key, depth)

    def _is_inside(self, key: int, url: str, parent: str, depth: int) -> bool:
        site, closed, holds = site_of(url), self._closed, self._rules_hold
        if not self._judged:
            rule = self._rules.rejects(url, depth, parent, site, closed, rules_hold=holds)
        else:
            candidate = self._rules.candidate(url, depth, parent, site, closed, rules_hold=holds)
            rule = self._rules.rejects(url, depth, parent, site, closed, rules_hold=holds)
            for on_judged in self._judged:
                on_judged(candidate._replace(over=self.limits_over() if closed else ()), rule or "")
        if rule is None:
            return True
        self._count_excluded(rule)
        for on_excluded in self._excluded:
            on_excluded(url, rule, parent, OUTSIDE_BOUNDARY)
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("%s: %s (%s)", OUTSIDE_BOUNDARY, url, rule)
        if self._rules.holds_for_good(rule):
            self.seen.add_key(key, REJECTED)
        return False

    def close(self, rule: str) -> None:
        """Exclude unknown URLs from now on, counted under `rule`; an empty rule admits them again."""
        self._closed = self._closed_always = rule

    @contextmanager
    def closed_by(self, rule: str) -> Iterator[None]:
        """Inside the block exclude unknown URLs, counted under `rule`; an empty rule changes nothing."""
        self._closed = rule or self._closed_always
        try:
            yield
        finally:
            self._closed = self._closed_always

    @contextmanager
    def without_rules(self) -> Iterator[None]:
        """Inside the block, ignore the rules about domains, ports, paths and URIs."""
        self._rules_hold = False
        try:
            yield
        finally:
            self._rules_hold = True

    def forget(self, keys: Iterable[int]) -> None:
        """Forget URLs that left the document table, so that links to them count as new."""
        for key in keys:
            self.seen.drop(key)

    def mark_known(self, key: int) -> None:
        """Mark a URL as known although it is not in the stored queue, so that links to it do not queue it."""
        self.seen.add_key(key, 0)

    def add_url(
        self,
        key: int,
        url: str,
        depth: int,
        display_url: str = "",
        hops: int = 0,
        level: int | None = None,
    ) -> QueueEntry:
        """Add a URL to the document table and the queue; the level rules apply unless `level` is given."""
        level = self._level_of(url) if level is None else level
        entry = QueueEntry(
            key, url, site_of(url), depth, self._state.queue.next_seq(), hops, display_url, level=level
        )
        self._state.records.discover_url(entry, self._clock())
        self.seen.add_key(key, depth)
        return entry
