"""The sections `refresh` and `orphans` of a source: what is fetched again, when, and what was not seen any more."""

from __future__ import annotations

from pydantic import Field

from ultracrawl.rules.recrawl.adaptive import DEFAULT_CYCLE, AdaptiveRule, Scorer
from ultracrawl.rules.recrawl.cycle import CycleRule, RefreshMode
from ultracrawl.sources.durations import Interval
from ultracrawl.sources.sections.recrawl.adaptive import AdaptiveSection
from ultracrawl.sources.sections.section import Section


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
    adaptive: AdaptiveSection = Field(default=AdaptiveSection(), examples=[{"refresh_count": 6}])
    """How `mode: adaptive` chooses."""

    @property
    def rule(self) -> CycleRule:
        """When cycles begin."""
        return CycleRule(self.mode, self.interval, self.adaptive.refresh_count)

    def adaptive_rule(self, *, uses_sitemaps: bool) -> AdaptiveRule:
        """Return how minor cycles choose."""
        own = self.adaptive
        frequencies = own.sitemap_weights.model_dump()
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
