"""Rebuilds an index, and makes missing documents again from stored answers or by fetching them."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

from ultracrawl.index.project_index import index_config, open_index, readable_indexes
from ultracrawl.index.repair import repair_index
from ultracrawl.model import UrlRecord
from ultracrawl.run.indexing.reconciliation import forget_documents, lost_records
from ultracrawl.service.reindex import reindex_sources
from ultracrawl.sources import Project
from ultracrawl.stores import Store
from ultracrawl.stores.project_stores import open_state, state_to_read, stored_documents_exist


@dataclass(frozen=True, slots=True)
class Repair:
    """Numbers of documents that a rebuilt index lacked."""

    unreadable: int = 0
    """Documents that are in the document table but could not be read from the old index."""
    remade: int = 0
    """Of these, the documents made again from stored answers."""

    @property
    def fetched_again(self) -> int:
        """Of these, the documents that the next crawl fetches."""
        return self.unreadable - self.remade


def rebuild(project: Project, name: str) -> Repair:
    """Index every readable document of an index again; if nothing is readable, start with an empty index.

    Documents that the document tables have and the index lacks are made again from stored answers, or marked in the
    tables so that the next crawl fetches them. Raises `IndexStoreError` if the index is locked or cannot be written,
    `UserError` if a source with missing documents is being crawled.
    """
    with closing(open_index(project, name)) as index:
        repair_index(index, index_config(project, name).path)
    missing = _missing(project, name)
    stored = [source for source in missing if stored_documents_exist(project, project.sources[source])]
    left = missing
    if stored:
        sources = [project.sources[source] for source in stored]
        reindex_sources(project, sources, settings={"LOG_LEVEL": "ERROR"})
        left = _missing(project, name)
    for source in left:  # otherwise the next crawl would send conditional requests
        with closing(open_state(project, source)) as state:
            forget_documents(state, _lost(project, name, source, state))
    unreadable, fetched = sum(missing.values()), sum(left.values())
    return Repair(unreadable, unreadable - fetched)


def _missing(project: Project, name: str) -> dict[str, int]:
    """Return the number of documents missing in an index by source, for sources that miss any."""
    numbers = {}
    for source, definition in project.sources.items():
        if name in readable_indexes(project, definition):
            with state_to_read(project, source) as state:
                numbers[source] = len(_lost(project, name, source, state)) if state else 0
    return {source: number for source, number in numbers.items() if number}


def _lost(project: Project, name: str, source: str, state: Store) -> list[UrlRecord]:
    with closing(open_index(project, name)) as index:
        return lost_records(state, index, source)
