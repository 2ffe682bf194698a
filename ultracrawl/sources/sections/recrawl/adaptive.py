"""The section `refresh.adaptive` of a source: which known URLs a minor cycle fetches."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ultracrawl.rules.recrawl import FREQUENCIES, Aim, ScoreParts
from ultracrawl.sources.sections.section import Section

Weight = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]


class WeightsSection(Section):
    """How much each scorer counts; 0 switches it off."""

    inverse_length: Weight = Field(
        default=1.0, description="Weight of few slashes in the path: 1 for one, 0 for ten.", examples=[1]
    )
    inverse_depth: Weight = Field(
        default=1.0,
        description="Weight of few link steps from a start URL: 1 for none, 0 for ten.",
        examples=[2],
    )
    is_landing_page: Weight = Field(
        default=1.0,
        description="Weight of being the page of a folder: its path ends in `/`, `index.html` or the like.",
        examples=[1.5],
    )
    is_mime_markup: Weight = Field(
        default=1.0, description="Weight of being of a type in `links.types`.", examples=[0.5]
    )
    change_history: Weight = Field(
        default=10.0, description="Weight of how often the page changes.", examples=[8]
    )
    sitemap: Weight = Field(
        default=10.0, description="Weight of what its sitemap says, by `sitemap_weights`.", examples=[4]
    )

    @property
    def parts(self) -> ScoreParts:
        """The weights as the scorer takes them."""
        return ScoreParts(**self.model_dump())


def _share(name: str) -> float:
    return FREQUENCIES[name]


class SitemapWeightsSection(Section):
    """What each `changefreq` of a sitemap is worth, from 0 to 1."""

    always: Share = Field(default=_share("always"), description="Value of `always`.", examples=[1])
    hourly: Share = Field(default=_share("hourly"), description="Value of `hourly`.", examples=[0.8])
    daily: Share = Field(default=_share("daily"), description="Value of `daily`.", examples=[0.5])
    weekly: Share = Field(default=_share("weekly"), description="Value of `weekly`.", examples=[0.2])
    monthly: Share = Field(default=_share("monthly"), description="Value of `monthly`.", examples=[0.1])
    yearly: Share = Field(default=_share("yearly"), description="Value of `yearly`.", examples=[0.05])
    never: Share = Field(default=_share("never"), description="Value of `never`.", examples=[0])
    default: Share = Field(
        default=_share("default"),
        description="Value for URLs without a `changefreq`, or with another one.",
        examples=[0.2],
    )


class AdaptiveSection(Section):
    """Adaptive refreshing: minor cycles, shares of known and new URLs, scores."""

    refresh_count: int = Field(
        default=4, ge=1, le=10_000, description="Minor cycles of equal length in a cycle.", examples=[6]
    )
    refresh_quota: int = Field(
        default=90,
        ge=0,
        le=100,
        description="Percent of known URLs among the fetches of a site; a low value favours new URLs.",
        examples=[80],
    )
    coverage_min: int = Field(
        default=25,
        ge=0,
        description="URLs of each site that a minor cycle fetches at least.",
        examples=[15],
    )
    coverage_max_pct: int = Field(
        default=10,
        ge=0,
        le=100,
        description="Percent of a site that a minor cycle fetches at most, apart from `coverage_min`.",
        examples=[20],
    )
    aim: Aim = Field(
        default=Aim.FRESHNESS,
        description="Order of known URLs: by what a visit adds to average freshness, or by the score alone.",
        examples=["score"],
    )
    longest: int = Field(
        default=8,
        ge=0,
        description="Cycles without a visit after which a known URL goes first; 0: it waits for its score.",
        examples=[12],
    )
    weights: WeightsSection = Field(
        default=WeightsSection(),
        description="How much each scorer counts.",
        examples=[{"change_history": 8, "sitemap": 4}],
    )
    sitemap_weights: SitemapWeightsSection = Field(
        default=SitemapWeightsSection(),
        description="What each `changefreq` of a sitemap is worth.",
        examples=[{"hourly": 0.8}],
    )
