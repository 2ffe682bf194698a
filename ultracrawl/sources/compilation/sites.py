"""Compiles `sites.overrides`: the rules that differ at single sites."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ultracrawl.content.reader import PageReader
from ultracrawl.rules.boundary.redirects import RedirectPolicy
from ultracrawl.rules.candidates.rules import SiteLimits, TrapLimits
from ultracrawl.rules.frontier.politeness.pace import Pace
from ultracrawl.rules.urls.site_table import SiteTable, site_key
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.sections.fetching.limits import LimitsSection
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.sections.site_overrides import SiteOverride


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


def overlay_sources(source: DataSource) -> dict[str, tuple[str, DataSource, tuple[str, ...]]]:
    """Return the name, the options in force and the options set by each entry, by the key of its sites."""
    return {
        key: (name, _in_force(source, override), tuple(sorted(_options(override))))
        for name, override in source.sites.overrides.items()
        if (key := site_key(name)) is not None  # checked when the definition was read
    }


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
    return SiteLimits(limits.urls_per_site, limits.query_variations)


def compile_redirects(source: DataSource) -> RedirectPolicy:
    """Return the rules for redirects of a source."""
    return RedirectPolicy(strict=source.redirects == "strict", max_hops=source.limits.redirects)


def _in_force(source: DataSource, override: SiteOverride) -> DataSource:
    named = override.model_fields_set - {"authentication"}
    changed = {name: _merged(getattr(source, name), getattr(override, name)) for name in named}
    changed["sites"] = source.sites.model_copy(update={"overrides": {}})
    return source.model_copy(update=changed)


def _merged(whole: Section, own: Section) -> Section:
    """Return a section with the options that another one sets; groups are merged, lists and mappings replaced."""
    changed = {}
    for name in own.model_fields_set:
        value, usual = getattr(own, name), getattr(whole, name)
        grouped = isinstance(value, Section) and isinstance(usual, Section)
        changed[name] = _merged(usual, value) if grouped else value
    return whole.model_copy(update=changed)


def _options(section: Section, path: str = "") -> Iterator[str]:
    for name in section.model_fields_set:
        value = getattr(section, name)
        if isinstance(value, Section):
            yield from _options(value, f"{path}{name}.")
        else:
            yield f"{path}{name}"
