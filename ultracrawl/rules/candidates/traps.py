"""Recognises crawler traps: patterns of URLs that go on growing while their pages bring nothing new."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple
from zlib import crc32

from ultracrawl.dataclass import dataclass, field
from ultracrawl.rules.duplicates.marks import SKETCH_SIZE, Marks, marks_of_url
from ultracrawl.rules.urls.canonical import site_of
from ultracrawl.rules.urls.patterns import pattern_expression, url_patterns

MAX_PATTERNS = 10_000
"""Patterns that are counted; when there are more, those with the fewest pages without new content are forgotten."""
MAX_MARKS = 400_000
"""Marks of words that are remembered, about 30 MB; then those of the site that was met first are forgotten."""
MAX_FRESH = 20_000
"""Patterns remembered whose pages brought new content."""
SPREAD = 10
"""A pattern with more wildcards than its URLs need is a trap only if it has so many values where it differs."""
DULL = 10
"""Pages without new content after which links to a pattern are no news."""
_SLOW = 4
"""The part of `limits.trap_pages` after which URLs of a pattern wait for the others of their site: one in so many."""
_WORTH = 2
"""One page with new content is worth the part of `limits.trap_pages` pages without: one in so many."""

_ALERT = 5
"""Pages without new content of one pattern from which on links and pages with new content are looked at closely."""
_WELL_KNOWN = 3
"""Pages with new content that a pattern must have had, so that no wider pattern bounds it."""
_MOST_GROWTH = 50
"""Pages without new content that are counted after the latest new URL of their site."""
_MOST_ROWS = 50
"""Patterns that are remembered from run to run."""

_patterns_of = lru_cache(4096)(url_patterns)


class Trap(NamedTuple):
    """A pattern that is a trap, or may be one."""

    pattern: str
    pages: int
    """Pages in a row without new content."""
    bounded: bool
    """Whether no further URL of it is requested; else they wait for the others of their site."""
    since: float = 0.0
    """When it was bounded, in seconds since the epoch."""

    @property
    def exclusion(self) -> str:
        """A regular expression that excludes it, for `boundary.uris.exclude`."""
        return pattern_expression(self.pattern)

    def __str__(self) -> str:
        """Return what is said of a bounded one, and what to do about it."""
        return (
            f"{self.pattern} is a crawler trap: {self.pages} pages brought nothing new, and no further URL of it is "
            f"requested; `limits: {{traps_allowed: ['{self.pattern}']}}` allows it, "
            f"`boundary: {{uris: {{exclude: [{{regexp: '{self.exclusion}'}}]}}}}` excludes it"
        )

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `status --json`."""
        return {
            "pattern": self.pattern,
            "pages": self.pages,
            "bounded": self.bounded,
            "exclusion": self.exclusion,
        }


@dataclass(slots=True)
class _Tally:
    """What is counted of a pattern."""

    alike: int = 0
    """Pages without new words, less those with new words."""
    score: int = 0
    """Pages in a row that brought neither new words nor, by a link, a URL that may have some."""
    grown: int = 0
    """New URLs of the pattern that pages of the pattern brought meanwhile."""
    values: set[int] = field(default_factory=set)
    """Hashes of what these pages have in place of the first wildcard, at most `SPREAD`."""
    since: float | None = None
    """When it was bounded; None if it is not."""

    def take_back(self, pages: int) -> None:
        """Count a page or a link that is new."""
        self.score = max(self.score - pages, 0)
        if not self.score:
            self.grown, self.since = 0, None
            self.values.clear()


