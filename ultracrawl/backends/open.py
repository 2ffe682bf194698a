"""Opens what a project names: the state of a source, its document cache, the index and the process that fills it."""

from __future__ import annotations

from pathlib import Path

from ultracrawl.errors import UserError
from ultracrawl.index import IndexEngine
from ultracrawl.index.cache import DocumentCache
from ultracrawl.index.inline import InlineIndexer
from ultracrawl.index.open import IndexConfig, require_engine
from ultracrawl.index.open import open_index as open_engine
from ultracrawl.index.outlet import Indexer, Outlet
from ultracrawl.index.outlets import Outlets, queue_folder, queue_folders
from ultracrawl.index.process import IndexProcess
from ultracrawl.index.switch import FeedingSwitch
from ultracrawl.rules.attributes.value_lists import ValueList
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.sections.documents.feeding import PROJECT_INDEX
from ultracrawl.sources.sections.documents.lists import value_lists as listed_values
from ultracrawl.stores import SqliteState
from ultracrawl.stores.documents.clustered import open_clusters
from ultracrawl.stores.documents.response_bodies import BlockStore, DocumentStore, FileStore
from ultracrawl.stores.list_store import ListStore


def _state_path(project: Project, source: str) -> Path:
    return project.state.path / f"{source}.sqlite"


def state_file(project: Project, source: str) -> Path | None:
    """Return the file with the state of a source, whether it exists or not; None if the state is kept in memory."""
    return None if project.state.engine == "memory" else _state_path(project, source)


def robot_file(project: Project, source: str) -> Path | None:
    """Return the name beside which the robot of a source shows its sign; None if the state is kept in memory."""
    file = state_file(project, source)
    return file.with_suffix(".robot") if file is not None else None


def state_exists(project: Project, source: str) -> bool:
    """Whether a source was ever crawled."""
    return _state_path(project, source).exists()


def open_state(project: Project, source: str, *, read_only: bool = False, renew: bool = False) -> SqliteState:
    """Open the document table and queue of one source. Raises `UserError`, `StateError`.

    With `renew`, a damaged file is set aside and a new one begun.
    """
    path = ":memory:" if project.state.engine == "memory" else _state_path(project, source)
    return SqliteState(path, source, read_only=read_only, renew=renew)


def cache_folder(project: Project, source: str) -> Path:
    """Return the folder of the durable document cache of one source."""
    return project.cache.path / source


def open_cache(project: Project, source: str) -> DocumentCache:
    """Open the durable document cache of one source."""
    return DocumentCache(cache_folder(project, source), project.cache.size)


def feeding_switch(project: Project, source: str) -> FeedingSwitch:
    """Return what was said from outside about feeding the documents of one source."""
    return FeedingSwitch(cache_folder(project, source))


def index_config(project: Project, name: str = PROJECT_INDEX) -> IndexConfig:
    """Return what is needed to open an index of a project, in this process or another. Raises `UserError`."""
    further = project.indexes.get(name)
    if further is None and name != PROJECT_INDEX:
        known = ", ".join((PROJECT_INDEX, *project.indexes))
        raise UserError(f"there is no index {name!r}; the indexes are {known}")
    engine, path = (further.engine, further.path) if further else (project.index.engine, project.index.path)
    return IndexConfig(engine, path, tuple(project.schema_attributes.values()))


def open_index(project: Project, name: str = PROJECT_INDEX) -> IndexEngine:
    """Open an index of a project, for searching or for work on it. Raises `UserError`."""
    return open_engine(index_config(project, name))


def _documents_path(project: Project, source: DataSource) -> Path:
    return project.documents.path / source.name


def open_documents(project: Project, source: DataSource, *, renew: bool = False) -> DocumentStore:
    """Open the stored answers of one source; with `renew` what is damaged is set aside. Raises `StateError`."""
    options = source.storage

    def open_part(folder: Path) -> DocumentStore:
        return (
            FileStore(folder)
            if options.form == "files"
            else BlockStore(folder, options.compact_below, renew=renew)
        )

    return open_clusters(_documents_path(project, source), options.clusters, open_part)


def stored_documents_exist(project: Project, source: DataSource) -> bool:
    """Whether a source keeps documents, and was crawled since it does."""
    return source.storage.keep and _documents_path(project, source).exists()


def open_lists(project: Project) -> ListStore:
    """Open the lists of values that were loaded in bulk."""
    return ListStore(project.state.path)


def value_lists(project: Project) -> dict[str, ValueList]:
    """Return all lists of values by search attribute.

    Where the definition and a loaded file list the same attribute, the values of the definition come first, and
    win over equal ones that were loaded.
    """
    own, loaded = listed_values(project.lists), open_lists(project).read()
    both = {
        name: one.with_values(loaded[name].values) if name in loaded else one for name, one in own.items()
    }
    return {**loaded, **both}


def open_outlets(project: Project, source: DataSource) -> Outlets:
    """Return the ways to all indexes that a source feeds, the primary one first."""
    cache = cache_folder(project, source.name)
    places = source.feeding.in_order
    if not places or [place.index for place in places] == [PROJECT_INDEX]:
        outlets = Outlets.single(cache, open_indexer(project))
        outlets.primary.label = places[0].label if places else ""
        return outlets
    return Outlets(
        cache,
        [
            Outlet(
                queue_folder(cache, place.index),
                open_indexer(project, place.index),
                label=place.label,
                index=place.index,
            )
            for place in places
        ],
        shared=True,
    )


def former_indexes(project: Project, source: DataSource) -> list[str]:
    """Return the names of indexes that a source fed once and feeds no more."""
    fed = {place.index for place in source.feeding.in_order} or {PROJECT_INDEX}
    return [name for name in queue_folders(cache_folder(project, source.name)) if name not in fed]


def open_indexer(project: Project, name: str = PROJECT_INDEX) -> Indexer:
    """Return what applies cache segments to an index: a process of its own, except for the engine in memory.

    Raises `MissingExtraError` here, and not in that process, which would be after the first pages.
    """
    config = index_config(project, name)
    require_engine(config.engine)
    return InlineIndexer(open_engine(config)) if config.engine == "memory" else IndexProcess(config)
