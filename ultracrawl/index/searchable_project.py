"""The parts of a project that a search needs, small enough to be cached between searches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from ultracrawl import sources, stores
from ultracrawl.dataclass import asdict, dataclass, field, replace
from ultracrawl.errors import UserError
from ultracrawl.index.engine import Json, RankingWeights
from ultracrawl.index.engines import IndexConfig
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute

if TYPE_CHECKING:
    from ultracrawl.sources import Project


MOST_STARTS = 20
"""Start URLs of a source whose language says what is usual there."""
PERSON_SECONDS = 10.0
"""Seconds that the servers of an index have for an answer while a person waits for it."""


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The `search` section of a project."""

    language: str = ""
    synonyms: Mapping[str, Path] = field(default_factory=dict)
    """Synonym files by source; the one for all sources has an empty name."""
    pins: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Queries, each with the URLs that come first for it."""
    weights: RankingWeights = field(default_factory=RankingWeights)
    fold_copies: bool = True
    """Whether nearly equal copies of a page are one hit."""


@dataclass(frozen=True, slots=True)
class IndexPlace:
    """Engine, folder and options of an index."""

    engine: str
    path: Path
    options: Mapping[str, Json] = field(default_factory=dict, repr=False)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Its secret options as the definition has them: references to variables and files, or encrypted."""
    option: str = ""
    """The group of the definition that has them, for messages."""

    @property
    def server(self) -> str:
        """Host and port of the server, the first one of several; empty if the index is in a folder."""
        given = self.options.get("url") if self.engine == "opensearch" else None
        return urlsplit(str(given[0])).netloc.rpartition("@")[2] if isinstance(given, list) and given else ""

    def read_secrets(self, key_file: Path | None) -> dict[str, str]:
        """Return the secret options in plain text. Raises `UserError`."""
        if not self.secrets:
            return {}
        return sources.read_secrets(self.secrets, self.option, key_file)


