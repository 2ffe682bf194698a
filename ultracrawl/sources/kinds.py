"""What a kind of sources says of its options, before anything of it runs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import ClassVar

from ultracrawl.plugins import SOURCE_KINDS
from ultracrawl.sources.definition import WEB, DataSource
from ultracrawl.sources.sections.section import Section

_NONE: Mapping[str, str] = MappingProxyType({})


class SourceKind:
    """A kind of sources whose options stand in a source as the shared ones do, at the top.

    An entry point of the group `ultracrawl.source_kinds` names an instance of a subclass. The module that it stands in
    is imported when definitions are read: it imports no driver, no client and nothing of Scrapy.
    """

    section: ClassVar[type[Section]]
    """The options of the kind; no name of them is one of the shared options."""
    unfit: ClassVar[Mapping[str, str]] = _NONE
    """Shared options that make no sense for the kind, by dotted path, each with what to write instead.

    Written in a source of the kind, such an option is a mistake; written in `defaults:` it says nothing to it.
    """


def listed_kind(name: str) -> SourceKind | None:
    """Return the kind of a type of sources; None for those that are spiders, as `web` is. Raises `PluginError`."""
    found = None if name == WEB else SOURCE_KINDS.load(name)
    return found if isinstance(found, SourceKind) else None


@lru_cache(maxsize=64)
def source_model(kind: SourceKind | None) -> type[DataSource]:
    """Return what reads the sources of a kind: a data source with the options of the kind."""
    if kind is None:
        return DataSource
    name = f"{kind.section.__name__}Source"
    return type(name, (kind.section, DataSource), {"__module__": kind.section.__module__})
