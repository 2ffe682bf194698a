"""The engine: applies changes in atomic commits, answers queries."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tantivy import IndexWriter, Query

from ultracrawl.errors import IndexDamagedError, IndexLockedError
from ultracrawl.index.changes import last_changes, with_anchors
from ultracrawl.index.engine import Change, IndexDocument, IndexFacts, NewAnchors, SearchQuery, SearchResult
from ultracrawl.index.locking import LOCK, write_lock
from ultracrawl.index.reclaiming import note_reclaimed, segment_to_reclaim
from ultracrawl.index.stored_fields import SCHEMA_VERSION, UPGRADE_NOTICE, document_id
from ultracrawl.index.tantivy.fields import new_document, stored_document
from ultracrawl.index.tantivy.generations import Generation, Generations, empty_generation
from ultracrawl.index.tantivy.integrity import (
    find_damage,
    index_facts,
    segment_counts,
    stored_documents,
    stored_in_segment,
)
from ultracrawl.rules.attributes.schema import SearchAttribute
from ultracrawl.system.files import set_contents_aside

logger = logging.getLogger(__name__)

LOCK_SECONDS = 60.0
_HEAP = 64_000_000
"""Bytes of postings in memory before tantivy writes them out."""

_LOOKS = 5

MOST_RECLAIMED = 20_000
"""Documents that are indexed anew at a time, so that space is freed in bounded steps."""

MOST_SEGMENTS = 12
"""With more segments than this, `maintain` has tantivy merge."""


class TantivyIndex:
    """An index folder in tantivy's format; several processes may have it open and write in turn."""

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
            fields = self._fields(generation)
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
        from ultracrawl.index.tantivy.index_searcher import IndexSearcher  # noqa: PLC0415 - slow, and who writes needs none

        generation = self._generations.current() or empty_generation(self._attributes)
        with self._generations.errors("read"):
            return IndexSearcher(generation, self._attributes, query.principals).answer(query)

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

    def urls(self, source: str = "") -> list[tuple[str, str]]:
        """See `IndexEngine.urls`."""
        generation = self._generations.current()
        if generation is None:
            return []
        with self._generations.errors("read"):
            searcher = generation.index.searcher()
            start = f"{source}\n" if source else ""
            keys = searcher.terms_with_prefix("id", start, filter_query=Query.all_query())
            parts = (key.partition("\n") for key, count in keys if count)
            return sorted((owner, url) for owner, _, url in parts)

    def documents(self) -> Iterator[IndexDocument]:
        """See `IndexEngine.documents`; the whole text of every document is kept."""
        generation = self._generations.current()
        if generation is not None:
            with self._generations.errors("read"):
                yield from stored_documents(generation)

    def maintain(self) -> None:
        """Merge segments if there are many, or free space if there is much."""
        generation = self._generations.current()
        if generation is None or generation.index.searcher().num_segments <= MOST_SEGMENTS:
            self.reclaim()
            return
        with write_lock(self._path, self._lock_seconds), self._writer(generation):
            pass  # every commit lets tantivy look for segments to merge

    def reclaim(self) -> bool:
        """See `IndexEngine.reclaim`: documents of one segment go to a new one; a segment without any is dropped."""
        if _to_reclaim(self._generations.current()) is None:
            return False
        with suppress(IndexLockedError), write_lock(self._path, 0.0):
            generation = self._writable()
            at = _to_reclaim(generation)
            if at is None:
                return False
            with self._generations.errors("read"):
                documents = stored_in_segment(generation, at, MOST_RECLAIMED)
            with self._writer(generation) as writer:
                for document in documents:
                    writer.delete_documents_by_term("id", document_id(document.source, document.url))
                    writer.add_document(new_document(document, generation.attributes))
            note_reclaimed(self._path)
            return bool(documents)
        return False

    def optimise(self) -> None:
        """See `IndexEngine.optimise`: the living documents are written anew."""
        self.rebuild()

    def facts(self) -> IndexFacts:
        """See `IndexEngine.facts`."""
        return self._generations.read(index_facts, IndexFacts("tantivy", 0, 0, 0, 0, 0, {}))

    def check(self) -> list[str]:
        """See `IndexEngine.check`; what is written to meanwhile is looked at again."""
        wrong: list[str] = []
        for _ in range(_LOOKS):
            before = self._generations.state()
            try:
                wrong = self._generations.read(find_damage, [])
            except IndexDamagedError as error:
                wrong = [error.problem]
            if not wrong or self._generations.state() == before:
                break
        return wrong

    def rebuild(self) -> int:
        """See `IndexEngine.rebuild`; the index is searched as it was until the new one takes its place."""
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
        """Return a generation that has a field for every attribute and the words of this version."""
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
        """Return the document of a key with its new anchor texts; None if there is none, or it has them."""
        wanted = Query.term_query(generation.index.schema, "id", key)
        searcher = generation.index.searcher()
        for _, address in searcher.search(wanted, limit=1, count=False).hits:
            document = stored_document(searcher.doc(address))
            changed = with_anchors(document, change)
            return changed if changed != document else None
        return None

    def _copy(self, generation: Generation) -> Generation:
        """Write the living documents into a new generation and put it in force; the lock is held."""
        fresh = self._generations.begin({**generation.attributes, **self._attributes})
        with self._writer(fresh) as writer:
            for document in stored_documents(generation):
                writer.add_document(new_document(document, fresh.attributes))
        self._generations.adopt(fresh)
        fresh.index.reload()
        return fresh

    def _fields(self, generation: Generation) -> dict[str, SearchAttribute]:
        return {name: one for name, one in self._attributes.items() if name in generation.attributes}

    @contextmanager
    def _writer(self, generation: Generation) -> Iterator[IndexWriter]:
        """Give a writer whose changes become durable together, or not at all."""
        with self._generations.errors("written"):
            _forget_unfinished(generation.path)
            writer = generation.index.writer(_HEAP, 1)
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


def _forget_unfinished(folder: Path) -> None:
    """Remove lists of deleted documents that a killed process began: tantivy does not write over them."""
    committed = json.loads((folder / "meta.json").read_bytes())["opstamp"]
    for path in folder.glob("*.del"):
        stamp = path.name.split(".")[-2]
        if stamp.isdigit() and int(stamp) > committed:
            path.unlink(missing_ok=True)
