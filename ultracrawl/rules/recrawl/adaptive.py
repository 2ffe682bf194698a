"""The URLs of a minor cycle, chosen by change frequency and the six scorers of FAST (5.23 to 5.25)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from heapq import heappush, heappushpop
from math import ceil, exp, expm1, inf, log
from types import MappingProxyType
from typing import NamedTuple

from ultracrawl.dataclass import dataclass, field
from ultracrawl.rules.urls.canonical import path_of


@dataclass(frozen=True, slots=True)
class Observation:
    """The result of one visit that read a page or found it unchanged. Times are seconds since the epoch."""

    key: int
    at: float
    changed: bool = False
    """Whether its content differs from that of the visit before; a new date alone is no change."""
    modified: float | None = None
    """Its Last-Modified date, 0 without a credible one; None: unchanged."""
    markup: bool | None = None
    """Whether its type may contain links; None: unchanged."""


@dataclass(frozen=True, slots=True)
class ChangeHistory:
    """A summary of all visits to a page. Times are seconds since the epoch, or seconds."""

    first: float = 0.0
    """The first observation, 0 if there was none."""
    last: float = 0.0
    checks: int = 0
    """Observations after the first: each tells whether the page changed since the one before."""
    changes: int = 0
    """Number of checks that found a change."""
    quiet: float = 0.0
    """Total time for which the page is known not to have changed: per check, the time since its Last-Modified
    date if that is later than the check before, else since the check before."""
    modified: float = 0.0
    """The latest Last-Modified date, 0 without one."""

    def after(self, observation: Observation) -> ChangeHistory:
        """Return the history with one more observation; the state store does the same in SQL."""
        modified = self.modified if observation.modified is None else observation.modified
        if not self.first:
            return ChangeHistory(observation.at, observation.at, modified=modified)
        elapsed = observation.at - self.last
        quiet = min(elapsed, observation.at - modified) if modified > 0 else elapsed
        return ChangeHistory(
            self.first,
            observation.at,
            self.checks + 1,
            self.changes + observation.changed,
            self.quiet + max(quiet, 0.0),
            modified,
        )

    def interval(self, usual: float) -> float:
        """Return the estimated seconds between two changes; `usual` for a page without observations.

        * After one visit: the time since its Last-Modified date, or `usual` without one.
        * No change in any check: the time for which it did not change, by the visits or, if longer, by its date, plus
          `usual`, as if it had changed once in the time before. One visit without a change is little evidence.
        * Otherwise 1 / frequency, with the frequency as in Cho and Garcia-Molina, "Estimating frequency of change"
          (ACM TOIT 3(3), 2003): without dates, the bias-reduced estimator for regular visits,
          -ln((n - X + 0.5) / (n + 0.5)) for X changes in n checks a mean distance apart, because a visit detects at
          most one change; with dates, the estimator for a known date of last change (same paper, section 5),
          (X - 1 - X / (n ln(1 - X / n))) over the time known to be quiet. FAST's time / changes (5.24, 189)
          assumes that a page that changed at every visit changes once per visit.
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
        """Return changes per second; requires at least one change."""
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
"""Path suffixes of landing pages."""

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
"""The score of each `changefreq` of sitemaps; `default` is for URLs without one."""


class KnownPage(NamedTuple):
    """A known URL that may be fetched again."""

    key: int
    url: str
    site: str
    depth: int
    last_fetched: float = 0.0
    """Seconds since the epoch; 0 for a new URL, never fetched."""
    markup: bool = False
    """Whether its type may contain links."""
    changefreq: str = ""
    priority: float | None = None
    """From its sitemap, 0 to 1."""
    history: ChangeHistory = ChangeHistory()
    sitemap_lastmod: float = 0.0
    """`lastmod` of its sitemap, seconds since the epoch; 0 if there is none."""

    @property
    def is_outdated(self) -> bool:
        """Whether it has changed since it was fetched, according to a sitemap."""
        return 0 < self.last_fetched < self.sitemap_lastmod


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """The contribution of each scorer to the score of a URL: its value, from 0 to 1, times its weight."""

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
        """The score without the change history: the importance of the page."""
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
    """Return 1 for a start URL, 0 for a depth of ten or more (186)."""
    return max(0.0, (10 - hops) / 10)


def is_landing_page(url: str) -> float:
    """Return 1 for a landing page by the end of its path, 0 for others and for URLs with a query (187)."""
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
        """Return the contributions of the scorers for a page."""
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
        """Return 1 for a page that has changed according to a sitemap, else the score of its `changefreq` (190)."""
        if page.is_outdated:
            return 1.0
        return self.frequencies.get(page.changefreq, self.frequencies["default"])


DEFAULT_CYCLE = 90_000.0
"""Cycle length in seconds of a source without an interval: 1500 minutes (FAST 5.1 J60)."""
NO_PRIORITY = 0.5
"""The default priority of the sitemap protocol."""


