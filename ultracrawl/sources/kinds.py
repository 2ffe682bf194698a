"""What a kind of sources says of its options, before anything of it runs."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import ClassVar, TypeVar

from ultracrawl.errors import UserError
from ultracrawl.sources.definition import WEB, DataSource, SourceEntry
from ultracrawl.sources.reading.tree import Data, OptionPath, PathFinding
from ultracrawl.sources.sections.section import Section
from ultracrawl.system.plugins import SOURCE_KINDS

E = TypeVar("E", bound=SourceEntry)

WEB_CODE = 900
"""The number of hits in web sites."""
_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class WatchedFolders:
    """Folders of this machine whose changes mean that a source is to be crawled."""

    folders: tuple[pathlib.Path, ...]
    affects_source: Callable[[str], bool]
    """Whether the change of a path below them means that."""


class SourceKind:
    """A kind of sources whose options stand in a source as the shared ones do, at the top.

    An entry point of the group `ultracrawl.source_kinds` names an instance of a subclass. The module that it stands in
    is imported when definitions are read: it imports no driver, no client and nothing of Scrapy.
    """

    section: ClassVar[type[Section]]
    """The options of the kind; no name of them is one of the shared options."""
    hit_code: ClassVar[int] = 0
    """The number by which hits tell their kind of source: 901 file, 902 table, 903 mail; 0 for others."""
    schemes: ClassVar[frozenset[str]] = frozenset()
    """The schemes of URLs that the kind itself fetches."""
    keeps_attributes: ClassVar[bool] = False
    """Whether document attributes are found by their own names, too: those that no mapping leads anywhere."""
    fixed: ClassVar[Mapping[str, Data]] = MappingProxyType({})
    """What shared options are for every source of the kind, whatever a definition says: groups, option by option."""
    unfit: ClassVar[Mapping[str, str]] = _NONE
    """Shared options that make no sense for the kind, by dotted path, each with what to write instead.

    Written in a source of the kind, such an option is a mistake; written in `defaults:` it says nothing to it.
    """

    def watched(self, source: DataSource, base: pathlib.Path) -> WatchedFolders | None:
        """Return what the service watches for a source; None if it waits for schedules and persons alone.

        Relative paths of a definition are taken from `base`.
        """
        return None


def load_kind(name: str) -> SourceKind | None:
    """Return the kind of a type of sources; None for those that are spiders, as `web` is. Raises `UserError`."""
    found = None if name == WEB else SOURCE_KINDS.load(name)
    return found if isinstance(found, SourceKind) else None


def kind_schemes(name: str) -> frozenset[str]:
    """Return the schemes of URLs that a type of sources fetches itself."""
    kind = find_kind(name)
    return frozenset() if kind is None else kind.schemes


def keeps_attributes(source: DataSource) -> bool:
    """Return whether document attributes of a source that are not mapped are found by their own names."""
    kind = find_kind(source.type)
    return source.filters.file is not None or (kind is not None and kind.keeps_attributes)


def hit_codes(sources: Iterable[DataSource]) -> dict[str, int]:
    """Return the numbers by which hits of sources tell what kind those are (Ultra Search 14.1)."""
    kinds = ((source.name, find_kind(source.type)) for source in sources)
    return {name: WEB_CODE if kind is None else kind.hit_code for name, kind in kinds}


def find_kind(name: object) -> SourceKind | None:
    """Return the kind that a source names as its type, as it is written.

    One that is not there, or cannot be loaded, has no options of its own; the checks tell of it.
    """
    try:
        return load_kind(name) if isinstance(name, str) and name in SOURCE_KINDS.names else None
    except UserError:
        return None


def watched_sources(sources: Iterable[DataSource], base: pathlib.Path) -> dict[str, WatchedFolders]:
    """Return what the service watches for sources, of those that want it."""
    kinds = ((source, find_kind(source.type)) for source in sources)
    found = {source.name: kind.watched(source, base) for source, kind in kinds if kind is not None}
    return {name: watched for name, watched in found.items() if watched is not None}


def source_model(kind: SourceKind | None) -> type[DataSource]:
    """Return what reads the sources of a kind: a data source, with the options of the kind."""
    return DataSource if kind is None else entry_model(kind, DataSource)


@lru_cache(maxsize=64)
def entry_model(kind: SourceKind, base: type[E]) -> type[E]:
    """Return a source as it is written, or as it is read (`base`), with the options of a kind."""
    name = f"{kind.section.__name__}{base.__name__}"
    own = {"__module__": kind.section.__module__, "__reduce__": _by_type(base)}
    return type(name, (kind.section, base), own)


def _by_type(base: type[E]) -> Callable[[E], tuple[object, ...]]:
    """Return how sources of a kind are pickled: their class, which no module has, is made again of their type."""

    def reduce(source: E) -> tuple[object, ...]:
        return _empty_source, (source.type, base), source.__getstate__()

    return reduce


def _empty_source(name: str, base: type[E]) -> E:
    kind = load_kind(name)
    assert kind is not None, "who pickled it had this kind"
    made: E = object.__new__(entry_model(kind, base))
    return made


def check_unsuitable_options(written: Mapping[str, object]) -> Iterator[PathFinding]:
    """Yield the options that are written in a source, and that make no sense for its type."""
    kind = find_kind(written.get("type"))
    for option, instead in kind.unfit.items() if kind else ():
        path: OptionPath = tuple(option.split("."))
        if _is_written(written, path):
            yield PathFinding(
                path, f"`{option}` says nothing about a source of type `{written['type']}`", instead
            )


def _is_written(written: object, path: OptionPath) -> bool:
    for step in path:
        if not isinstance(written, Mapping) or step not in written:
            return False
        written = written[step]
    return True
