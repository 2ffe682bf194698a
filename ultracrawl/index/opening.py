"""Opens what a project names: the document cache of a source, the index and the process that fills it."""

from __future__ import annotations

from pathlib import Path

from ultracrawl.errors import UserError
from ultracrawl.index import IndexEngine
from ultracrawl.index.engines import IndexConfig, is_volatile
from ultracrawl.index.engines import open_index as open_engine
from ultracrawl.index.writing.cache import DocumentCache
from ultracrawl.index.writing.destination import IndexDestination, Indexer
from ultracrawl.index.writing.destinations import IndexDestinations, queue_folder, queue_folders
from ultracrawl.index.writing.process import IndexProcess, InlineIndexer
from ultracrawl.index.writing.switch import PauseSwitch
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.sections.documents.destinations import PROJECT_INDEX


def cache_folder(project: Project, source: str) -> Path:
    """Return the folder of the durable document cache of one source."""
    return project.cache.path / source


def open_cache(project: Project, source: str) -> DocumentCache:
    """Open the durable document cache of one source."""
    return DocumentCache(cache_folder(project, source), project.cache.size)


def pause_switch(project: Project, source: str) -> PauseSwitch:
    """Return the pauses that were ordered for the destinations of a source."""
    return PauseSwitch(cache_folder(project, source))


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


def open_destinations(project: Project, source: DataSource) -> IndexDestinations:
    """Return the ways to all indexes that a source feeds, the primary one first."""
    cache = cache_folder(project, source.name)
    places = source.feeding.in_order
    if not places or [place.index for place in places] == [PROJECT_INDEX]:
        destinations = IndexDestinations.single(cache, open_indexer(project))
        destinations.primary.label = places[0].label if places else ""
        return destinations
    return IndexDestinations(
        cache,
        [
            IndexDestination(
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
    """Return the names of indexes that a source wrote to once, and that its definition names no more."""
    fed = {place.index for place in source.feeding.in_order} or {PROJECT_INDEX}
    return [name for name in queue_folders(cache_folder(project, source.name)) if name not in fed]


def open_indexer(project: Project, name: str = PROJECT_INDEX) -> Indexer:
    """Return what applies cache segments to an index: a process of its own, except for engines in memory.

    Raises `UserError` here, and not in that process, which would be after the first pages.
    """
    config = index_config(project, name)
    return InlineIndexer(open_engine(config)) if is_volatile(config.engine) else IndexProcess(config)