class Aim(StrEnum):
    """What the order of known URLs optimises."""

    FRESHNESS = "freshness"
    """The average part of pages that are up to date: the gain of a visit, times the importance of the page."""
    SCORE = "score"
    """The highest scores first, whenever they were fetched."""


class SiteSize(NamedTuple):
    """The number of known URLs of a site."""

    fetched: int
    new: int
    """Never fetched."""


class Ranked(NamedTuple):
    """The sort key of a URL; greater ones are fetched first."""

    overdue: bool
    """Whether it was not fetched for too many cycles."""
    rank: float
    priority: float
    """From its sitemap."""
    waited: float
    """Seconds since it was fetched."""
    key: int


@dataclass(slots=True)
class Choice:
    """The initial URLs of a minor cycle."""

    pages: list[Ranked] = field(default_factory=list)
    """By site: the new URLs, then the known ones, best first."""
    allowance: dict[str, int] = field(default_factory=dict)
    """By site: the number of URLs found during the cycle that may be fetched in it."""


def gain(interval: float, waited: float) -> float:
    """Return the gain of a visit in freshness of a page, in seconds, `waited` seconds after the last visit.

    For a page that changes every `interval` seconds on average, independently of when it did before (Poisson), and
    is visited every t seconds, the part of time in which the copy is up to date is F(f) = (f / q)(1 - exp(-q / f))
    with q = 1 / interval and f = 1 / t. The gain is dF/df = (1 - exp(-q t)(1 + q t)) / q. A set of visits
    has the greatest average freshness if the gain is the same for all pages (Cho and Garcia-Molina, "Effective page
    refresh policies for web crawlers", ACM TODS 28(4), 2003); so the page with the greatest gain is next. It grows
    while a page waits, up to `interval`: visits to pages that change faster than they can be visited gain little.
    """
    ratio = waited / interval
    # 1 - exp(-p)(1 + p), in a form without loss of precision for a short wait.
    return interval * (-expm1(-ratio) - ratio * exp(-ratio)) if ratio < 700 else interval


@dataclass(frozen=True, slots=True)
class AdaptiveRule:
    """The choice of URLs for minor cycles; `scorer.cycle` is the length of a whole cycle in seconds."""

    scorer: Scorer
    minors: int = 4
    quota: int = 90
    """Percentage of known URLs among the fetches, if there are enough of both (182)."""
    coverage_min: int = 25
    coverage_max_pct: int = 10
    aim: Aim = Aim.FRESHNESS
    longest: int = 8
    """Cycles after which a known URL goes first whatever its score; 0: never."""

    def coverage(self, size: int) -> int:
        """Return the number of URLs that a minor cycle fetches of a site with `size` known URLs (183, 184)."""
        return min(size, self._max_coverage(size))

    def _max_coverage(self, size: int) -> int:
        return max(self.coverage_min, size * self.coverage_max_pct // 100)

    def new_share(self, size: int) -> int:
        """Return the number of new URLs among them, if there are enough (182)."""
        return ceil(self.coverage(size) * (100 - self.quota) / 100)

    def split(self, size: SiteSize) -> tuple[int, int]:
        """Return the numbers of known and new URLs to begin with; one kind fills up for the other."""
        total = self.coverage(size.fetched + size.new)
        new = min(size.new, max(self.new_share(size.fetched + size.new), total - size.fetched))
        return min(size.fetched, total - new), new

    def choose(self, pages: Iterable[KnownPage], sizes: Mapping[str, SiteSize], now: float) -> Choice:
        """Choose among all known URLs; `sizes` has all of their sites."""
        best: dict[str, tuple[list[Ranked], list[Ranked]]] = {site: ([], []) for site in sizes}
        room = {site: self.split(size) for site, size in sizes.items()}
        for page in pages:
            kind = 0 if page.last_fetched else 1
            limit, heap = room[page.site][kind], best[page.site][kind]
            if len(heap) < limit:
                heappush(heap, self.ranked(page, now))
            elif limit:
                heappushpop(heap, self.ranked(page, now))
        choice = Choice()
        for site, (known, new) in best.items():
            choice.pages += sorted(new, reverse=True) + sorted(known, reverse=True)
            choice.allowance[site] = self.allowance(sizes[site], len(known), len(new))
        return choice

    def allowance(self, size: SiteSize, known: int, new: int) -> int:
        """Return how many URLs found during a minor cycle may be fetched in it, besides the initial ones."""
        total = size.fetched + size.new
        unused = self._max_coverage(total) - known - new
        return max(self.new_share(total) - new, unused, 0)

    def ranked(self, page: KnownPage, now: float) -> Ranked:
        """Return the sort key of a page: rank, then sitemap priority, then the longest wait."""
        # A visit in the future was dated by a clock that was ahead; its real time is unknown.
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
