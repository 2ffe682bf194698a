"""Moves and removes the documents of a source in all indexes and other destinations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace

from ultracrawl.errors import WorkError
from ultracrawl.index import Change, Deletion, IndexEngine
from ultracrawl.index.changes import batches
from ultracrawl.index.engine import ComparesVersions
from ultracrawl.index.engines import is_new
from ultracrawl.index.project_index import index_config, open_index, readable_indexes
from ultracrawl.index.values import pack_document, unpack_document
from ultracrawl.index.writing.destination_queue import PROBLEM_FILE
from ultracrawl.index.writing.destination_queues import queue_folders
from ultracrawl.index.writing.project_outputs import cache_folder
from ultracrawl.run.writing.source_writer import idle_writer
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.sections.documents.destinations import (
    PROJECT_INDEX,
    DestinationOptions,
    FeedingSection,
)
from ultracrawl.stores import Retained, Store

_CHANGES_PER_TICK = 100
"""Changes between two checks whether the cache is full."""


def source_for(project: Project, name: str, like: str = "") -> DataSource:
    """Return a source that feeds everything that this one has fed, whether or not a file still defines it.

    It feeds what its definition names (or that of the source `like`), and what its queues name of former ones.
    """
    known = project.known_sources
    defined = known.get(name) or known.get(like)
    source = defined.model_copy(update={"name": name}) if defined is not None else DataSource(name=name)
    former = [index for index in queue_folders(cache_folder(project, name)) if _exists(project, index)]
    fed = [place.index for place in source.feeding.in_order]
    if not fed and (defined is not None or not former):
        fed = [PROJECT_INDEX]
    indexes = [*fed, *(index for index in former if index not in fed)]
    primary = next((index for index in indexes if index not in project.destinations), indexes[0])
    options = {
        f"to.{index}": DestinationOptions.model_validate(
            {"destination" if index in project.destinations else "index": index, "primary": index == primary}
        )
        for index in indexes
    }
    return source.model_copy(update={"feeding": FeedingSection(destinations=options)})


def _exists(project: Project, index: str) -> bool:
    return index == PROJECT_INDEX or index in project.indexes or index in project.destinations


def remove_documents(project: Project, name: str, state: Store) -> int:
    """Delete the documents of a source from everything that it fed; returns how many it had.

    Raises `WorkError` if a destination does not take the deletions: they are sent again by the next call.
    """
    source = source_for(project, name)
    urls = {record.shown_url for record in state.records.all_records() if record.searchable}
    for index in _indexes(project):
        with closing(index):
            urls.update(url for _, url in index.urls(name))
    _send(project, source, state, (Deletion(name, url) for url in sorted(urls)))
    _require_sent(project, name)
    for index in _indexes(project):
        with closing(index):
            _apply(index, (Deletion(name, url) for _, url in index.urls(name)))
            _forget_holders(index, name)
    return len(urls)


def rename_documents(project: Project, name: str, new: str, state: Store) -> int:
    """Give the documents of a source another one in everything that it fed; returns how many there were.

    They are taken from the index of the source. If it has none, the next crawl makes them again. Raises `WorkError` if
    an index does not take them: what is missing is sent by the next call.
    """
    source = source_for(project, name, new)
    _rename_retained(state, name, new)
    indexes = readable_indexes(project, source)
    primary = open_index(project, indexes[0]) if indexes else None
    if primary is None:
        urls = [record.shown_url for record in state.records.all_records() if record.searchable]
        number = _send(project, source, state, (Deletion(name, url) for url in urls))
        state.documents.remake_documents()
    else:
        with closing(primary):
            number = _send(project, source, state, _renamed(primary, name, new)) // 2
    for index in _indexes(project):
        with closing(index):
            _apply(index, _renamed(index, name, new))
            _forget_holders(index, name)
    return number


def _indexes(project: Project) -> Iterator[IndexEngine]:
    """Yield every index of the project that exists."""
    for name in (PROJECT_INDEX, *project.indexes):
        if not is_new(index_config(project, name)):
            yield open_index(project, name)


def _apply(index: IndexEngine, changes: Iterable[Change]) -> None:
    for batch in batches(changes):
        index.apply(batch)


def _forget_holders(index: IndexEngine, name: str) -> None:
    if isinstance(index, ComparesVersions):
        index.forget_holders(name)


def _renamed(index: IndexEngine, name: str, new: str) -> Iterator[Change]:
    """Yield the changes that give the documents of a source in an index another one."""
    if not index.count(name):
        return
    for document in index.documents():
        if document.source == name:
            yield Deletion(name, document.url)
            yield replace(document, source=new)


def _rename_retained(state: Store, name: str, new: str) -> None:
    """Give the documents that the store itself retains another source."""
    for purpose in (Retained.APPROVAL, Retained.REPLACEMENT, Retained.RELATED):
        for key in state.documents.retained_keys(purpose):
            data = state.documents.retained_document(purpose, key)
            document = unpack_document(data) if data else None
            if document is not None and document.source == name:
                state.documents.retain_document(
                    purpose, key, pack_document(key, replace(document, source=new))
                )
    state.flush()


def _send(project: Project, source: DataSource, state: Store, changes: Iterable[Change]) -> int:
    """Send changes to everything that a source feeds, after what waits for it; returns how many.

    Paused destinations get them too. Raises `WorkError` if a destination does not take them.
    """
    cache, number = cache_folder(project, source.name), 0
    if any(path.suffix in (".open", ".sealed") for path in cache.rglob("*.*")):
        with idle_writer(project, source, state, pauses=False):
            pass  # opening the writer sends what waits; the index then has all documents
    with idle_writer(project, source, state, pauses=False) as (writer, _):
        for number, change in enumerate(changes, 1):
            writer.append(0, change)
            if number % _CHANGES_PER_TICK == 0:
                writer.tick()
    return number


def _require_sent(project: Project, name: str) -> None:
    """Raise `WorkError` if a destination has not taken everything that was sent to it."""
    for index, folder in queue_folders(cache_folder(project, name)).items():
        if _exists(project, index) and any(folder.glob("*.sealed")):
            problem = folder / PROBLEM_FILE
            reason = problem.read_text(encoding="utf-8", errors="replace").strip() if problem.exists() else ""
            raise WorkError(
                f"`{index}` did not take the deletions of {name!r}{f': {reason}' if reason else ''}; "
                f"`ultracrawl remove {name}` sends them again"
            )
