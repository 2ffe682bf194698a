"""Opens the document cache and the destinations of a project's sources for indexing."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from ultracrawl.errors import UltracrawlError
from ultracrawl.index.destinations.destination_config import DestinationConfig, open_destination
from ultracrawl.index.engines import check_engine, compares_versions
from ultracrawl.index.project_index import index_config
from ultracrawl.index.repair import noted_count
from ultracrawl.index.writing.cache import DocumentCache, next_epoch, place_of
from ultracrawl.index.writing.destination_queue import DestinationQueue, Indexer
from ultracrawl.index.writing.destination_queues import DestinationQueues, queue_folder, queue_folders
from ultracrawl.index.writing.lease_note import LeaseNote
from ultracrawl.index.writing.pause_switch import PauseSwitch
from ultracrawl.index.writing.process import IndexProcess
from ultracrawl.index.writing.questions import AskedIndex, asked_index
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.secrets import read_secrets
from ultracrawl.sources.sections.documents.destinations import PROJECT_INDEX

_prestarted: dict[str, IndexProcess] = {}
"""Index processes started by `prestart_indexer`, by their configuration."""


def cache_folder(project: Project, source: str) -> Path:
    """Return the folder of the document cache of a source."""
    return project.cache.path / source


def open_cache(project: Project, source: DataSource, epoch: int = 0) -> DocumentCache:
    """Open the document cache of a source, whose lock the caller holds; each time a new epoch begins.

    It is that of a store which several machines share (`Store.next_epoch`), or, if that is 0, one of this machine.
    """
    folder = cache_folder(project, source.name)
    indexes = [place.index for place in source.feeding.in_order] or [PROJECT_INDEX]
    engines = {index_config(project, name).engine for name in indexes if name not in project.destinations}
    lease = LeaseNote(folder, epoch) if any(compares_versions(engine) for engine in engines) else None
    place = place_of(project.cache.path) if epoch else ""
    return DocumentCache(folder, project.cache.size, epoch or next_epoch(project.cache.path), lease, place)


def pause_switch(project: Project, source: str) -> PauseSwitch:
    """Return the stored pauses of the destinations of a source."""
    return PauseSwitch(cache_folder(project, source))


def destination_config(project: Project, name: str) -> DestinationConfig:
    """Return the configuration of a destination that is no index. Raises `UserError` if a secret cannot be read."""
    section, place, key_file = project.destinations[name], f"destinations.{name}", project.key_file
    if "options" in section.own_options:
        own = read_secrets(section.secrets, f"{place}.secrets", key_file)
        return DestinationConfig(name, section.type, {**section.options, **own})
    options = section.model_dump(
        mode="json", include=set(section.own_options - {"headers", "password", "key"})
    )
    options["headers"] = read_secrets(section.headers, f"{place}.headers", key_file)
    secrets = {"password": section.password, "key": section.key}
    options |= read_secrets({name: one for name, one in secrets.items() if one is not None}, place, key_file)
    return DestinationConfig(name, section.type, options)


def open_destinations(project: Project, source: DataSource) -> DestinationQueues:
    """Return the queues of all destinations of a source, the primary one first."""
    cache = cache_folder(project, source.name)
    places = source.feeding.in_order
    if not places or [place.index for place in places] == [PROJECT_INDEX]:
        destinations = DestinationQueues.single(cache, open_indexer(project))
        destinations.primary.label = places[0].label if places else ""
        return destinations
    return DestinationQueues(
        cache,
        [
            DestinationQueue(
                queue_folder(cache, place.index),
                open_indexer(project, place.index),
                label=place.label,
                index=place.index,
            )
            for place in places
        ],
        shared=True,
    )


def asked_index_of(project: Project, destinations: DestinationQueues, name: str) -> AskedIndex:
    """Return an index that a source feeds, as its index process sees it."""
    return asked_index(index_config(project, name), destinations.queue_of(name).ask)


def former_indexes(project: Project, source: DataSource) -> list[str]:
    """Return the indexes that a source once fed and that its definition no longer names."""
    fed = {place.index for place in source.feeding.in_order} or {PROJECT_INDEX}
    return [name for name in queue_folders(cache_folder(project, source.name)) if name not in fed]


def open_indexer(project: Project, name: str = PROJECT_INDEX) -> Indexer:
    """Return the process that delivers cache segments to an index or another destination.

    Raises `UserError` for an invalid configuration here, and not in that process, which would be after the first pages.
    """
    if name in project.destinations:
        settings = destination_config(project, name)
        open_destination(settings).close()
        return IndexProcess(settings)
    config = index_config(project, name)
    check_engine(config.engine, has_options=config.has_options)
    return _prestarted.pop(config.shared_name(), None) or IndexProcess(config)


def prestart_indexer(project: Project, source: DataSource) -> None:
    """Start the index process of a crawl that is certain to need it, so that both load at the same time.

    If the crawl does not begin, the process ends with this one. Errors are reported by the crawl.
    """
    name = source.feeding.primary_index
    if name in project.destinations or source.feeding.paused:
        return
    with suppress(UltracrawlError):
        config = index_config(project, name)
        _prestarted[config.shared_name()] = process = IndexProcess(config)
        process.prepare()


def is_asked_first(project: Project, source: DataSource) -> bool:
    """Return whether a crawl has to ask the index process before its first page what the index has."""
    name = source.feeding.primary_index
    if name in project.destinations:
        return False
    with suppress(UltracrawlError):
        return noted_count(index_config(project, name), source.name) is None
    return False
