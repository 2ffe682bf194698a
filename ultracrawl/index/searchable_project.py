"""What a search needs of a project, and no more: little enough to be kept for the next search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ultracrawl.errors import UserError
from ultracrawl.index.engine import RankingWeights
from ultracrawl.index.engines import IndexConfig
from ultracrawl.rules.attributes.schema import AttributeType, SearchAttribute

if TYPE_CHECKING:
    from ultracrawl.sources import Project


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The `search` section of a project."""

    language: str = ""
    synonyms: Mapping[str, Path] = field(default_factory=dict)
    """Files by source; that of all has an empty name."""
    pins: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Queries, and the URLs that come first for them."""
    weights: RankingWeights = field(default_factory=RankingWeights)


@dataclass(frozen=True, slots=True)
class SearchableProject:
    """A project as searches see it."""

    indexes: Mapping[str, tuple[str, Path]]
    """Engine and folder of each index by name; the first one is that of the project."""
    destinations: Mapping[str, str]
    """Types of what gets documents and cannot be searched, by name."""
    attributes: Mapping[str, AttributeType]
    readable: Mapping[str, tuple[str, ...]]
    """Of each source the indexes that it feeds, the primary one first."""
    groups: Mapping[str, tuple[str, ...]]
    """The data groups, each with its sources."""
    boosts: Mapping[str, float]
    kinds: Mapping[str, int]
    """By what number hits of each source tell what kind of source that is."""
    search: SearchOptions
    whole: Callable[[], Project] = field(compare=False, repr=False)
    """Returns all of the project."""

    @property
    def schema(self) -> dict[str, SearchAttribute]:
        """All search attributes by name."""
        return {name: SearchAttribute(name, kind) for name, kind in self.attributes.items()}

    def config_of(self, name: str) -> IndexConfig:
        """Return what is needed to open an index. Raises `UserError`."""
        if name in self.destinations:
            kind = self.destinations[name]
            raise UserError(
                f"{name!r} is a destination of the type {kind} and no index: it cannot be searched"
            )
        if name not in self.indexes:
            raise UserError(f"there is no index {name!r}; the indexes are {', '.join(self.indexes)}")
        return IndexConfig(*self.indexes[name], tuple(self.schema.values()))

    def main_index(self) -> str:
        """Return the name of the index that is searched unless another one is named.

        It is the index of the project, if that is the primary destination of any source; else the only one that is. Of
        what a source feeds, the first counts that is an index. Raises `UserError` if there are several, or none.
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
        raise UserError(f"the sources feed several indexes; say which is searched with --index: {names}")

    def to_json(self) -> dict[str, Any]:
        """Return all but the way to the whole project as JSON values."""
        return {
            "indexes": {name: [engine, str(path)] for name, (engine, path) in self.indexes.items()},
            "destinations": self.destinations,
            "attributes": self.attributes,
            "readable": self.readable,
            "groups": self.groups,
            "boosts": self.boosts,
            "kinds": self.kinds,
            "language": self.search.language,
            "synonyms": {source: str(path) for source, path in self.search.synonyms.items()},
            "pins": self.search.pins,
            "weights": asdict(self.search.weights),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any], whole: Callable[[], Project]) -> Self:
        """Turn what `to_json` returned back."""
        return cls(
            {name: (engine, Path(path)) for name, (engine, path) in values["indexes"].items()},
            values["destinations"],
            {name: AttributeType(kind) for name, kind in values["attributes"].items()},
            {name: tuple(indexes) for name, indexes in values["readable"].items()},
            {name: tuple(sources) for name, sources in values["groups"].items()},
            values["boosts"],
            values["kinds"],
            SearchOptions(
                values["language"],
                {source: Path(path) for source, path in values["synonyms"].items()},
                tuple((query, tuple(urls)) for query, urls in values["pins"]),
                RankingWeights(**values["weights"]),
            ),
            whole,
        )
