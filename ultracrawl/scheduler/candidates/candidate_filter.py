"""From the URL of a link to a queue entry: met lately, document table, boundary, limits of its site."""

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

_NO_PAGE = "http://localhost/"
"""What absolute URLs are joined to, which changes nothing."""
OUTSIDE = "30027 URL outside the boundary"


class CandidateFilter:
    """Decides which links of a page become queue entries, and which keys the page links to.

    The order is: canonical form and rewrite rules, rewriter, met lately, document table, depth and boundary. A link
    that is excluded is counted once under the rule that did it. `look_up` is told the hosts of new URLs
    before the boundary is asked, for rules that look at addresses. `excluded` are called for each link when it is
    excluded for the first time; links met lately cost them nothing. `gates` are asked for each new URL, by its site,
    whether it may be fetched in this cycle; if one says no, the URL is known only. `judged` are called for each new
    URL as it is judged, with the rule that keeps it out (empty for none).
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
        self.located = self._urls.located
        """Gives the URL of each link that has one, by link as written."""
        self._boundary = boundary
        self._resets_depth = boundary.rules.mode.reset_level
        self._look_up = look_up if boundary.asks_addresses else None
        self._state = state
        self._clock = clock
        self._count_excluded = count_excluded
        self._excluded, self._gates, self._judged = excluded, gates, judged
        self._rules = CandidateRules(boundary, traps)
        self._keys = UrlKeys()
        self._closed = self._closed_always = ""
        self._rules_hold = True
        self.limits_over: Callable[[], tuple[ExceededLimit, ...]] = tuple
        """Tells which limits close the source to new URLs; asked only if there is somebody to tell."""
        self._level_of = level_of
        self.seen = SeenUrls()
        self.meet: Callable[[Iterable[int]], None] | None = None
        """Told the keys of known URLs that were not met lately."""
        self.shorter: list[tuple[int, int]] = []
        """(key, depth) of known URLs to which a shorter route was found; the scheduler takes them."""

    def admit(
        self, hrefs: Iterable[str], base: str, depth: int, parent: str = ""
    ) -> tuple[list[QueueEntry], array[int]]:
        """Return the new queue entries among links found at `depth`, and the keys of all links inside.

        `base` is what relative links are joined to; `parent` is the URL of the page, if that is another one.
        """
        return self.admit_located(self.located(hrefs, base).values(), parent or base, depth)

    def admit_located(
        self, urls: Iterable[str], parent: str, depth: int
    ) -> tuple[list[QueueEntry], array[int]]:
        """Do what `admit` does with URLs that come from `located`."""
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
        """Do what `admit` does with absolute URLs that stand in no page of this source: no rule asks for one."""
        return self._admit(self.located(urls, _NO_PAGE).values(), "", depth)

    def _admit(self, urls: Iterable[str], parent: str, depth: int) -> tuple[list[QueueEntry], array[int]]:
        inside = array("q")
        unmet: dict[int, str] = {}
        seen_depth, keys = self.seen.get, self._keys
        for url in urls:
            key = keys[url]
            seen = seen_depth(key)
            if seen is None:
                unmet[key] = url
            elif seen >= 0:
                inside.append(key)
                if seen > depth:
                    self._shorter_route(key, depth)
            elif not self._rules_hold:
                unmet[key] = url
        return (self._unmet(unmet, parent, depth, inside) if unmet else []), inside

    def _shorter_route(self, key: int, depth: int) -> None:
        self.seen.add_key(key, depth)
        self.shorter.append((key, depth))

    def _unmet(self, unmet: dict[int, str], parent: str, depth: int, inside: array[int]) -> list[QueueEntry]:
        known = self._state.records.known_urls(list(unmet))
        if self._look_up is not None:
            self._look_up(host_of(url) for key, url in unmet.items() if key not in known)
        shown = self._urls.shown
        if known and self.meet is not None:
            self.meet(key for key in unmet if key in known)
        entries: list[QueueEntry] = []
        for key, url in unmet.items():
            if key in known:
                self.seen.add_key(key, known[key][1])
                inside.append(key)
                if known[key][1] > depth:
                    self._shorter_route(key, depth)
            elif self._inside(key, url, parent, depth):
                inside.append(key)
                if self._gates and not self._opens(site_of(url)):
                    self._put_off(key, url, depth, shown.get(url, ""))
                    continue
                entries.append(self.enter(key, url, depth, shown.get(url, "")))
        return entries

    def _opens(self, site: str) -> bool:
        return all(gate(site) for gate in self._gates)

    def _put_off(self, key: int, url: str, depth: int, display_url: str) -> None:
        entry = QueueEntry(key, url, site_of(url), depth, 0, display_url=display_url)
        self._state.records.discover_url(entry, self._clock(), queued=False)
        self.seen.add_key(key, depth)

    def _inside(self, key: int, url: str, parent: str, depth: int) -> bool:
        site, closed, holds = site_of(url), self._closed, self._rules_hold
        if not self._judged:
            rule = self._rules.rejects(url, depth, parent, site, closed, rules_hold=holds)
        else:
            candidate = self._rules.candidate(url, depth, parent, site, closed, rules_hold=holds)
            rule = self._rules.rejects(url, depth, parent, site, closed, rules_hold=holds)
            for note in self._judged:
                note(candidate._replace(over=self.limits_over() if closed else ()), rule or "")
        if rule is None:
            return True
        self._count_excluded(rule)
        for told in self._excluded:
            told(url, rule, parent, OUTSIDE)
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("%s: %s (%s)", OUTSIDE, url, rule)
        if self._rules.holds_for_good(rule):
            self.seen.add_key(key, REJECTED)
        return False

    def close(self, rule: str) -> None:
        """From now on exclude URLs that are not known yet, counted under `rule`; an empty rule ends that."""
        self._closed = self._closed_always = rule

    @contextmanager
    def closed_by(self, rule: str) -> Iterator[None]:
        """Inside the block exclude URLs that are not known yet, under `rule`; an empty rule changes nothing."""
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
        """Forget keys of URLs that left the document table, so that links to them count as new."""
        for key in keys:
            self.seen.drop(key)

    def note(self, key: int) -> None:
        """Treat a URL as known although it is in no stored queue, so that links to it do not queue it."""
        self.seen.add_key(key, 0)

    def enter(
        self,
        key: int,
        url: str,
        depth: int,
        display_url: str = "",
        hops: int = 0,
        level: int | None = None,
    ) -> QueueEntry:
        """Add a URL to the document table and to the queue; the rules choose the level unless one is given."""
        level = self._level_of(url) if level is None else level
        entry = QueueEntry(
            key, url, site_of(url), depth, self._state.queue.next_seq(), hops, display_url, level=level
        )
        self._state.records.discover_url(entry, self._clock())
        self.seen.add_key(key, depth)
        return entry