class TrapPatterns:
    """Counts pages without new content by the patterns of their URLs (`rules.urls.patterns`).

    A pattern is a trap when so many pages (`pages_at`, by site) brought nothing new, and the pattern has grown by as
    many URLs meanwhile, which its own pages linked to, or others without new content. A page is new by a word that no
    page of its site had, or by a link to a URL of another pattern that may have some. One new page in fifty keeps a
    pattern from being a trap. Numbers and identifiers are no sure sign of new content, nor of old: such pages only
    make the pattern slow. Of a long page its sketch tells only that it is new; that it is not, all words have to tell.
    """

    def __init__(
        self,
        pages_at: Callable[[str], int | None] = lambda _: None,
        allowed: Iterable[str] = (),
        remembered: Iterable[list[Any]] = (),
    ) -> None:
        """Initialise; `allowed` are patterns that are no traps; `remembered` is what `as_rows` returned before."""
        self._pages_at = pages_at
        self._allowed = frozenset(allowed)
        self._spared = {wide.text for one in self._allowed for wide in url_patterns(one)}
        """What was counted of these is forgotten: it may be that of an allowed pattern."""
        self._tallies: dict[str, _Tally] = {}
        self._seen: dict[str, set[int]] = {}
        self._marks = 0
        self._met = deque[str](maxlen=MAX_FRESH)
        """URLs with new content, until there is a reason to look at their patterns."""
        self._fresh = Counter[str]()
        """Pages with new content by their narrowest pattern."""
        self._is_alert = False
        self._growth: dict[str, int] = {}
        """How many pages without new content are counted of each site: none of a site that has ceased to grow."""
        self.suspects: dict[str, bool] = {}
        """The patterns that are slow (False) or bounded (True)."""
        for row in remembered:
            self._resume(*row)

    def _resume(
        self,
        pattern: str,
        counts: list[int],
        values: list[int],
        since: float | None,
        limit: int,
        known: list[str],
    ) -> None:
        now = self._pages_at(site_of(pattern))
        if not now or pattern in self._spared:
            return
        alike, score, grown = counts
        tally = _Tally(alike, score, grown, set(values), since if now <= limit else None)
        self._tallies[pattern] = tally
        self._fresh.update(dict.fromkeys(known, _WELL_KNOWN))
        self._is_alert = True
        self._judge(pattern, tally, now, since or 0.0)

    def as_rows(self) -> list[list[Any]]:
        """Return what is remembered, as JSON: the bounded patterns first, then those with the most pages."""
        counted = [pattern for pattern, tally in self._tallies.items() if tally.alike >= _ALERT]
        bounded, tallies = self.suspects, self._tallies
        first = sorted(counted, key=lambda one: (not bounded.get(one), -tallies[one].alike, one))
        within: dict[str, list[str]] = {pattern: [] for pattern in first[:_MOST_ROWS]}
        for known in list(self._fresh):
            for wide, _ in _patterns_of(known) if self._is_well_known(known) else ():
                if wide in within:
                    within[wide].append(known)
        rows = []
        for pattern, known_ones in within.items():
            one, limit = tallies[pattern], self._pages_at(site_of(pattern))
            counts = [one.alike, one.score, one.grown]
            rows.append([pattern, counts, sorted(one.values), one.since, limit, known_ones[:_MOST_ROWS]])
        return rows

    # ---- what pages bring

    def note_words(self, site: str, marks: Marks) -> Marks:
        """Remember words of a page; returns those that no page of its site had."""
        seen = self._seen.get(site)
        if seen is None:
            seen = self._seen[site] = set()
        new = marks - seen
        seen |= new
        self._marks += len(new)
        while self._marks > MAX_MARKS and len(self._seen) > 1:
            self._marks -= len(self._seen.pop(next(iter(self._seen))))
        return new

    def needs_words(self, url: str) -> bool:
        """Return whether a page without new words in its sketch is to be looked at again, by all of its words."""
        return any(one.text in self.suspects for one in _patterns_of(url))

    def note_page(self, url: str, site: str, marks: Marks, now: float, *, is_whole: bool = True) -> None:
        """Count a page that was read for the first time; `marks` are those of its words, if `is_whole` of all.

        Else they are those of its sketch. It has none if its text is that of another page.
        """
        new = self.note_words(site, marks) if marks else marks
        if new and 0 in {mark & 1 for mark in new}:
            self._met.append(url)
            if self._is_alert:
                self._take_back(url, self._pages_at(site) or 0, now)
        elif (growth := self._growth.get(site)) and (limit := self._pages_at(site)):
            self._growth[site] = growth - 1
            if not self._allowed or self._allowed.isdisjoint([one.text for one in _patterns_of(url)]):
                self._count_alike(
                    url,
                    limit,
                    now,
                    is_sure=(is_whole or len(marks) < SKETCH_SIZE) and (not new or new <= marks_of_url(url)),
                )

    def _take_back(self, url: str, limit: int, now: float) -> None:
        for pattern, _ in _patterns_of(url):
            if (tally := self._tallies.get(pattern)) is not None:
                tally.alike = max(tally.alike - limit // _WORTH, 0)
                tally.take_back(limit // _WORTH)
                self._judge(pattern, tally, limit, now)

    def _count_alike(self, url: str, limit: int, now: float, *, is_sure: bool) -> None:
        for pattern, value in _patterns_of(url):
            if pattern == url:
                continue  # it is that of no other URL
            tally = self._tallies.get(pattern) or self._new_tally(pattern)
            tally.alike += tally.alike < limit
            if is_sure:
                tally.score += tally.score < limit
                if tally.score > _ALERT and len(tally.values) < SPREAD:
                    tally.values.add(crc32(value.encode("utf-8", "replace")))
            if tally.alike >= _ALERT:
                self._is_alert = True
                self._judge(pattern, tally, limit, now)

    def note_link(self, url: str, site: str, parent: str) -> None:
        """Count a new URL that a page linked to."""
        self._growth[site] = _MOST_GROWTH
        if not self._is_alert or not parent:
            return
        ours, theirs = ({pattern for pattern, _ in _patterns_of(one)} for one in (parent, url))
        was_dull, is_dull = self._are_dull(ours), self._are_dull(theirs)
        for pattern in theirs if was_dull else theirs & ours:
            if (tally := self._tallies.get(pattern)) is not None:
                tally.grown += 1
        for pattern in () if is_dull else ours - theirs:
            if (tally := self._tallies.get(pattern)) is not None:
                limit = self._pages_at(site_of(parent)) or 0
                tally.take_back(limit // _WORTH)
                self._judge(pattern, tally, limit, 0.0)

    def _are_dull(self, patterns: set[str]) -> bool:
        """Return whether pages of one of some patterns bring nothing new, as far as is known."""
        return any(pattern in self._tallies and self._tallies[pattern].alike >= DULL for pattern in patterns)

    def _is_well_known(self, narrow: str) -> bool:
        """Return whether pages of a pattern brought new content, so that no wider one bounds it."""
        while self._met:
            pattern = _patterns_of(self._met.popleft())[0].text
            if "#" in pattern or "*" in pattern:
                self._fresh[pattern] += 1
            if len(self._fresh) > MAX_FRESH:
                del self._fresh[next(iter(self._fresh))]
        return self._fresh[narrow] >= _WELL_KNOWN

    def _new_tally(self, pattern: str) -> _Tally:
        if len(self._tallies) >= MAX_PATTERNS:
            fewest_last = sorted(self._tallies, key=lambda one: self._tallies[one].alike, reverse=True)
            for one in fewest_last[MAX_PATTERNS // 2 :]:
                del self._tallies[one]
                self.suspects.pop(one, None)
        tally = self._tallies[pattern] = _Tally()
        return tally

    def _judge(self, pattern: str, tally: _Tally, limit: int, now: float) -> None:
        slow_at = limit // _SLOW
        is_alike = tally.score >= limit and tally.grown >= limit
        if tally.since is None and limit and is_alike and len(tally.values) >= SPREAD:
            tally.since = now
        if tally.since is not None or (limit and tally.alike >= slow_at and tally.grown >= slow_at):
            self.suspects[pattern] = tally.since is not None
        else:
            self.suspects.pop(pattern, None)

    # ---- what is known of URLs

    def bounding(self, url: str) -> str:
        """Return the pattern that keeps a new URL from being requested, empty if none does."""
        return self._found(url, bounded=True) if self.suspects else ""

    def slowing(self, url: str) -> str:
        """Return the pattern because of which a new URL waits for the others of its site, empty if there is none."""
        return self._found(url, bounded=False) if self.suspects else ""

    def _found(self, url: str, *, bounded: bool) -> str:
        patterns, suspects = [one.text for one in _patterns_of(url)], self.suspects
        if not self._allowed.isdisjoint(patterns):
            return ""
        own = patterns[:1] if self._is_well_known(patterns[0]) else patterns
        return next((pattern for pattern in own if suspects.get(pattern) is bounded), "")

    def traps(self) -> Iterator[Trap]:
        """Yield the patterns that are slow or bounded, in order."""
        for pattern, bounded in sorted(self.suspects.items()):
            tally = self._tallies[pattern]
            yield Trap(pattern, tally.alike, bounded, tally.since or 0.0)
