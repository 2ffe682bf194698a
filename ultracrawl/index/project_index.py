"""Opens an index of a project for searching or maintenance; `writing.project_outputs` opens it for indexing."""

from __future__ import annotations

from contextlib import closing

from ultracrawl.errors import UserError
from ultracrawl.index.engine import IndexEngine, RankingWeights
from ultracrawl.index.engines import IndexConfig
from ultracrawl.index.engines import open_index as open_engine
from ultracrawl.index.searchable_project import MOST_STARTS, IndexPlace, SearchableProject, SearchOptions
from ultracrawl.rules.attributes.boosts import Boosts
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.kinds import hit_codes
from ultracrawl.sources.reading.locations import track_file
from ultracrawl.sources.sections.documents.destinations import PROJECT_INDEX
from ultracrawl.sources.sections.project import FurtherIndex, IndexSection
from ultracrawl.stores.boost_store import BoostStore


def index_config(project: Project, name: str = PROJECT_INDEX) -> IndexConfig:
    """Return the configuration that opens an index of a project, in any process. Raises `UserError`."""
    return _searchable_with_boosts(project, Boosts()).config_of(name)


def searchable_project(project: Project) -> SearchableProject:
    """Return the parts of a project that a search needs. Raises `StateError` if the loaded boosts cannot be read."""
    loaded = BoostStore(project.state.path)
    track_file(loaded.path)
    return _searchable_with_boosts(project, loaded.read())


def _searchable_with_boosts(project: Project, boosts: Boosts) -> SearchableProject:
    search = project.search
    files = {} if search.synonyms is None else {"": search.synonyms}
    further = {name: _place(index, f"indexes.{name}") for name, index in project.indexes.items()}
    return SearchableProject(
        indexes={PROJECT_INDEX: _place(project.index, "index"), **further},
        destinations={name: section.type for name, section in project.destinations.items()},
        attributes={name: attribute.type for name, attribute in project.schema_attributes.items()},
        readable=_readable(project),
        starts={
            name: tuple(source.start_urls[:MOST_STARTS]) for name, source in project.known_sources.items()
        },
        groups=project.groups,
        boosts={**boosts.factors, **project.index.boosts},
        kinds=hit_codes(project.known_sources.values()),
        state=None
        if project.has_mistakes or project.state.url
        else (project.state.engine, project.state.path),
        definitions=project.definitions,
        search=SearchOptions(
            search.language,
            files | dict(search.source_synonyms),
            (*((pin.query, tuple(pin.urls)) for pin in search.pins), *boosts.first.items()),
            RankingWeights(**dict(search.weights)),
            search.fold_copies,
        ),
        load_project=lambda: project,
        key_file=project.key_file,
        searched=tuple(name for name, one in project.schema_attributes.items() if one.searched),
        derived_readers=tuple(name for name, one in project.known_sources.items() if one.derives_readers),
    )


def _place(section: IndexSection | FurtherIndex, option: str) -> IndexPlace:
    options, secrets = section.given_options()
    written = {name: secret.get_secret_value() for name, secret in secrets.items()}
    group = f"{option}.secrets" if section.secrets else option
    return IndexPlace(section.engine, section.path, options, written, group)


def _readable(project: Project) -> dict[str, tuple[str, ...]]:
    """Return the indexes that each source feeds; those of `crawl --url` do not decide which one is searched."""
    readable = {
        name: tuple(readable_indexes(project, source)) for name, source in project.known_sources.items()
    }
    defined = [indexes for name, indexes in readable.items() if name not in project.adhoc_sources]
    if any(indexes[:1] == (PROJECT_INDEX,) for indexes in defined):
        return readable
    return {name: () if name in project.adhoc_sources else indexes for name, indexes in readable.items()}


def readable_indexes(project: Project, source: DataSource) -> list[str]:
    """Return the searchable indexes that a source feeds, the primary one first."""
    fed = [place.index for place in source.feeding.in_order] or [PROJECT_INDEX]
    return [name for name in fed if name not in project.destinations]


def indexes_on_servers(project: Project) -> list[str]:
    """Return the names of the indexes that are on servers, not in a folder of the project."""
    return [name for name, engine in engines_of(project).items() if engine == "opensearch"]


def engines_of(project: Project) -> dict[str, str]:
    """Return the names of the engines of a project's indexes, by index."""
    return {PROJECT_INDEX: project.index.engine} | {name: one.engine for name, one in project.indexes.items()}


def open_index(project: Project, name: str = PROJECT_INDEX, *, patience: float | None = None) -> IndexEngine:
    """Open an index of a project, for searching or maintenance. Raises `UserError`.

    `patience`: the seconds that servers of the index have for an answer, if those of the definition are more.
    """
    if patience is None:
        return open_engine(index_config(project, name))
    return open_engine(_searchable_with_boosts(project, Boosts()).hurried(patience).config_of(name))


def count_documents(project: Project, source: str) -> int:
    """Return the number of documents of a source in the index of a project, 0 if there is no index."""
    try:
        with closing(open_index(project)) as index:
            return index.count(source)
    except UserError:
        return 0
