"""Turns the URLs of links into queue entries: recently seen keys, document table, boundary, limits of the site."""

from __future__ import annotations

import logging
import sys
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from ultracrawl.model.candidate import Candidate, ExceededLimit
from ultracrawl.model.page import Link, LinkKind
from ultracrawl.rules.candidates.rules import CandidateRules
from ultracrawl.rules.urls.canonical import host_of, site_of, url_key
from ultracrawl.scheduler.link_urls import Excluded, LinkUrls
from ultracrawl.stores import QueueEntry, Store

logger = logging.getLogger(__name__)

OUTSIDE_BOUNDARY = "30027 URL outside the boundary"
_DUMMY_BASE = "http://localhost/"
"""Base for absolute URLs, which joining leaves unchanged."""
REJECTED = -1
"""Stored in place of the depth of an excluded URL."""
GENERATION_SIZE = 200_000
"""Keys of one generation, about 25 MB."""
HASH_BITS = 48
_HASH_MASK = (1 << HASH_BITS) - 1
MAX_LATE_KEYS = 50_000
"""Limit of links that wait for the next flush, about 15 MB; further ones are looked up at once."""
_NO_KINDS: Mapping[str, LinkKind] = {}
MAX_CACHED_KEYS = 20_000
"""Limit of URLs whose keys are cached, about 4 MB."""


class SeenUrls:
    """Recently seen keys, each with a mark: the depth, or `REJECTED`, above `HASH_BITS` bits of a hash of the URL.

    Bounded: two generations of at most `GENERATION_SIZE` keys (about 25 MB each); the older one is dropped when the
    younger one is full. The hash is the one that Python keeps in each string.
    """

    def __init__(self) -> None:
        self._young: dict[int, int] = {}
        self._old: dict[int, int] = {}

    def get(self, key: int) -> int | None:
        """Return the mark of a key, negative if it was rejected, or None if it was not seen recently."""
        mark = self._young.get(key)
        if mark is None:
            mark = self._old.get(key)
            if mark is not None:
                self._add(key, mark)
        return mark

    def add_url(self, key: int, url: str, depth: int) -> None:
        """Remember a URL."""
        self._add(key, depth << HASH_BITS | hash(url) & _HASH_MASK)

    def _add(self, key: int, mark: int) -> None:
        if len(self._young) >= GENERATION_SIZE:
            self._old = self._young
            self._young = {}
        self._young[key] = mark

    def drop(self, key: int) -> None:
        """Forget a key."""
        self._young.pop(key, None)
        self._old.pop(key, None)

    def drop_other(self, key: int, url: str) -> None:
        """Forget a key that was seen with another URL, so that the table of URLs is asked."""
        mark = self.get(key)
        if mark is not None and (mark ^ hash(url)) & _HASH_MASK:
            self.drop(key)


class UrlKeys(dict[str, int]):
    """A cache of URL keys: most links of a page also occur in the previous page.

    The key of a URL that is in the cache was not seen with another URL.
    """

    def __init__(self, seen: SeenUrls) -> None:
        super().__init__()
        self._seen = seen

    def __missing__(self, url: str) -> int:
        """Compute and cache the key of a URL; a full cache is cleared first."""
        if len(self) >= MAX_CACHED_KEYS:
            self.clear()
        key = self[url] = url_key(url)
        self._seen.drop_other(key, url)
        return key


class CandidateListeners(NamedTuple):
    """Who hears of the links of pages, and who decides about them beside the rules."""

    count_excluded: Callable[[str], None]
    """Called with the rule that excludes a link, the first time that it does."""
    excluded: Sequence[Excluded] = ()
    """Called when a link is excluded for the first time, not again while its key is remembered."""
    gates: Sequence[Callable[[str], bool]] = ()
    """Called with the site of each new URL; return whether it is fetched in this cycle, else it is recorded only."""
    judged: Sequence[Callable[[Candidate, str], None]] = ()
    """Called for each new URL with the rule that excludes it (empty for none)."""
    look_up: Callable[[Iterable[str]], None] | None = None
    """Receives the hosts of new URLs before the boundary is checked, for rules about addresses."""
    shares_key: Callable[[str, str], None] = lambda _url, _known: None
    """Called with a URL that is not crawled, because its key is that of another known one."""
    limits_over: Callable[[], tuple[ExceededLimit, ...]] = tuple
    """Returns the limits that close the source to new URLs; called only if there are `judged` listeners."""


