"""The options in force at the sites of `sites.overrides`."""

from __future__ import annotations

from collections.abc import Iterator

from ultracrawl.rules.urls.site_table import site_key
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.sections.site_overrides import SiteOverride


def overlay_sources(source: DataSource) -> dict[str, tuple[str, DataSource, tuple[str, ...]]]:
    """Return the name, the options in force and the options set by each entry, by the key of its sites."""
    return {
        key: (name, _in_force(source, override), tuple(sorted(_options(override))))
        for name, override in source.sites.overrides.items()
        if (key := site_key(name)) is not None  # checked when the definition was read
    }


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