@dataclass(frozen=True, slots=True)
class SearchableProject:
    """The indexes, attributes, groups and search options of a project."""

    indexes: Mapping[str, IndexPlace]
    """The indexes by name; the first one is the index of the project."""
    destinations: Mapping[str, str]
    """The types of destinations that cannot be searched, by name."""
    attributes: Mapping[str, AttributeType]
    readable: Mapping[str, tuple[str, ...]]
    """The indexes that each source feeds, the primary one first."""
    starts: Mapping[str, tuple[str, ...]]
    """The first start URLs of each source, up to `MOST_STARTS`."""
    groups: Mapping[str, tuple[str, ...]]
    """The sources of each data group."""
    boosts: Mapping[str, float]
    kinds: Mapping[str, int]
    """The number that stands for the kind of each source in hits."""
    state: tuple[str, Path] | None
    """Engine and folder of the states of the sources; None if the states are in a server, or if the definitions have
    mistakes, so that it is not known which sources they define."""
    definitions: str
    """The path that the project was read from; empty if it is none."""
    search: SearchOptions
    load_project: Callable[[], Project] = field(compare=False, repr=False)
    """Returns the complete project."""
    key_file: Path | None = None
    """The key for encrypted secrets."""
    searched: tuple[str, ...] = ()
    """The attributes whose words searches without an attribute find, too."""
    derived_readers: tuple[str, ...] = ()
    """The sources whose readers are derived, see `SearchQuery`."""
    is_limited: bool = False
    """Whether only some of its sources exist for searches, as by `limited_to`."""

    @property
    def schema(self) -> dict[str, SearchAttribute]:
        """All search attributes by name."""
        return {
            name: SearchAttribute(name, kind, name in self.searched) for name, kind in self.attributes.items()
        }

    def hurried(self, seconds: float) -> Self:
        """Return the project with indexes whose servers have this many seconds for each answer at most."""
        indexes = {
            name: replace(place, options={**place.options, "timeout": min(float(str(given)), seconds)})
            if place.engine == "opensearch" and (given := place.options.get("timeout"))
            else place
            for name, place in self.indexes.items()
        }
        return replace(self, indexes=indexes)

    def server_of(self, name: str = "") -> str:
        """Return host and port of the server of an index, see `IndexPlace.server`; without a name of the main one.

        Raises `UserError`.
        """
        place = self.indexes.get(name or self.main_index())
        return place.server if place is not None else ""

    def config_of(self, name: str) -> IndexConfig:
        """Return the configuration that opens an index. Raises `UserError`."""
        if name in self.destinations:
            kind = self.destinations[name]
            raise UserError(
                f"{name!r} is a destination of the type {kind}, not an index; it cannot be searched"
            )
        if name not in self.indexes:
            raise UserError(f"there is no index {name!r}; the indexes are {', '.join(self.indexes)}")
        place = self.indexes[name]
        secrets = place.read_secrets(self.key_file)
        return IndexConfig(place.engine, place.path, tuple(self.schema.values()), place.options, secrets)

    def main_index(self) -> str:
        """Return the name of the index that is searched by default.

        It is the index of the project if that is the primary one of any source; otherwise the only primary one. The
        primary index of a source is the first of its destinations that is an index. Raises `UserError` if there are
        several, or none.
        """
        own = next(iter(self.indexes))
        first = {indexes[0] for indexes in self.readable.values() if indexes}
        if own in first or not self.readable:
            return own
        if len(first) == 1:
            return next(iter(first))
        if not first:
            names = ", ".join(sorted(self.destinations))
            raise UserError(f"no source feeds an index that can be searched: their documents go to {names}")
        names = ", ".join(sorted(first))
        raise UserError(f"the sources feed several indexes; choose one with --index: {names}")

    def limited_to(self, sources: Iterable[str]) -> Self:
        """Return the project for searches for which only these sources exist, with their groups and indexes."""
        readable = {name: self.readable[name] for name in dict.fromkeys(sources) if name in self.readable}
        groups = {
            group: tuple(name for name in names if name in readable) for group, names in self.groups.items()
        }
        used = {next(iter(self.indexes)), *(index for indexes in readable.values() for index in indexes)}
        return replace(
            self,
            indexes={name: place for name, place in self.indexes.items() if name in used},
            destinations={},
            readable=readable,
            groups={group: names for group, names in groups.items() if names},
            kinds={name: kind for name, kind in self.kinds.items() if name in readable},
            is_limited=True,
        )

    def outside(self, sources: Iterable[str]) -> tuple[str, ...]:
        """Return those of the sources that this project does not have."""
        return tuple(name for name in sources if name not in self.readable)

    def left_over(self, sources: Iterable[str]) -> tuple[str, ...]:
        """Return those of the sources that this project has crawled, and defines no longer.

        What others wrote to the index, as spiders without a definition or another project, is no such source; neither
        is what another definition file with the same state crawled.
        """
        undefined = self.outside(sources)
        if not undefined or self.state is None:
            return ()
        return tuple(name for name in undefined if stores.is_left_over(*self.state, name, self.definitions))

    def to_json(self) -> dict[str, Any]:
        """Return everything except `load_project` as JSON values."""
        return {
            "indexes": {
                name: [place.engine, str(place.path), place.options, place.secrets, place.option]
                for name, place in self.indexes.items()
            },
            "key_file": self.key_file and str(self.key_file),
            "destinations": self.destinations,
            "attributes": self.attributes,
            "searched": self.searched,
            "readable": self.readable,
            "derived_readers": self.derived_readers,
            "starts": self.starts,
            "groups": self.groups,
            "boosts": self.boosts,
            "kinds": self.kinds,
            "state": self.state and [self.state[0], str(self.state[1])],
            "definitions": self.definitions,
            "language": self.search.language,
            "synonyms": {source: str(path) for source, path in self.search.synonyms.items()},
            "pins": self.search.pins,
            "weights": asdict(self.search.weights),
            "fold_copies": self.search.fold_copies,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any], load_project: Callable[[], Project]) -> Self:
        """Return the project from the result of `to_json`."""
        return cls(
            {
                name: IndexPlace(engine, Path(path), *rest)
                for name, (engine, path, *rest) in values["indexes"].items()
            },
            values["destinations"],
            {name: AttributeType(kind) for name, kind in values["attributes"].items()},
            {name: tuple(indexes) for name, indexes in values["readable"].items()},
            {name: tuple(urls) for name, urls in values["starts"].items()},
            {name: tuple(sources) for name, sources in values["groups"].items()},
            values["boosts"],
            values["kinds"],
            values["state"] and (values["state"][0], Path(values["state"][1])),
            values["definitions"],
            SearchOptions(
                values["language"],
                {source: Path(path) for source, path in values["synonyms"].items()},
                tuple((query, tuple(urls)) for query, urls in values["pins"]),
                RankingWeights(**values["weights"]),
                values["fold_copies"],
            ),
            load_project,
            values["key_file"] and Path(values["key_file"]),
            tuple(values["searched"]),
            tuple(values["derived_readers"]),
        )
