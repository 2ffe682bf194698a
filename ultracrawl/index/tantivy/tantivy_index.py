"""The engine: applies changes in atomic commits and runs searches."""

from __future__ import annotations

import json
import logging
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from tantivy import IndexWriter, Query

from ultracrawl.errors import IndexDamagedError, IndexLockedError
from ultracrawl.index.changes import last_changes, with_anchors
from ultracrawl.index.engine import Change, IndexDocument, IndexFacts, NewAnchors, SearchQuery, SearchResult
from ultracrawl.index.locking import LOCK, LOCK_SECONDS, write_lock
from ultracrawl.index.reclaiming import note_reclaimed, segment_to_reclaim
from ultracrawl.index.stored_fields import SCHEMA_VERSION, UPGRADE_NOTICE, document_id
from ultracrawl.index.tantivy.fields import new_document, stored_document
from ultracrawl.index.tantivy.generations import Generation, Generations, empty_generation
from ultracrawl.index.tantivy.integrity import (
    damaged_files,
    find_damage,
    index_facts,
    segment_counts,
    stored_documents,
    stored_in_segment,
)
from ultracrawl.rules.attributes.schema import SearchAttribute
from ultracrawl.system.files import set_contents_aside

logger = logging.getLogger(__name__)

_WRITER_HEAP_BYTES = 64_000_000
"""Writer heap: bytes of postings in memory before tantivy writes a segment."""

_CHECK_ATTEMPTS = 5

RECLAIM_BATCH = 20_000
"""Documents that are reindexed in one step of `reclaim`."""

MAX_SEGMENTS = 12
"""Number of segments above which `maintain` merges."""


