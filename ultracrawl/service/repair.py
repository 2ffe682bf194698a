"""Rebuilds an index, and makes the state, the stored answers and the index of a source agree with each other."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager

from ultracrawl.dataclass import asdict, dataclass
from ultracrawl.index.project_index import index_config, open_index, readable_indexes
from ultracrawl.index.repair import repair_index
from ultracrawl.index.writing.cache import has_segments
from ultracrawl.index.writing.destination_queues import queue_folders
from ultracrawl.index.writing.project_outputs import cache_folder
from ultracrawl.model import UrlRecord
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.indexing.link_texts import differing_texts, indexed_texts
from ultracrawl.run.indexing.reconciliation import forget_documents, lost_records, unknown_urls
from ultracrawl.run.indexing.unknown_documents import mark_unknown_documents
from ultracrawl.run.source_data.places import require_idle
from ultracrawl.run.writing.source_writer import idle_writer
from ultracrawl.service.reindex import reindex_sources
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores import Store
from ultracrawl.stores.documents.response_bodies import DocumentStore
from ultracrawl.stores.project_stores import (
    open_documents,
    open_state,
    state_to_read,
    stored_documents_exist,
)

_MAX_OPEN = 50
"""States that are open at once while an index is compared with those of all sources."""


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
    tables so that the next crawl fetches them; it also sends the texts of links that the index has otherwise. Raises
    `IndexStoreError` if the index is locked or cannot be written, `UserError` if a source with missing documents or
    other texts is being crawled.
    """
    with closing(open_index(project, name)) as index:
        repair_index(index, index_config(project, name).path)
    repaired = _make_missing_again(project, name, project.sources.values())
    for source, keys in documents_with_other_texts(project, name).items():
        with closing(open_state(project, source)) as state:
            for key in keys:
                state.links.submitted_without_texts(key)
    return repaired


def documents_with_other_texts(project: Project, name: str) -> dict[str, list[int]]:
    """Return by source the keys of documents whose texts of links in an index are not those that pages have.

    Sources without such a document are left out, and those with changes on their way to the index or an unfinished run,
    whose end sends what has changed. Raises `IndexStoreError` or `StateError` if something cannot be read.
    """
    if not project.index.anchors:
        return {}
    fed = (source for source in project.sources.values() if name in readable_indexes(project, source))
    compared = {source.name for source in fed if _is_at_rest(project, source, name)}
    found: dict[str, list[int]] = {}
    with closing(open_index(project, name)) as index, ExitStack() as opened:
        states: dict[str, Store | None] = {}
        for source, texts in indexed_texts(index, compared):
            if source not in states:
                if len(states) >= _MAX_OPEN:
                    opened.close()
                    states.clear()
                states[source] = opened.enter_context(state_to_read(project, source))
            state = states[source]
            if state is not None and (keys := differing_texts(state, texts)):
                found.setdefault(source, []).extend(keys)
    return found


def _is_at_rest(project: Project, source: DataSource, index: str) -> bool:
    """Return whether the latest run of a source has ended, and nothing waits for an index."""
    with state_to_read(project, source.name) as state:
        is_over = state is not None and all(run.finished for run in state.runs(1))
    return is_over and not _waits(project, source, index)


def _make_missing_again(project: Project, name: str, among: Iterable[DataSource]) -> Repair:
    """Make documents of some sources that an index lacks from stored answers, or have them fetched."""
    missing = _missing(project, name, among)
    stored = [source for source in missing if stored_documents_exist(project, project.sources[source])]
    left = missing
    if stored:
        sources = [project.sources[source] for source in stored]
        reindex_sources(project, sources, settings={"LOG_LEVEL": "ERROR"})
        left = _missing(project, name, among)
    for source in left:  # otherwise the next crawl would send conditional requests
        with closing(open_state(project, source)) as state:
            forget_documents(state, _lost(project, name, source, state))
    unreadable, fetched = sum(missing.values()), sum(left.values())
    return Repair(unreadable, unreadable - fetched)


def _missing(project: Project, name: str, among: Iterable[DataSource]) -> dict[str, int]:
    """Return the number of documents missing in an index by source, for sources that miss any."""
    numbers = {}
    for definition in among:
        source = definition.name
        if name in readable_indexes(project, definition):
            with state_to_read(project, source) as state:
                numbers[source] = len(_lost(project, name, source, state)) if state else 0
    return {source: number for source, number in numbers.items() if number}


