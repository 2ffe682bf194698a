"""Compiles `sites.overrides`: the rules that differ at single sites."""

from __future__ import annotations

from collections.abc import Callable

from ultracrawl.content.reader import PageReader
from ultracrawl.dataclass import dataclass
from ultracrawl.rules.boundary.redirects import RedirectPolicy
from ultracrawl.rules.candidates.rules import SiteLimits, TrapLimits
from ultracrawl.rules.frontier.politeness.pace import Pace
from ultracrawl.rules.urls.site_table import SiteTable
from ultracrawl.sources.compilation.overrides import overlay_sources
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.sections.fetching.limits import LimitsSection


@dataclass(frozen=True, slots=True)
class SiteOverlay:
    """The rules of the sites of one entry of `sites.overrides`."""

    name: str
    """Its key as written."""
    source: DataSource
    """The options in force there: those of the entry, else those of the source."""
    options: tuple[str, ...]
    """The options that it sets, as `politeness.delay`."""
    pace: Pace
    reader: PageReader
    redirects: RedirectPolicy
    recipe: str
    """Digest of the options that affect the documents made from pages there."""

    def __str__(self) -> str:
        return f"sites.overrides.{self.name}"

    def decides(self, section: str) -> bool:
        """Return whether it sets an option of a section."""
        return any(option.partition(".")[0] == section for option in self.options)


SiteOverlays = SiteTable[SiteOverlay]


def compile_overlays(
    source: DataSource,
    pace_of: Callable[[DataSource], Pace],
    reader_of: Callable[[DataSource], PageReader],
    recipe_of: Callable[[DataSource], str],
) -> SiteOverlays:
    """Return the rules of single sites; those of the whole source are compiled in the same way."""
    return SiteTable(
        {
            key: SiteOverlay(
                name,
                there,
                options,
                pace_of(there),
                reader_of(there),
                compile_redirects(there),
                recipe_of(there),
            )
            for key, (name, there, options) in overlay_sources(source).items()
        }
    )


def trap_limits(limits: LimitsSection, overlays: SiteOverlays) -> TrapLimits:
    """Return the limits of known URLs and queries."""
    own = {key: _site_limits(overlay.source.limits) for key, overlay in overlays.values.items()}
    return TrapLimits(_site_limits(limits), SiteTable(own))


def _site_limits(limits: LimitsSection) -> SiteLimits:
    return SiteLimits(
        limits.urls_per_site, limits.query_variations, limits.trap_pages, frozenset(limits.traps_allowed)
    )


def compile_redirects(source: DataSource) -> RedirectPolicy:
    """Return the rules for redirects of a source."""
    return RedirectPolicy(strict=source.redirects == "strict", max_hops=source.limits.redirects)