class TantivyIndex:
    """An index in tantivy's format; several processes may have it open and write in turn."""

    def __init__(
        self, path: Path, attributes: Mapping[str, SearchAttribute], lock_seconds: float = LOCK_SECONDS
    ) -> None:
        self._path = path
        self._attributes = dict(attributes)
        self._lock_seconds = lock_seconds
        self._generations = Generations(path)

    def apply(self, changes: Iterable[Change]) -> int:
        """See `IndexEngine.apply`."""
        last = {document_id(*key): change for key, change in last_changes(changes).items()}
        if not last:
            return 0
        with write_lock(self._path, self._lock_seconds):
            generation = self._writable()
            fields = {name: one for name, one in self._attributes.items() if name in generation.attributes}
            with self._writer(generation) as writer:
                for key, change in last.items():
                    made = (
                        self._with_anchors(generation, key, change)
                        if isinstance(change, NewAnchors)
                        else change
                    )
                    if made is None:
                        continue
                    writer.delete_documents_by_term("id", key)
                    if isinstance(made, IndexDocument):
                        writer.add_document(new_document(made, fields))
        return sum(isinstance(change, IndexDocument) for change in last.values())

    def search(self, query: SearchQuery) -> SearchResult:
        """See `IndexEngine.search`."""
        from ultracrawl.index.tantivy.index_searcher import IndexSearcher  # noqa: PLC0415 - slow, and writers need none

        def searched(generation: Generation) -> SearchResult:
            return IndexSearcher(generation, self._attributes, query).run()

        result = self._generations.read(searched, None, reload=False)
        return searched(empty_generation(self._attributes)) if result is None else result

    def count(self, source: str = "") -> int:
        """See `IndexEngine.count`."""
        generation = self._generations.current()
        if generation is None:
            return 0
        with self._generations.errors("read"):
            searcher = generation.index.searcher()
            if not source:
                return searcher.num_docs
            wanted = Query.term_query(generation.index.schema, "source", source)
            return searcher.search(wanted, limit=1).count or 0  # type: ignore[attr-defined]  # not in its stubs

    def commit_id(self) -> Hashable:
        """See `HasCommits.commit_id`."""
        return self._generations.state()

    def sources(self) -> tuple[str, ...]:
        """See `IndexEngine.sources`."""
        return self._generations.sources()

    def urls(self, source: str = "") -> Iterator[tuple[str, str]]:
        """See `IndexEngine.urls`."""
        generation = self._generations.current()
        if generation is None:
            return
        with self._generations.errors("read"):
            searcher = generation.index.searcher()
            start = f"{source}\n" if source else ""
            keys = searcher.terms_with_prefix("id", start, filter_query=Query.all_query())
            for key, count in keys:
                if count:
                    owner, _, url = key.partition("\n")
                    yield owner, url

    def documents(self) -> Iterator[IndexDocument]:
        """See `IndexEngine.documents`; the whole text of every document is stored."""
        generation = self._generations.current()
        if generation is not None:
            with self._generations.errors("read"):
                yield from stored_documents(generation)

    def maintain(self) -> None:
        """Merge segments if there are many, otherwise free the space of deleted documents."""
        generation = self._generations.current()
        if generation is None or generation.index.searcher().num_segments <= MAX_SEGMENTS:
            self.reclaim()
            return
        with write_lock(self._path, self._lock_seconds), self._writer(generation):
            pass  # tantivy merges segments after every commit

    def reclaim(self) -> bool:
        """See `IndexEngine.reclaim`: reindexes documents of one segment; tantivy drops empty segments."""
        if _to_reclaim(self._generations.current()) is None:
            return False
        with suppress(IndexLockedError), write_lock(self._path, 0.0):
            generation = self._writable()
            at = _to_reclaim(generation)
            if at is None:
                return False
            with self._generations.errors("read"):
                documents = stored_in_segment(generation, at, RECLAIM_BATCH)
            with self._writer(generation) as writer:
                for document in documents:
                    writer.delete_documents_by_term("id", document_id(document.source, document.url))
                    writer.add_document(new_document(document, generation.attributes))
            note_reclaimed(self._path)
            return bool(documents)
        return False

    def optimise(self) -> None:
        """See `IndexEngine.optimise`: all living documents are rewritten."""
        self.rebuild()

    def facts(self) -> IndexFacts:
        """See `IndexEngine.facts`."""
        return self._generations.read(index_facts, IndexFacts("tantivy", 0, 0, 0, 0, 0, {}))

    def check(self) -> list[str]:
        """See `IndexEngine.check`; repeated if the index is written to meanwhile."""
        problems: list[str] = []
        for _ in range(_CHECK_ATTEMPTS):
            before = self._generations.state()
            try:
                problems = self._generations.read(find_damage, [])
            except IndexDamagedError as error:
                problems = [error.problem]
            if not problems or self._generations.state() == before:
                break
        return problems

    def damaged_files(self, since: int) -> list[str]:
        """See `HasFiles.damaged_files`."""
        return self._generations.read(partial(damaged_files, since=since), [])

    def rebuild(self) -> int:
        """See `IndexEngine.rebuild`; the old index is searched until the new one replaces it."""
        with write_lock(self._path, self._lock_seconds):
            generation = self._generations.readable()
            return 0 if generation is None else self._copy(generation).index.searcher().num_docs

    def bring_up_to_date(self) -> bool:
        """See `IndexEngine.bring_up_to_date`."""
        if not _is_outdated(self._generations.current()):
            return False
        with write_lock(self._path, self._lock_seconds):
            generation = self._generations.current()
            if generation is None or not _is_outdated(generation):
                return False  # another process did it meanwhile
            self._copy(generation)
            return True

    def clear(self) -> None:
        """See `IndexEngine.clear`."""
        with write_lock(self._path, self._lock_seconds):
            fresh = self._generations.begin(self._attributes)
            with self._generations.errors("written"):
                set_contents_aside(self._path, excluded_names=(fresh.path.name, LOCK))
            self._generations.adopt(fresh)

    def close(self) -> None:
        """See `IndexEngine.close`."""
        self._generations.close()

    def _writable(self) -> Generation:
        """Return a generation with a field for every attribute and the current schema version."""
        generation = self._generations.current()
        if generation is None:
            generation = self._generations.begin(self._attributes)
            self._generations.adopt(generation)
        known = generation.attributes
        missing = [name for name, one in self._attributes.items() if known.get(name) != one]
        if outdated := _is_outdated(generation):
            logger.warning(UPGRADE_NOTICE, self._path)
        return self._copy(generation) if missing or outdated else generation

    def _with_anchors(self, generation: Generation, key: str, change: NewAnchors) -> IndexDocument | None:
        """Return the document with its new anchor texts; None if there is none, or nothing changes."""
        wanted = Query.term_query(generation.index.schema, "id", key)
        searcher = generation.index.searcher()
        for _, address in searcher.search(wanted, limit=1, count=False).hits:
            document = stored_document(searcher.doc(address))
            changed = with_anchors(document, change)
            return changed if changed != document else None
        return None

    def _copy(self, generation: Generation) -> Generation:
        """Copy the living documents into a new generation and make it the current one; the lock is held."""
        fresh = self._generations.begin({**generation.attributes, **self._attributes})
        with self._writer(fresh) as writer:
            for document in stored_documents(generation):
                writer.add_document(new_document(document, fresh.attributes))
        self._generations.adopt(fresh)
        fresh.index.reload()
        return fresh

    @contextmanager
    def _writer(self, generation: Generation) -> Iterator[IndexWriter]:
        """Yield a writer; its changes are committed together, or not at all."""
        with self._generations.errors("written"):
            _remove_uncommitted_deletes(generation.path)
            writer = generation.index.writer(_WRITER_HEAP_BYTES, 1)
            try:
                yield writer
                writer.commit()
            except BaseException:
                writer.rollback()
                raise
            writer.wait_merging_threads()
            generation.index.reload()


def _to_reclaim(generation: Generation | None) -> int | None:
    return None if generation is None else segment_to_reclaim(segment_counts(generation))


def _is_outdated(generation: Generation | None) -> bool:
    return generation is not None and generation.schema != SCHEMA_VERSION


def _remove_uncommitted_deletes(folder: Path) -> None:
    """Remove delete files of an uncommitted write of a killed process: tantivy does not overwrite them."""
    committed = json.loads((folder / "meta.json").read_bytes())["opstamp"]
    for path in folder.glob("*.del"):
        stamp = path.name.split(".")[-2]
        if stamp.isdigit() and int(stamp) > committed:
            path.unlink(missing_ok=True)