class LinkPage(NamedTuple):
    """Where links come from, and what applies to all of them."""

    parent: str
    """The URL of the page; empty for links from outside the source."""
    depth: int
    """The depth of its links."""
    closed: str = ""
    """The rule that excludes unknown URLs; empty: that of `CandidateFilter.close`."""
    rules_hold: bool = True
    """Whether the rules about domains, ports, paths and URIs apply."""
    may_wait: bool = False
    """Whether known URLs need not be looked up before the next flush; see `CandidateFilter.late`."""
    hops: int = 0
    """The off-focus hops of its links."""
    likely_only: bool = False
    """Whether only such may wait as are known in all likelihood, not all in a store with too many URLs to tell."""
    kinds: Mapping[str, LinkKind] = _NO_KINDS
    """The kinds of its links by URL, if somebody hears of candidates; `a` for others."""


class LateLink(NamedTuple):
    """A link to a URL that is known in all likelihood, until that is looked up."""

    url: str
    """Empty for one that only its key is known of: a stored link of an unchanged page."""
    page: LinkPage
    seq: int = 0
    """The place in the queue that is kept for it, 0 for none."""

    def joined(self, url: str, page: LinkPage) -> LateLink:
        """Return what one more link to the URL makes of it: the least depth, and hops, of pages that admit new URLs."""
        if not self.url:
            return LateLink(url, page, self.seq)
        one, other = sorted((self.page, page), key=lambda found: (bool(found.closed), found.depth))
        depth = min(one.depth, other.depth)
        hops = one.hops if other.closed else min(one.hops, other.hops)
        return LateLink(self.url, one._replace(depth=depth, hops=hops), self.seq)


_STORED_LINK = LinkPage("", sys.maxsize)
"""The page of stored links: the depth that they were found at is stored, too."""