def _lost(project: Project, name: str, source: str, state: Store) -> list[UrlRecord]:
    with closing(open_index(project, name)) as index:
        return list(lost_records(state, index, source))


@dataclass(frozen=True, slots=True)
class Consistency:
    """What the state of a source, its primary index and its stored answers do not agree about.

    All are URLs as they are shown, but for `stored`.
    """

    source: str
    not_indexed: tuple[str, ...] = ()
    """Documents that the state has and the index lacks; none while some wait for the index."""
    unknown: tuple[str, ...] = ()
    """Documents that the index has and the state does not."""
    not_stored: tuple[str, ...] = ()
    """Documents of the state without their stored answer, if the source keeps those of all documents."""
    stored: int = 0
    """Stored answers of URLs that the state does not know."""

    @property
    def sound(self) -> bool:
        """Whether all agree."""
        return not (self.not_indexed or self.unknown or self.not_stored or self.stored)

    def as_json(self) -> dict[str, object]:
        """Return the JSON object of `ultracrawl admin consistency --json`."""
        return {**asdict(self), "sound": self.sound}


def check_consistency(project: Project, source: DataSource) -> Consistency:
    """Compare what is known of a source with its index and its stored answers, in both directions.

    Nothing is changed. Destinations other than indexes cannot be asked, and are left out. Raises `IndexStoreError` or
    `StateError` if something cannot be read.
    """
    with state_to_read(project, source.name) as state:
        return _compare(project, source, state) if state is not None else Consistency(source.name)


def mend_consistency(project: Project, source: DataSource) -> Consistency:
    """Mend what `check_consistency` finds, and return what that was.

    Documents that the index lacks are made again from stored answers, or fetched by the next crawl, as are those
    without a stored answer. Documents that the state does not know leave with the next complete crawl if that does not
    find them, as far as the deletion guard allows; stored answers of unknown URLs are removed at once. Raises
    `UserError` while the source is being crawled.
    """
    require_idle(project, source.name)
    found = check_consistency(project, source)
    if found.not_indexed:
        _make_missing_again(project, readable_indexes(project, source)[0], [source])
    if found.unknown or found.not_stored:
        with closing(open_state(project, source.name)) as state:
            without = set(found.not_stored)
            forget_documents(state, [one for one in _documents_of(state) if one.shown_url in without])
            with idle_writer(project, source, state, pauses=False) as (writer, _):
                mark_unknown_documents(state, writer, found.unknown, time.time())
    if found.stored:
        with closing(open_state(project, source.name)) as state, _answers(project, source) as answers:
            if answers is not None:
                answers.discard(_unknown_answers(state, answers))
    return found


def _compare(project: Project, source: DataSource, state: Store) -> Consistency:
    documents = _documents_of(state)
    indexes = readable_indexes(project, source)
    lost: list[str] = []
    unknown: set[str] = set()
    if indexes:
        with closing(open_index(project, indexes[0])) as index:
            unknown = set(unknown_urls(state, index, source.name))
            if not _waits(project, source, indexes[0]):
                lost = sorted(record.shown_url for record in lost_records(state, index, source.name))
    with _answers(project, source) as answers:
        keys = set(answers.stored_keys()) if answers is not None else set()
        kept = answers is not None and not (source.storage.remove_sent or source.storage.size)
        bare = [one.shown_url for one in documents if one.indexed and kept and url_key(one.url) not in keys]
        number = len(_unknown_answers(state, answers)) if answers is not None else 0
    return Consistency(source.name, tuple(lost), tuple(sorted(unknown)), tuple(sorted(bare)), number)


def _documents_of(state: Store) -> list[UrlRecord]:
    return [record for record in state.records.all_records() if record.searchable]


def _unknown_answers(state: Store, answers: DocumentStore) -> list[int]:
    keys = answers.stored_keys()
    known = state.records.known_urls(keys)
    return [key for key in keys if key not in known]


def _waits(project: Project, source: DataSource, index: str) -> bool:
    """Return whether documents wait for an index, which may be paused."""
    folder = queue_folders(cache_folder(project, source.name)).get(index)
    return folder is not None and has_segments(folder)


@contextmanager
def _answers(project: Project, source: DataSource) -> Iterator[DocumentStore | None]:
    """Open the stored answers of a source; None if it stores none."""
    if not stored_documents_exist(project, source):
        yield None
        return
    with closing(open_documents(project, source)) as answers:
        yield answers
