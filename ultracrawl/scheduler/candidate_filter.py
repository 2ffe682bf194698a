"""From a link as written to a queue entry: canonical form, duplicate check, boundary, document table."""

from __future__ import annotations

import logging
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from ultracrawl.crawl.run.limits import REFRESH_ONLY
from ultracrawl.rules.boundary import Boundary, UrlRewriter
from ultracrawl.rules.boundary.focus import FOCUSED
from ultracrawl.rules.frontier.limits import TrapGuard
from ultracrawl.rules.urls import JoinedLinks, UrlPolicy, host_of, site_of, url_key
from ultracrawl.scheduler.rewriting import LinkRewriting
from ultracrawl.stores import QueueEntry, Store

logger = logging.getLogger(__name__)

REJECTED = -1
GENERATION = 200_000
UNUSABLE = 20_000
"""Links without a URL that are remembered, so that each is looked at once."""
_NO_PAGE = "http://localhost/"
"""What absolute URLs are joined to, which changes nothing."""
OTHER_SCHEME = "URL scheme"
LENGTH_RULE = "URL too long"
TOO_LONG = "30054 excessively long URL"
MALFORMED = "30030 malformed URL"
OUTSIDE = "30027 URL outside the boundary"


class SeenUrls:
    """The keys met lately, with their depth or `REJECTED`: spares the document table a look-up per link.

    Bounded: two generations of at most `GENERATION` keys (about 20 MB each); the older one is forgotten when
    the younger one is full.
    """

    def __init__(self) -> None:
        self._young: dict[int, int] = {}
        self._old: dict[int, int] = {}

    def get(self, key: int) -> int | None:
        """Return the depth of a key, `REJECTED`, or None if it was not met lately."""
        depth = self._young.get(key)
        if depth is None:
            depth = self._old.get(key)
            if depth is not None:
                self.put(key, depth)
        return depth

    def put(self, key: int, depth: int) -> None:
        """Remember a key."""
        if len(self._young) >= GENERATION:
            self._old = self._young
            self._young = {}
        self._young[key] = depth

    def drop(self, key: int) -> None:
        """Forget a key."""
        self._young.pop(key, None)
        self._old.pop(key, None)


