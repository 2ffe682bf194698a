"""The `refresh` section (recrawl cycles) and the `orphans` section of a source."""

from typing import Annotated, ClassVar

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
from ultracrawl.sources.sections.section import Editable, Section

Weight = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]


class WeightsSection(Section):
    """The weight of each scorer; 0 switches it off."""

    inverse_length: Editable[Weight] = Field(default=1.0, examples=[1])
    """Weight of few slashes in the path: 1 for one, 0 for ten."""
    inverse_depth: Editable[Weight] = Field(default=1.0, examples=[2])
    """Weight of few link steps from a start URL: 1 for none, 0 for ten."""
    is_landing_page: Editable[Weight] = Field(default=1.0, examples=[1.5])
    """Weight of being the page of a folder: its path ends in `/`, `index.html` or similar."""
    is_mime_markup: Editable[Weight] = Field(default=1.0, examples=[0.5])
    """Weight of a media type in `links.types`."""
    change_history: Editable[Weight] = Field(default=10.0, examples=[8])
    """Weight of how often the page changes."""
    sitemap: Editable[Weight] = Field(default=10.0, examples=[4])
    """Weight of the `changefreq` in its sitemap, by `sitemap_weights`."""

    @property
    def parts(self) -> ScoreParts:
        """The weights for the scorer."""
        return ScoreParts(**dict(self))


def _share(name: str) -> float:
    return FREQUENCIES[name]


class SitemapWeightsSection(Section):
    """The value of each `changefreq` of a sitemap, from 0 to 1."""

    always: Editable[Share] = Field(default=_share("always"), examples=[1])
    """Value of `always`."""
    hourly: Editable[Share] = Field(default=_share("hourly"), examples=[0.8])
    """Value of `hourly`."""
    daily: Editable[Share] = Field(default=_share("daily"), examples=[0.5])
    """Value of `daily`."""
    weekly: Editable[Share] = Field(default=_share("weekly"), examples=[0.2])
    """Value of `weekly`."""
    monthly: Editable[Share] = Field(default=_share("monthly"), examples=[0.1])
    """Value of `monthly`."""
    yearly: Editable[Share] = Field(default=_share("yearly"), examples=[0.05])
    """Value of `yearly`."""
    never: Editable[Share] = Field(default=_share("never"), examples=[0])
    """Value of `never`."""
    default: Editable[Share] = Field(default=_share("default"), examples=[0.2])
    """Value for URLs without or with an unknown `changefreq`."""


class AdaptiveSection(Section):
    """Adaptive refreshing: minor cycles, quotas of known and new URLs, scores."""

    refresh_count: Editable[int] = Field(default=4, ge=1, le=10_000, examples=[6])
    """Number of minor cycles of equal length in a cycle."""
    refresh_quota: Editable[int] = Field(default=90, ge=0, le=100, examples=[80])
    """Percentage of known URLs among the fetches of a site. A low value favours new URLs."""
    coverage_min: Editable[int] = Field(default=25, ge=0, examples=[15])
    """Minimum number of URLs per site in a minor cycle."""
    coverage_max_pct: Editable[int] = Field(default=10, ge=0, le=100, examples=[20])
    """Maximum percentage of a site in a minor cycle, except for `coverage_min`."""
    aim: Editable[Aim] = Field(default=Aim.FRESHNESS, examples=["score"])
    """Order of known URLs: by the gain in average freshness, or by the score only."""
    longest: Editable[int] = Field(default=8, ge=0, examples=[12])
    """Cycles without a visit after which a known URL is fetched first; 0: only the score counts."""
    weights: WeightsSection = Field(
        default=WeightsSection.by_default(), examples=[{"change_history": 8, "sitemap": 4}]
    )
    """The weight of each scorer."""
    sitemap_weights: SitemapWeightsSection = Field(
        default=SitemapWeightsSection.by_default(), examples=[{"hourly": 0.8}]
    )
    """The value of each `changefreq` of a sitemap."""


class RefreshSection(Section):
    """The recrawl cycles of a source."""

    ADVICE: ClassVar = dict.fromkeys(
        ("every", "schedule", "after", "period", "frequency"),
        "write `interval: 24 h`; days and hours are set by `schedules` at the top of the file",
    )

    mode: Editable[RefreshMode] = Field(default=RefreshMode.KNOWN, examples=["scratch"])
    """What a new cycle fetches, and what happens to URLs left over from the previous one."""
    interval: Editable[Interval] = Field(default=None, examples=["36 h"])
    """Time between the starts of two cycles. None: only on request."""
    when_idle: Editable[bool] = Field(default=False, examples=[True])
    """With `crawl --continuous`, begin the next cycle as soon as the queue is empty."""
    conditional: Editable[bool] = Field(default=True, examples=[False])
    """Send conditional requests for known pages (If-None-Match, If-Modified-Since)."""
    adaptive: AdaptiveSection = Field(default=AdaptiveSection.by_default(), examples=[{"refresh_count": 6}])
    """How `mode: adaptive` selects URLs."""

    @property
    def rule(self) -> CycleRule:
        """The compiled rule for cycles."""
        return CycleRule(self.mode, self.interval, self.adaptive.refresh_count)

    def adaptive_rule(self, *, uses_sitemaps: bool) -> AdaptiveRule:
        """Return the compiled rule by which minor cycles select URLs."""
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
    """Documents that nothing links to any more."""

    after: int = Field(default=5, ge=1, examples=[5])
    """Number of cycles without a link to a document after which it is an orphan."""
    delete: bool = Field(default=False, examples=[True])
    """Delete orphans immediately. If off, they are fetched, and deleted if the server reports them gone."""
