"""The sections `refresh` and `orphans` of a source: what is fetched again, when, and what was not seen any more."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ultracrawl.rules.recrawl.adaptive import (
    DEFAULT_CYCLE,
    FREQUENCIES,
    AdaptiveRule,
    Aim,
    ScoreParts,
    Scorer,
)
from ultracrawl.rules.recrawl.cycle import CycleRule, RefreshMode
from ultracrawl.sources.durations import Interval
from ultracrawl.sources.sections.section import Section

Weight = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]


class WeightsSection(Section):
    """How much each scorer counts; 0 switches it off."""

    inverse_length: Weight = Field(default=1.0, examples=[1])
    """Weight of few slashes in the path: 1 for one, 0 for ten."""
    inverse_depth: Weight = Field(default=1.0, examples=[2])
    """Weight of few link steps from a start URL: 1 for none, 0 for ten."""
    is_landing_page: Weight = Field(default=1.0, examples=[1.5])
    """Weight of being the page of a folder: its path ends in `/`, `index.html` or the like."""
    is_mime_markup: Weight = Field(default=1.0, examples=[0.5])
    """Weight of being of a type in `links.types`."""
    change_history: Weight = Field(default=10.0, examples=[8])
    """Weight of how often the page changes."""
    sitemap: Weight = Field(default=10.0, examples=[4])
    """Weight of what its sitemap says, by `sitemap_weights`."""

    @property
    def parts(self) -> ScoreParts:
        """The weights as the scorer takes them."""
        return ScoreParts(**dict(self))


def _share(name: str) -> float:
    return FREQUENCIES[name]


class SitemapWeightsSection(Section):
    """What each `changefreq` of a sitemap is worth, from 0 to 1."""

    always: Share = Field(default=_share("always"), examples=[1])
    """Value of `always`."""
    hourly: Share = Field(default=_share("hourly"), examples=[0.8])
    """Value of `hourly`."""
    daily: Share = Field(default=_share("daily"), examples=[0.5])
    """Value of `daily`."""
    weekly: Share = Field(default=_share("weekly"), examples=[0.2])
    """Value of `weekly`."""
    monthly: Share = Field(default=_share("monthly"), examples=[0.1])
    """Value of `monthly`."""
    yearly: Share = Field(default=_share("yearly"), examples=[0.05])
    """Value of `yearly`."""
    never: Share = Field(default=_share("never"), examples=[0])
    """Value of `never`."""
    default: Share = Field(default=_share("default"), examples=[0.2])
    """Value for URLs without a `changefreq`, or with another one."""


class AdaptiveSection(Section):
    """Adaptive refreshing: minor cycles, shares of known and new URLs, scores."""

    refresh_count: int = Field(default=4, ge=1, le=10_000, examples=[6])
    """Minor cycles of equal length in a cycle."""
    refresh_quota: int = Field(default=90, ge=0, le=100, examples=[80])
    """Percent of known URLs among the fetches of a site; a low value favours new URLs."""
    coverage_min: int = Field(default=25, ge=0, examples=[15])
    """URLs of each site that a minor cycle fetches at least."""
    coverage_max_pct: int = Field(default=10, ge=0, le=100, examples=[20])
    """Percent of a site that a minor cycle fetches at most, apart from `coverage_min`."""
    aim: Aim = Field(default=Aim.FRESHNESS, examples=["score"])
    """Order of known URLs: by what a visit adds to average freshness, or by the score alone."""
    longest: int = Field(default=8, ge=0, examples=[12])
    """Cycles without a visit after which a known URL goes first; 0: it waits for its score."""
    weights: WeightsSection = Field(
        default=WeightsSection.by_default(), examples=[{"change_history": 8, "sitemap": 4}]
    )
    """How much each scorer counts."""
    sitemap_weights: SitemapWeightsSection = Field(
        default=SitemapWeightsSection.by_default(), examples=[{"hourly": 0.8}]
    )
    """What each `changefreq` of a sitemap is worth."""


class RefreshSection(Section):
    """Cycles in which a source is fetched again: how each begins, and when."""

    mode: RefreshMode = Field(default=RefreshMode.KNOWN, examples=["scratch"])
    """What a new cycle asks for, and what becomes of URLs that the one before left over."""
    interval: Interval = Field(default=None, examples=["36 h"])
    """Time between the starts of two cycles: minutes, or with a unit; none: whenever one is asked for."""
    when_idle: bool = Field(default=False, examples=[True])
    """With `crawl --continuous`, begin the next cycle as soon as nothing is left to do."""
    conditional: bool = Field(default=True, examples=[False])
    """Ask for known pages on condition that they have changed (If-None-Match, If-Modified-Since)."""
    adaptive: AdaptiveSection = Field(default=AdaptiveSection.by_default(), examples=[{"refresh_count": 6}])
    """How `mode: adaptive` chooses."""

    @property
    def rule(self) -> CycleRule:
        """When cycles begin."""
        return CycleRule(self.mode, self.interval, self.adaptive.refresh_count)

    def adaptive_rule(self, *, uses_sitemaps: bool) -> AdaptiveRule:
        """Return how minor cycles choose."""
        own = self.adaptive
        frequencies = dict(own.sitemap_weights)
        return AdaptiveRule(
            Scorer(self.interval or DEFAULT_CYCLE, own.weights.parts, frequencies, uses_sitemaps),
            own.refresh_count,
            own.refresh_quota,
            own.coverage_min,
            own.coverage_max_pct,
            own.aim,
            own.longest,
        )


class OrphansSection(Section):
    """Documents that nothing leads to any more."""

    after: int = Field(default=5, ge=1, examples=[5])
    """Cycles in which nothing led to a document, after which it is an orphan."""
    delete: bool = Field(default=False, examples=[True])
    """Delete orphans at once; if not, they are fetched, and deleted if the server confirms it."""