class CandidateFilter:
    """Decides which links of a page become queue entries, and collects the keys of all accepted links.

    Order: canonical form and rewrite rules, rewriter, recently seen keys, document table, depth and boundary. An
    excluded link is counted once, under the rule that excluded it. `level_of` returns the level of a URL.
    """

    def __init__(
        self,
        urls: LinkUrls,
        rules: CandidateRules,
        state: Store,
        clock: Callable[[], float],
        listeners: CandidateListeners,
        level_of: Callable[[str], int] = lambda _: 1,
    ) -> None:
        self._urls = urls
        self.resolve = urls.resolve
        """Returns the URL of each link that has one, by link as written."""
        self._rules = rules
        self._resets_depth = rules.boundary.rules.mode.reset_level
        self._look_up = listeners.look_up if rules.boundary.needs_addresses else None
        self._state = state
        self._clock = clock
        self._listeners = listeners
        self._closed = ""
        self._level_of = level_of
        self.seen = SeenUrls()
        self._keys = UrlKeys(self.seen)
        self.late: dict[int, LateLink] = {}
        """Links to URLs that are known in all likelihood, by key: the next flush tells their URL and depth."""
        self.on_late: Callable[[int, str], int] | None = None
        """Called with key and site of each of them, the first time; returns the place in the queue that it keeps."""
        self.on_late_admitted: Callable[[int, int], None] | None = None
        """Called with key and hops of those of them that were new after all, if they have hops."""
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
        return self.admit_resolved(self.resolve(hrefs, base).values(), LinkPage(parent or base, depth))

    def kinds_of(self, links: Sequence[Link], urls: Mapping[str, str]) -> Mapping[str, LinkKind]:
        """Return the kinds of links by their `urls`, if somebody hears of candidates.

        A refresh that is no redirect is judged as a plain link, and counts as one.
        """
        if not self._listeners.judged:
            return _NO_KINDS
        named = (link for link in reversed(links) if link.kind is not LinkKind.META_REFRESH)
        return {urls[link.href]: link.kind for link in named if link.href in urls}

    def admit_resolved(self, urls: Iterable[str], page: LinkPage) -> tuple[list[QueueEntry], array[int]]:
        """Do the same as `admit` for URLs returned by `resolve`."""
        if not self._resets_depth:
            return self._admit(urls, page)
        entries: list[QueueEntry] = []
        inside = array("q")
        by_depth: dict[int, list[str]] = {}
        link_depth = self._rules.boundary.link_depth
        for url in urls:
            by_depth.setdefault(link_depth(url, page.parent, page.depth - 1), []).append(url)
        for depth, group in by_depth.items():
            new, keys = self._admit(group, page._replace(depth=depth))
            entries += new
            inside += keys
        return entries, inside

    def admit_offered(self, urls: Iterable[str], depth: int) -> tuple[list[QueueEntry], array[int]]:
        """Do the same as `admit` for absolute URLs that no page of this source links to."""
        return self._admit(self.resolve(urls, _DUMMY_BASE).values(), LinkPage("", depth))

    def _admit(self, urls: Iterable[str], page: LinkPage) -> tuple[list[QueueEntry], array[int]]:
        inside = array("q")
        unseen: dict[int, str] = {}
        mark_of, keys, depth = self.seen.get, self._keys, page.depth
        deeper = depth + 1 << HASH_BITS
        for url in urls:
            key = keys[url]
            seen = mark_of(key)
            if seen is None:
                if unseen.setdefault(key, url) != url:
                    self._listeners.shares_key(url, unseen[key])
            elif seen >= 0:
                inside.append(key)
                if seen >= deeper:
                    self._note_shorter_route(key, url, depth)
            elif not page.rules_hold:
                unseen[key] = url
        return (self._admit_unseen(unseen, page, inside) if unseen else []), inside

    def _note_shorter_route(self, key: int, url: str, depth: int) -> None:
        self.seen.add_url(key, url, depth)
        self.shorter_routes.append((key, depth))

    def _admit_unseen(self, unseen: dict[int, str], page: LinkPage, inside: array[int]) -> list[QueueEntry]:
        known, waiting = self._known(unseen, page)
        for key in [key for key, (url, _) in known.items() if url != unseen[key]]:
            self._listeners.shares_key(unseen.pop(key), known.pop(key)[0])
        if self._look_up is not None:
            new = (url for key, url in unseen.items() if key not in known and key not in waiting)
            self._look_up(map(host_of, new))
        for key in waiting:  # before new URLs get their places
            self._wait_for(key, unseen[key], page)
        depth = page.depth
        if known and self.on_known is not None:
            self.on_known(key for key in unseen if key in known)
        entries: list[QueueEntry] = []
        for key, url in unseen.items():
            if key in known:
                self.seen.add_url(key, url, known[key][1])
                inside.append(key)
                if known[key][1] > depth:
                    self._note_shorter_route(key, url, depth)
            elif key in waiting:
                inside.append(key)
            elif self._is_inside(key, url, page):
                inside.append(key)
                entries += self._admit_new(key, url, depth)
        return entries

    def _known(
        self, unseen: dict[int, str], page: LinkPage
    ) -> tuple[dict[int, tuple[str, int]], Collection[int]]:
        """Return (url, depth) of the known ones by key, and the keys of those that may wait for the next flush."""
        records = self._state.records
        if page.may_wait and len(self.late) < MAX_LATE_KEYS:
            answer = records.known_in_memory(list(unseen))
            # A place is kept for what is most likely known, not for what is out of the boundary.
            unsifted = self.on_late is None and not page.likely_only
            if answer is not None and (answer.sifted or unsifted):
                # Another URL with a key that waits: only one of them can be looked up later.
                waits = self.late.get
                if all(waits(key, (unseen[key],))[0] in (unseen[key], "") for key in answer.likely):
                    return answer.known, dict.fromkeys(answer.likely)
        return records.known_urls(list(unseen)), ()

    def _wait_for(self, key: int, url: str, page: LinkPage) -> None:
        before = self.late.get(key)
        if before is not None:
            self.late[key] = before.joined(url, page)
        else:
            self.late[key] = LateLink(url, page, self.on_late(key, site_of(url)) if self.on_late else 0)

    def wait_for_stored(self, keys: Iterable[int], site: str) -> bool:
        """Have stored links of a page of a site looked up with the others; returns whether there is room for them."""
        if len(self.late) >= MAX_LATE_KEYS:
            return False
        for key in keys:
            if key not in self.late:
                self.late[key] = LateLink("", _STORED_LINK, self.on_late(key, site) if self.on_late else 0)
        return True

    def _admit_new(self, key: int, url: str, depth: int) -> list[QueueEntry]:
        """Add a new URL inside the boundary; returns its entry, unless it is only recorded in this cycle."""
        shown, gates = self._urls.shown.get(url, ""), self._listeners.gates
        if gates and not all(gate(site_of(url)) for gate in gates):
            self._record_only(key, url, depth, shown)
            return []
        return [self.add_url(key, url, depth, shown)]

    def settle(self, keys: Iterable[int], known: Mapping[int, tuple[str, int]]) -> list[QueueEntry]:
        """Do what waited for the URLs and depths of `late` links; returns the entries of those that were new after all.

        `keys` were looked up; `known` has (url, depth) by key for those of them that are known.
        """
        return self._settle({key: self.late.pop(key) for key in keys if key in self.late}, known)

    def settle_one(self, key: int, url: str, depth: int) -> None:
        """Do what waited for one URL, which is known, at a depth; from now on links to it wait for nothing."""
        late = self.late.pop(key, None)
        if late is not None:
            self._settle({key: late}, {key: (url, depth)})
        elif self.seen.get(key) is None:
            self.seen.add_url(key, url, depth)

    def _settle(self, late: Mapping[int, LateLink], known: Mapping[int, tuple[str, int]]) -> list[QueueEntry]:
        entries: list[QueueEntry] = []
        for key, (url, page, _) in late.items():
            if key in known:
                stored, depth = known[key]
                if url and stored != url:
                    self._listeners.shares_key(url, stored)
                    continue
                self.seen.add_url(key, stored, depth)
                if depth > page.depth:
                    self._note_shorter_route(key, url, page.depth)
            elif url and self.seen.get(key) is None and self._is_inside(key, url, page):
                entries += self._admit_new(key, url, page.depth)
                if page.hops > 0 and self.on_late_admitted is not None:
                    self.on_late_admitted(key, page.hops)
        return entries

    def _record_only(self, key: int, url: str, depth: int, display_url: str) -> None:
        entry = QueueEntry(key, url, site_of(url), depth, 0, display_url=display_url)
        self._state.records.discover_url(entry, self._clock(), queued=False)
        self.seen.add_url(key, url, depth)

    def _is_inside(self, key: int, url: str, page: LinkPage) -> bool:
        site, closed, listeners = site_of(url), page.closed or self._closed, self._listeners
        candidate = None
        if listeners.judged:  # with the counts from before this URL
            candidate = self._rules.candidate(
                url, page.depth, page.parent, site, closed, rules_hold=page.rules_hold
            )
        rule = self._rules.rejects(url, page.depth, page.parent, site, closed, rules_hold=page.rules_hold)
        if candidate is not None:
            over, kind = listeners.limits_over() if closed else (), page.kinds.get(url, LinkKind.A)
            candidate = candidate._replace(over=over, kind=kind)
            for on_judged in listeners.judged:
                on_judged(candidate, rule or "")
        if rule is None:
            return True
        listeners.count_excluded(rule)
        for on_excluded in listeners.excluded:
            on_excluded(url, rule, page.parent, OUTSIDE_BOUNDARY)
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("%s: %s (%s)", OUTSIDE_BOUNDARY, url, rule)
        if self._rules.holds_for_good(rule):
            self.seen.add_url(key, url, REJECTED)
        else:
            self._keys.pop(url, None)
        return False

    def close(self, rule: str) -> None:
        """Exclude unknown URLs from now on, counted under `rule`; an empty rule admits them again."""
        self._closed = rule

    def forget(self, keys: Iterable[int]) -> None:
        """Forget URLs that left the document table, so that links to them count as new."""
        self._keys.clear()
        for key in keys:
            self.seen.drop(key)
            self.late.pop(key, None)

    def mark_known(self, entry: QueueEntry) -> None:
        """Mark a URL as known although it is not in the stored queue, so that links to it do not queue it."""
        self.seen.add_url(entry.key, entry.url, 0)

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
        self.seen.add_url(key, url, depth)
        return entry
