"""Opens the index that a project names, to be searched or worked on; `writing.opening` has what fills it."""

from __future__ import annotations

from ultracrawl.index.engine import IndexEngine, RankingWeights
from ultracrawl.index.engines import IndexConfig
from ultracrawl.index.engines import open_index as open_engine
from ultracrawl.index.searchable_project import SearchableProject, SearchOptions
from ultracrawl.rules.attributes.boosts import Boosts
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.kinds import hit_codes
from ultracrawl.sources.reading.locations import track_file
from ultracrawl.sources.sections.documents.destinations import PROJECT_INDEX
from ultracrawl.stores.boost_store import BoostStore


def index_config(project: Project, name: str = PROJECT_INDEX) -> IndexConfig:
    """Return what is needed to open an index of a project, in this process or another. Raises `UserError`."""
    return _with_boosts(project, Boosts()).config_of(name)


def searchable_project(project: Project) -> SearchableProject:
    """Return what a search needs of a project. Raises `StateError` if the loaded boosts cannot be read."""
    loaded = BoostStore(project.state.path)
    track_file(loaded.path)
    return _with_boosts(project, loaded.read())


def _with_boosts(project: Project, boosts: Boosts) -> SearchableProject:
    section = project.search
    files = {} if section.synonyms is None else {"": section.synonyms}
    own = {PROJECT_INDEX: (project.index.engine, project.index.path)}
    return SearchableProject(
        indexes={**own, **{name: (one.engine, one.path) for name, one in project.indexes.items()}},
        destinations={name: one.type for name, one in project.destinations.items()},
        attributes={name: one.type for name, one in project.schema_attributes.items()},
        readable={name: tuple(readable_indexes(project, one)) for name, one in project.known_sources.items()},
        groups=project.groups,
        boosts={**boosts.factors, **project.index.boosts},
        kinds=hit_codes(project.known_sources.values()),
        search=SearchOptions(
            section.language,
            files | dict(section.source_synonyms),
            (*((pin.query, tuple(pin.urls)) for pin in section.pins), *boosts.first.items()),
            RankingWeights(**dict(section.weights)),
        ),
        whole=lambda: project,
    )


def readable_indexes(project: Project, source: DataSource) -> list[str]:
    """Return the names of what a source feeds and can be searched, the primary one first."""
    fed = [place.index for place in source.feeding.in_order] or [PROJECT_INDEX]
    return [name for name in fed if name not in project.destinations]


def open_index(project: Project, name: str = PROJECT_INDEX) -> IndexEngine:
    """Open an index of a project, for searching or for work on it. Raises `UserError`."""
    return open_engine(index_config(project, name))