class CandidateFilter:
    """Decides which links of a page become queue entries, and which keys the page links to.

    The order is: canonical form and rewrite rules, rewriter, met lately, document table, depth and boundary. A link
    that is turned away is counted once under the rule that did it. `look_up` is told the hosts of new URLs
    before the boundary is asked, for rules that look at addresses. `screened` is told URL, rule, page and message of
    each link that is turned away for the first time; links met lately cost it nothing. `closed` is a rule that turns
    away whatever is not known yet.
    """

    def __init__(
        self,
        policy: UrlPolicy,
        boundary: Boundary,
        state: Store,
        clock: Callable[[], float],
        rejected_by: Counter[str],
        rewriter: UrlRewriter | None = None,
        look_up: Callable[[Iterable[str]], None] | None = None,
        screened: Callable[[str, str, str, str], None] | None = None,
        closed: str = "",
        level_of: Callable[[str], int] = lambda _: 1,
    ) -> None:
        self._policy = policy
        self._rewriting = LinkRewriting(policy, rewriter, rejected_by, screened) if rewriter else None
        self._joined = JoinedLinks(policy.canonical)
        self._boundary = boundary
        self._resets_depth = boundary.rules.mode.reset_level
        self._look_up = look_up if boundary.asks_addresses else None
        self._state = state
        self._clock = clock
        self._rejected_by = rejected_by
        self._screened = screened
        self._closed = closed
        self._closed_always = closed
        self._rules_hold = True
        self.traps: TrapGuard | None = None
        """Counts new URLs of sites that may be endless."""
        self._level_of = level_of
        self.seen = SeenUrls()
        self.meet: Callable[[Iterable[int]], None] | None = None
        """Told the keys of known URLs that were not met lately."""
        self.admits: Callable[[str], bool] | None = None
        """Asked for each new URL, by its site, whether it may be fetched in this cycle; if not, it is known only."""
        self._unusable: set[str] = set()
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

    def located(self, hrefs: Iterable[str], base: str) -> dict[str, str]:
        """Return the URL of each link that has one, by link as written."""
        if self._rewriting:
            self._rewriting.shown.clear()
        found = {}
        for href, url in self._with_urls(dict.fromkeys(hrefs), base):
            if url is not None:
                found[href] = url
            elif href not in self._unusable:
                self._count_unusable(href, base)
        return found

    def _with_urls(self, hrefs: Iterable[str], base: str) -> Iterable[tuple[str, str | None]]:
        if self._rewriting:
            rewritten = self._rewriting.canonical
            return ((href, rewritten(href, base)) for href in hrefs)
        return self._joined.of(hrefs, base)

    def _count_unusable(self, href: str, base: str) -> None:
        """Count a link that leads to no URL; links to other kinds of things (`mailto:`) are none of our business."""
        if len(self._unusable) >= UNUSABLE:
            self._unusable.clear()
        self._unusable.add(href)
        decision = self._policy.canonicalise(href, base).decision
        if decision.accept or decision.rule == OTHER_SCHEME:
            return
        self._rejected_by[decision.rule] += 1
        message = TOO_LONG if decision.rule == LENGTH_RULE else MALFORMED
        if self._screened is not None:
            self._screened(href, decision.rule, base, message)
        if logger.isEnabledFor(logging.INFO):
            logger.info("%s: %.200r in %s", message, href, base)

    def _admit(self, urls: Iterable[str], parent: str, depth: int) -> tuple[list[QueueEntry], array[int]]:
        inside = array("q")
        unmet: dict[int, str] = {}
        seen_depth = self.seen.get
        for url in urls:
            key = url_key(url)
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
        self.seen.put(key, depth)
        self.shorter.append((key, depth))

    def _unmet(self, unmet: dict[int, str], parent: str, depth: int, inside: array[int]) -> list[QueueEntry]:
        known = self._state.records.known_urls(list(unmet))
        if self._look_up is not None:
            self._look_up(host_of(url) for key, url in unmet.items() if key not in known)
        shown = self._rewriting.shown if self._rewriting else {}
        if known and self.meet is not None:
            self.meet(key for key in unmet if key in known)
        entries: list[QueueEntry] = []
        for key, url in unmet.items():
            if key in known:
                self.seen.put(key, known[key][1])
                inside.append(key)
                if known[key][1] > depth:
                    self._shorter_route(key, depth)
            elif self._inside(key, url, parent, depth):
                inside.append(key)
                if self.admits is not None and not self.admits(site_of(url)):
                    self._put_off(key, url, depth, shown.get(url, ""))
                    continue
                entries.append(self.enter(key, url, depth, shown.get(url, "")))
        return entries

    def _put_off(self, key: int, url: str, depth: int, display_url: str) -> None:
        entry = QueueEntry(key, url, site_of(url), depth, 0, display_url=display_url)
        self._state.records.discover_url(entry, self._clock(), queued=False)
        self.seen.put(key, depth)

    def _inside(self, key: int, url: str, parent: str, depth: int) -> bool:
        rejects = (
            self._boundary.rejects(url, depth, parent=parent)
            if self._rules_hold
            else (self._boundary.rejects_anyway(url, depth, parent))
        )
        rule = rejects or self._closed or self._trap(url)
        if rule is None:
            return True
        self._rejected_by[rule] += 1
        if self._screened is not None:
            self._screened(url, rule, parent, OUTSIDE)
        if logger.isEnabledFor(logging.INFO):
            logger.info("%s: %s (%s)", OUTSIDE, url, rule)
        if rule not in (FOCUSED, REFRESH_ONLY) and not self._boundary.depends_on_route(rule):
            self.seen.put(key, REJECTED)
        return False

    def _trap(self, url: str) -> str | None:
        return self.traps.rejects(url, site_of(url)) if self.traps is not None else None

    def close(self, rule: str) -> None:
        """Turn away whatever is not known yet under a rule from now on; nothing with an empty rule."""
        self._closed = self._closed_always = rule

    @contextmanager
    def closed_by(self, rule: str) -> Iterator[None]:
        """Turn away whatever is not known yet under a rule, meanwhile; with an empty rule all is as always."""
        self._closed = rule or self._closed_always
        try:
            yield
        finally:
            self._closed = self._closed_always

    @contextmanager
    def without_rules(self) -> Iterator[None]:
        """Let URLs in, meanwhile, whatever the rules about domains, ports, paths and URIs say."""
        self._rules_hold = False
        try:
            yield
        finally:
            self._rules_hold = True

    def forget(self, keys: Iterable[int]) -> None:
        """Take note that URLs are not known any more."""
        for key in keys:
            self.seen.drop(key)

    def note(self, key: int) -> None:
        """Take a URL for known that stands in no stored queue, so that links to it do not queue it."""
        self.seen.put(key, 0)

    def enter(
        self,
        key: int,
        url: str,
        depth: int,
        display_url: str = "",
        hops: int = 0,
        level: int | None = None,
    ) -> QueueEntry:
        """Make a URL known and queue it, on the level that the rules say unless one is given."""
        level = self._level_of(url) if level is None else level
        entry = QueueEntry(
            key, url, site_of(url), depth, self._state.queue.next_seq(), hops, display_url, level=level
        )
        self._state.records.discover_url(entry, self._clock())
        self.seen.put(key, depth)
        return entry
