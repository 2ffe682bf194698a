"""Which URLs a minor cycle fetches: by how often pages change, and by the six scorers of FAST (5.23 to 5.25)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from heapq import heappush, heappushpop
from math import ceil, exp, expm1, inf, log
from types import MappingProxyType
from typing import NamedTuple

from ultracrawl.rules.urls.canonical import path_of


@dataclass(frozen=True, slots=True)
class Observation:
    """What one visit that read a page, or found it unchanged, says about its life. Seconds since the epoch."""

    key: int
    at: float
    changed: bool = False
    """Its content differs from that of the visit before; a new date alone is no change."""
    modified: float | None = None
    """Its Last-Modified date, 0 without a credible one; None: as it was."""
    markup: bool | None = None
    """Whether its type is one in which links are looked for; None: as it was."""


@dataclass(frozen=True, slots=True)
class ChangeHistory:
    """What all visits to a page together say. Seconds since the epoch, or seconds."""

    first: float = 0.0
    """The first observation, 0 if there was none."""
    last: float = 0.0
    checks: int = 0
    """Observations after the first: each says whether the page changed since the one before."""
    changes: int = 0
    """How many of the checks found a change."""
    quiet: float = 0.0
    """Sum, over the checks, of the time for which the page was known not to change: since its Last-Modified
    date if that is later than the check before, else since the check before."""
    modified: float = 0.0
    """The latest Last-Modified date, 0 without one."""

    def after(self, seen: Observation) -> ChangeHistory:
        """Return the history with one more observation; a state store does the same to what it holds."""
        modified = self.modified if seen.modified is None else seen.modified
        if not self.first:
            return ChangeHistory(seen.at, seen.at, modified=modified)
        passed = seen.at - self.last
        still = min(passed, seen.at - modified) if modified > 0 else passed
        return ChangeHistory(
            self.first,
            seen.at,
            self.checks + 1,
            self.changes + seen.changed,
            self.quiet + max(still, 0.0),
            modified,
        )

    def interval(self, usual: float) -> float:
        """Return the estimated seconds between two changes; `usual` for a page of which nothing is known.

        * After one visit: the time since its Last-Modified date, or `usual` without one.
        * No change in any check: the time for which it did not change, by the visits or, if longer, by its date, and
          `usual`: as if it had changed once in the time before. One quiet visit is little evidence.
        * Otherwise 1 / frequency, with the frequency as in Cho and Garcia-Molina, "Estimating frequency of change"
          (ACM TOIT 3(3), 2003): without dates, the bias-reduced estimator for regular visits,
          -ln((n - X + 0.5) / (n + 0.5)) for X changes in n checks a mean distance apart, because visits see at
          most one change each; with dates, the estimator for a known date of last change (same paper, section 5),
          (X - 1 - X / (n ln(1 - X / n))) over the time known to be quiet. FAST's time / changes (5.24, 189)
          takes a page that changed at every visit for one that changes once a visit.
        """
        if not self.first:
            return usual
        if not self.checks or self.last <= self.first:
            return max(self.first - self.modified, 1.0) if self._dated else usual
        if not self.changes:
            since = min(self.modified, self.first) if self._dated else self.first
            return usual + self.last - since
        return max(1.0 / self._frequency(), 1.0)

    @property
    def _dated(self) -> bool:
        return 0 < self.modified <= self.last

    def _frequency(self) -> float:
        """Return changes a second; meant for pages with at least one."""
        checks, changes = self.checks, min(self.changes, self.checks)
        if self._dated and changes >= 2 and self.quiet > 0:
            missed = changes / (checks * log(1 - changes / checks)) if changes < checks else 0.0
            return (changes - 1 - missed) / self.quiet
        mean = (self.last - self.first) / checks
        return -log((checks - changes + 0.5) / (checks + 0.5)) / mean


LANDING = (
    "/",
    "/index.html",
    "index.htm",
    "index.php",
    "index.jsp",
    "index.asp",
    "default.html",
    "default.htm",
)
"""How the paths of landing pages end."""

FREQUENCIES: Mapping[str, float] = MappingProxyType(
    {
        "always": 1.0,
        "hourly": 0.64,
        "daily": 0.32,
        "weekly": 0.16,
        "monthly": 0.08,
        "yearly": 0.04,
        "never": 0.0,
        "default": 0.16,
    }
)
"""The value of each `changefreq` of sitemaps; `default` is for URLs without one."""


class KnownPage(NamedTuple):
    """What is known of a URL that may be fetched again."""

    key: int
    url: str
    site: str
    depth: int
    last_fetched: float = 0.0
    """Seconds since the epoch; 0: never, it is a new URL."""
    markup: bool = False
    """Its type is one in which links are looked for."""
    changefreq: str = ""
    priority: float | None = None
    """By its sitemap, from 0 to 1."""
    history: ChangeHistory = ChangeHistory()
    sitemap_lastmod: float = 0.0
    """When it changed last by its sitemap, seconds since the epoch; 0 if that does not say."""

    @property
    def is_outdated(self) -> bool:
        """Whether a sitemap says that it changed since it was fetched."""
        return 0 < self.last_fetched < self.sitemap_lastmod


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """What each scorer adds to the score of a URL: its value, from 0 to 1, times its weight."""

    inverse_length: float = 1.0
    inverse_depth: float = 1.0
    is_landing_page: float = 1.0
    is_mime_markup: float = 1.0
    change_history: float = 10.0
    sitemap: float = 10.0

    @property
    def total(self) -> float:
        """The score."""
        return self.worth + self.change_history

    @property
    def worth(self) -> float:
        """The score without the change history: what the place of a page says about it."""
        return (
            self.inverse_length
            + self.inverse_depth
            + self.is_landing_page
            + self.is_mime_markup
            + self.sitemap
        )


DEFAULT_WEIGHTS = ScoreParts()


def inverse_length(url: str) -> float:
    """Return 1 for one slash in the path, 0 for ten or more (185)."""
    return max(0.0, (10 - path_of(url).partition("?")[0].count("/")) / 9)


def inverse_depth(hops: int) -> float:
    """Return 1 for a start URL, 0 for ten link steps or more (186)."""
    return max(0.0, (10 - hops) / 10)


def is_landing_page(url: str) -> float:
    """Return 1 for the page of a folder, by how its path ends; 0 for all others and for URLs with a query (187)."""
    return 1.0 if url.endswith(LANDING) and "?" not in url else 0.0


def change_value(interval: float, cycle: float) -> float:
    """Return R / (R + I) for a page that changes every I seconds, with cycles of R seconds (189)."""
    return cycle / (cycle + interval)


@dataclass(frozen=True, slots=True)
class Scorer:
    """Scores URLs with the weights of a source; `cycle` is the length of a cycle in seconds."""

    cycle: float
    weights: ScoreParts = DEFAULT_WEIGHTS
    frequencies: Mapping[str, float] = field(default_factory=lambda: FREQUENCIES)
    uses_sitemaps: bool = True

    def parts(self, page: KnownPage) -> ScoreParts:
        """Return what each scorer adds for a page."""
        weights = self.weights
        return ScoreParts(
            weights.inverse_length * inverse_length(page.url) if weights.inverse_length else 0.0,
            weights.inverse_depth * inverse_depth(page.depth) if weights.inverse_depth else 0.0,
            weights.is_landing_page * is_landing_page(page.url) if weights.is_landing_page else 0.0,
            weights.is_mime_markup if page.markup else 0.0,
            weights.change_history * change_value(page.history.interval(self.cycle), self.cycle),
            weights.sitemap * self._by_sitemap(page) if self.uses_sitemaps else 0.0,
        )

    def _by_sitemap(self, page: KnownPage) -> float:
        """Return 1 for a page of which a sitemap says that it changed, else what its `changefreq` is worth (190)."""
        if page.is_outdated:
            return 1.0
        return self.frequencies.get(page.changefreq, self.frequencies["default"])


DEFAULT_CYCLE = 90_000.0
"""Seconds of a cycle of a source without an interval: 1500 minutes (FAST 5.1 J60)."""
NO_PRIORITY = 0.5
"""What the sitemap protocol assumes for entries without a priority."""


class Aim(StrEnum):
    """What the order of known URLs is to achieve."""

    FRESHNESS = "freshness"
    """Most pages up to date, on average over time: the gain of a visit decides, times the worth of the page."""
    SCORE = "score"
    """The highest scores first, whenever they were fetched."""


class SiteSize(NamedTuple):
    """How many URLs of a site are known."""

    fetched: int
    new: int
    """Never fetched."""


class Ranked(NamedTuple):
    """A URL with its place in the order; greater ones go first."""

    overdue: bool
    """It was not fetched for too many cycles."""
    rank: float
    priority: float
    """By its sitemap."""
    waited: float
    """Seconds since it was fetched."""
    key: int


@dataclass(slots=True)
class Choice:
    """What a minor cycle begins with."""

    pages: list[Ranked] = field(default_factory=list)
    """The sites one after the other; of each the new URLs, then the known ones, best first."""
    allowance: dict[str, int] = field(default_factory=dict)
    """How many URLs of each site that are found in the cycle may be fetched in it."""


def gain(interval: float, waited: float) -> float:
    """Return what a visit adds to the freshness of a page, in seconds, `waited` seconds after the last one.

    For a page that changes every `interval` seconds on average, independently of when it did before (Poisson), and
    is visited every t seconds, the part of time in which the copy is up to date is F(f) = (f / q)(1 - exp(-q / f))
    with q = 1 / interval and f = 1 / t. The gain is dF/df = (1 - exp(-q t)(1 + q t)) / q. A set of visits
    has the greatest average freshness if the gain is the same for all pages (Cho and Garcia-Molina, "Effective page
    refresh policies for web crawlers", ACM TODS 28(4), 2003); so whatever has the greatest gain is next. It grows while
    a page waits, up to `interval`: pages that change faster than they can be visited are worth little.
    """
    passed = waited / interval
    # 1 - exp(-p)(1 + p), so written that the first terms do not swallow what is left of a short wait.
    return interval * (-expm1(-passed) - passed * exp(-passed)) if passed < 700 else interval


@dataclass(frozen=True, slots=True)
class AdaptiveRule:
    """How minor cycles choose; lengths are seconds, `scorer.cycle` is that of a whole cycle."""

    scorer: Scorer
    minors: int = 4
    quota: int = 90
    """Percent of known URLs among the fetches, as long as there are enough of both (182)."""
    coverage_min: int = 25
    coverage_max_pct: int = 10
    aim: Aim = Aim.FRESHNESS
    longest: int = 8
    """Cycles after which a known URL goes first whatever its score; 0: never."""

    def coverage(self, size: int) -> int:
        """Return how many URLs of a site with so many known ones a minor cycle fetches (183, 184)."""
        return min(size, self._most(size))

    def _most(self, size: int) -> int:
        return max(self.coverage_min, size * self.coverage_max_pct // 100)

    def new_share(self, size: int) -> int:
        """Return how many of them are new ones, if there are so many (182)."""
        return ceil(self.coverage(size) * (100 - self.quota) / 100)

    def split(self, size: SiteSize) -> tuple[int, int]:
        """Return how many known and how many new URLs come first: one kind takes what the other lacks."""
        total = self.coverage(size.fetched + size.new)
        new = min(size.new, max(self.new_share(size.fetched + size.new), total - size.fetched))
        return min(size.fetched, total - new), new

    def choose(self, pages: Iterable[KnownPage], sizes: Mapping[str, SiteSize], now: float) -> Choice:
        """Choose among all known URLs; `sizes` has every site of theirs."""
        best: dict[str, tuple[list[Ranked], list[Ranked]]] = {site: ([], []) for site in sizes}
        room = {site: self.split(size) for site, size in sizes.items()}
        for page in pages:
            kind = 0 if page.last_fetched else 1
            most, heap = room[page.site][kind], best[page.site][kind]
            if len(heap) < most:
                heappush(heap, self.ranked(page, now))
            elif most:
                heappushpop(heap, self.ranked(page, now))
        choice = Choice()
        for site, (known, new) in best.items():
            choice.pages += sorted(new, reverse=True) + sorted(known, reverse=True)
            choice.allowance[site] = self.allowance(sizes[site], len(known), len(new))
        return choice

    def allowance(self, size: SiteSize, known: int, new: int) -> int:
        """Return how many URLs that turn up in a minor cycle may be fetched in it, beside those it begins with."""
        size_now = size.fetched + size.new
        unused = self._most(size_now) - known - new
        return max(self.new_share(size_now) - new, unused, 0)

    def ranked(self, page: KnownPage, now: float) -> Ranked:
        """Return a page with its place in the order: by rank, then sitemap priority, then the longest wait."""
        # A visit to come was dated by a clock that was ahead; nobody knows when it was.
        waited = abs(now - page.last_fetched) if page.last_fetched else 0.0
        overdue = bool(self.longest) and waited >= self.longest * self.scorer.cycle
        priority = NO_PRIORITY if page.priority is None else page.priority
        return Ranked(overdue, self._rank(page, waited), priority, waited, page.key)

    def _rank(self, page: KnownPage, waited: float) -> float:
        parts = self.scorer.parts(page)
        if self.aim is Aim.SCORE or not page.last_fetched:
            return parts.total
        interval = max(page.history.interval(self.scorer.cycle), self.scorer.cycle / self.minors)
        certain = self.scorer.uses_sitemaps and page.is_outdated
        return (self.scorer.weights.change_history + parts.worth) * gain(interval, inf if certain else waited)
