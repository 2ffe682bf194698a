"""`SourceKind`: the options of a source type other than `web`, and what reads such sources."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import ClassVar, TypeVar

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import UserError
from ultracrawl.sources.definition import WEB, DataSource, SourceEntry
from ultracrawl.sources.mistakes import closest_match
from ultracrawl.sources.reading.tree import Data, OptionPath, PathFinding
from ultracrawl.sources.sections.section import Section
from ultracrawl.system.plugins import SOURCE_KINDS

E = TypeVar("E", bound=SourceEntry)

WEB_HIT_CODE = 900
"""Kind code of hits from web sources."""
_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class WatchedFolders:
    """Local folders whose changes start a crawl of a source."""

    folders: tuple[pathlib.Path, ...]
    affects_source: Callable[[str], bool]
    """Whether a change of a path below them starts a crawl."""


class SourceKind:
    """A source type with options of its own, written beside the shared options of a source.

    An entry point of the group `ultracrawl.source_kinds` names an instance of a subclass. Its module is imported
    whenever definitions are read, so it must not import drivers, clients or Scrapy.
    """

    section: ClassVar[type[Section]]
    """The options of the kind; their names differ from those of the shared options."""
    hit_code: ClassVar[int] = 0
    """Kind code of hits: 901 file, 902 table, 903 mail; 0 for others."""
    schemes: ClassVar[frozenset[str]] = frozenset()
    """The URL schemes that the kind fetches itself."""
    keeps_attributes: ClassVar[bool] = False
    """Whether unmapped document attributes can be searched by their own names."""
    finds_duplicates: ClassVar[bool] = False
    """Whether documents of `schemes` with equal content are duplicates by default, as files are.

    Otherwise their access URL is a key: each is a document of its own, unless a source says `duplicates.detect: true`.
    """
    fixed: ClassVar[Mapping[str, Data]] = MappingProxyType({})
    """Values of shared options that override the definition for every source of the kind; groups option by option."""
    unfit: ClassVar[Mapping[str, str]] = _NONE
    """Shared options that do not apply to the kind, by dotted path, each with advice what to write instead.

    In a source of the kind such an option is a mistake; in `defaults:` it is ignored.
    """

    def watched(self, source: DataSource, base: pathlib.Path) -> WatchedFolders | None:
        """Return the folders that the service watches for a source, None for none.

        Relative paths of a definition are relative to `base`.
        """
        return None


def load_kind(name: str) -> SourceKind | None:
    """Return the kind of a source type; None for types that are spiders, as `web`. Raises `UserError`."""
    found = None if name == WEB else SOURCE_KINDS.load(name)
    return found if isinstance(found, SourceKind) else None


def kind_schemes(name: str) -> frozenset[str]:
    """Return the URL schemes that a source type fetches itself."""
    kind = find_kind(name)
    return frozenset() if kind is None else kind.schemes


def keyed_schemes(source: DataSource) -> frozenset[str]:
    """Return the URL schemes of a source whose documents a key identifies: they have no duplicates."""
    kind = find_kind(source.type)
    compared = kind is None or kind.finds_duplicates or source.duplicates.detect
    return frozenset() if kind is None or compared else kind.schemes


def kept_attributes(source: DataSource) -> tuple[str, ...]:
    """Return the beginnings of the names of unmapped document attributes that can be searched by the rest of the name.

    `("",)` stands for all of them, by their own names.
    """
    kind = find_kind(source.type)
    if source.filters.file is not None or (kind is not None and kind.keeps_attributes):
        return ("",)
    return tuple(name.removesuffix("*") for name in source.attributes if name.endswith("*"))


def hit_codes(sources: Iterable[DataSource]) -> dict[str, int]:
    """Return the kind code of hits for each source (Ultra Search 14.1)."""
    kinds = ((source.name, find_kind(source.type)) for source in sources)
    return {name: WEB_HIT_CODE if kind is None else kind.hit_code for name, kind in kinds}


def find_kind(name: object) -> SourceKind | None:
    """Return the kind of a type as written in a source.

    None for spiders, and for types that do not exist or cannot be loaded; the checks report those.
    """
    try:
        return load_kind(name) if isinstance(name, str) and name in SOURCE_KINDS.names else None
    except UserError:
        return None


def meant_kind(name: object) -> SourceKind | None:
    """Return the kind of a type, of one that does not exist the kind whose name is most like it.

    So the options of a source with a misspelt type are judged by the type that is meant.
    """
    return find_kind(name) or find_kind(closest_match(name, SOURCE_KINDS.names))


def watched_sources(sources: Iterable[DataSource], base: pathlib.Path) -> dict[str, WatchedFolders]:
    """Return the folders that the service watches, by source."""
    kinds = ((source, find_kind(source.type)) for source in sources)
    found = {source.name: kind.watched(source, base) for source, kind in kinds if kind is not None}
    return {name: watched for name, watched in found.items() if watched is not None}


def source_model(kind: SourceKind | None) -> type[DataSource]:
    """Return the model for sources of a kind: `DataSource` with the options of the kind."""
    return DataSource if kind is None else entry_model(kind, DataSource)


@lru_cache(maxsize=64)
def entry_model(kind: SourceKind, base: type[E]) -> type[E]:
    """Return the subclass of `base` with the options of a kind."""
    name = f"{kind.section.__name__}{base.__name__}"
    own = {"__module__": kind.section.__module__, "__reduce__": _by_type(base)}
    return type(name, (kind.section, base), own)


def _by_type(base: type[E]) -> Callable[[E], tuple[object, ...]]:
    """Return `__reduce__` for sources of a kind: their class is in no module, so it is recreated from their type."""

    def reduce(source: E) -> tuple[object, ...]:
        return _empty_source, (source.type, base), source.__getstate__()

    return reduce


def _empty_source(name: str, base: type[E]) -> E:
    kind = load_kind(name)
    assert kind is not None, "the pickling process had this kind"
    made: E = object.__new__(entry_model(kind, base))
    return made


def check_unsuitable_options(written: Mapping[str, object]) -> Iterator[PathFinding]:
    """Yield the written options of a source that do not apply to its type."""
    kind = find_kind(written.get("type"))
    for option, instead in kind.unfit.items() if kind else ():
        path: OptionPath = tuple(option.split("."))
        if _is_written(written, path):
            yield PathFinding(
                path, f"`{option}` does not apply to a source of type `{written['type']}`", instead
            )


def _is_written(written: object, path: OptionPath) -> bool:
    for step in path:
        if not isinstance(written, Mapping) or step not in written:
            return False
        written = written[step]
    return True
