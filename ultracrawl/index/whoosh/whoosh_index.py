"""The engine: applies changes in atomic commits, merges segments, runs searches."""

from __future__ import annotations

import logging
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from whoosh.codec.whoosh3 import W3Segment

from ultracrawl.errors import IndexLockedError, IndexStoreError
from ultracrawl.index.changes import batches, last_changes, with_anchors
from ultracrawl.index.engine import Change, IndexDocument, IndexFacts, NewAnchors, SearchQuery, SearchResult
from ultracrawl.index.locking import LOCK_SECONDS
from ultracrawl.index.reclaiming import SegmentCounts, note_reclaimed, segment_to_reclaim
from ultracrawl.index.stored_fields import SCHEMA_VERSION, UPGRADE_NOTICE, document_id
from ultracrawl.index.whoosh.directory import IndexDirectory, StoredIndex
from ultracrawl.index.whoosh.fields import field_values, new_schema, schema_fields, schema_version
from ultracrawl.index.whoosh.integrity import damaged_files, find_damage, index_facts
from ultracrawl.index.whoosh.stored_documents import documents_of, stored_documents
from ultracrawl.index.whoosh.writer import MAX_MERGED_DOCUMENTS, FastWriter, segments_to_merge
from ultracrawl.rules.attributes.schema import SearchAttribute
from ultracrawl.system.gc_tuning import suspended_gc

logger = logging.getLogger(__name__)

MAX_SEGMENTS = 40
"""Number of segments above which `apply` merges first, for callers that never call `maintain`."""


class WhooshIndex:
    """An index in Whoosh's format; several processes may have it open and write in turn."""

    def __init__(
        self, path: Path, attributes: Mapping[str, SearchAttribute], lock_seconds: float = LOCK_SECONDS
    ) -> None:
        self._attributes = dict(attributes)
        self._directory = IndexDirectory(path, lock_seconds)

    def apply(self, changes: Iterable[Change]) -> int:
        """See `IndexEngine.apply`; the postings of the batch are in memory, about 6 bytes for each byte of text."""
        last = {document_id(*key): change for key, change in last_changes(changes).items()}
        if not last:
            return 0
        if len(self._directory.snapshot().segments) > MAX_SEGMENTS:
            self.maintain()
        documents = [change for change in last.values() if isinstance(change, IndexDocument)]
        with self._writer() as writer:
            with_new_anchors = self._documents_with_new_anchors(last)
            replaced = {key for key, change in last.items() if not isinstance(change, NewAnchors)}
            removed = self._remove(writer, replaced | with_new_anchors.keys())
            for document in chain(documents, with_new_anchors.values()):
                writer.add_document(**field_values(document, self._attributes))
            if documents or removed:
                writer.commit()
        return len(documents)

    def search(self, query: SearchQuery) -> SearchResult:
        """See `IndexEngine.search`."""
        from ultracrawl.index.whoosh.index_searcher import IndexSearcher  # noqa: PLC0415 - slow, and writers need none

        snapshot = self._directory.snapshot()
        with self._directory.errors("read"):
            return IndexSearcher(snapshot, self._attributes, query).run()

    def count(self, source: str = "") -> int:
        """See `IndexEngine.count`."""
        snapshot = self._directory.snapshot()
        if not source:
            return snapshot.living
        with self._directory.errors("read"):
            return sum(segment.count(source) for segment in snapshot.segments)

    def commit_id(self) -> Hashable:
        """See `HasCommits.commit_id`."""
        return self._directory.commit_id()

    def sources(self) -> tuple[str, ...]:
        """See `IndexEngine.sources`."""
        with self._directory.errors("read"):
            return self._directory.snapshot().sources

    def urls(self, source: str = "") -> Iterator[tuple[str, str]]:
        """See `IndexEngine.urls`; read from the terms of the unique field, without opening documents."""
        snapshot = self._directory.snapshot()
        with self._directory.errors("read"):
            for segment in snapshot.segments:
                for key in segment.keys(source):
                    owner, _, url = key.partition("\n")
                    yield owner, url

    def maintain(self) -> None:
        """Merge one group of small segments if there are too many, otherwise free the space of deleted documents."""
        segments = [opened.segment for opened in self._directory.snapshot().segments]
        if segments_to_merge(segments):
            with self._writer() as writer:
                writer.commit_merged(segments_to_merge(writer.segments))
        else:
            self.reclaim()

    def reclaim(self) -> bool:
        """See `IndexEngine.reclaim`: one segment is rewritten."""
        if _to_reclaim([opened.segment for opened in self._directory.snapshot().segments]) is None:
            return False
        with suppress(IndexLockedError), self._writer(0.0) as writer:
            segment = _to_reclaim(writer.segments)
            if segment is not None:
                writer.commit_merged([segment])
                note_reclaimed(self._directory.path)
            return segment is not None
        return False

    def optimise(self) -> None:
        """See `IndexEngine.optimise`: the result is one segment without deleted documents."""
        with self._writer() as writer:
            writer.commit_merged(writer.segments)

    def documents(self) -> Iterator[IndexDocument]:
        """See `IndexEngine.documents`."""
        return stored_documents(self._directory.segments().segments)

    def facts(self) -> IndexFacts:
        """See `IndexEngine.facts`."""
        snapshot = self._directory.snapshot()
        with self._directory.errors("read"):
            return index_facts(snapshot, self._directory.path)

    def check(self) -> list[str]:
        """See `IndexEngine.check`."""
        return find_damage(self._directory) or self._check_writing()

    def damaged_files(self, since: int) -> list[str]:
        """See `HasFiles.damaged_files`."""
        return damaged_files(self._directory, since)

    def rebuild(self) -> int:
        """See `IndexEngine.rebuild`; meanwhile the lock is held, and the old index is searched."""
        with self._directory.lock():
            return self._rebuild()

    def bring_up_to_date(self) -> bool:
        """See `IndexEngine.bring_up_to_date`."""
        if not self._is_outdated():
            return False
        with self._directory.lock():
            return self._rebuild_if_outdated()

    def refuse_code(self) -> None:
        """See `RefusesCode.refuse_code`."""
        self._directory.refuse_code()

    def clear(self) -> None:
        """See `IndexEngine.clear`."""
        with self._directory.lock():
            self._directory.clear(new_schema(self._attributes))

    def close(self) -> None:
        """See `IndexEngine.close`."""
        self._directory.close()

    def _check_writing(self) -> list[str]:
        """Add a document to an empty index with the same schema, and return the problems."""
        document = next(self.documents(), None)
        if document is None:
            return []
        schema = self._directory.snapshot().schema
        try:
            with TemporaryDirectory() as folder, self._directory.errors("written"):
                copy = IndexDirectory(Path(folder), 0).open_or_create(schema)
                with self._open_writer(copy) as writer:
                    writer.add_document(**field_values(document, self._attributes))
                    writer.commit()
        except IndexStoreError as error:
            return [error.problem]
        return []

    def _rebuild(self) -> int:
        staging = self._directory.staging()
        fresh = WhooshIndex(staging, self._attributes)
        count = 0
        for batch in batches(self.documents()):
            count += fresh.apply(batch)
            fresh.maintain()
        fresh.close()
        self._directory.adopt(staging, new_schema(self._attributes))
        return count

    def _rebuild_if_outdated(self) -> bool:
        """Rebuild an index of another schema version, unless another process did meanwhile; the lock is held."""
        if outdated := self._is_outdated():
            self._rebuild()
        return outdated

    def _is_outdated(self) -> bool:
        """Whether the index has another schema version."""
        return schema_version(self._directory.snapshot().schema) not in (0, SCHEMA_VERSION)

    @contextmanager
    def _writer(self, lock_seconds: float | None = None) -> Iterator[FastWriter]:
        """Yield a writer while holding the lock; nothing changes the index before its commit."""
        # No posting can be part of a cycle: the collector would scan millions for nothing.
        with self._directory.lock(lock_seconds), self._directory.errors("written"), suspended_gc():
            if self._rebuild_if_outdated():
                logger.warning(UPGRADE_NOTICE, self._directory.path)
            with self._open_writer(self._directory.open_or_create(new_schema(self._attributes))) as writer:
                yield writer

    @contextmanager
    def _open_writer(self, index: StoredIndex) -> Iterator[FastWriter]:
        """Yield a writer with a field for every attribute; uncommitted changes are dropped."""
        writer = FastWriter(index)
        try:
            for name, field in schema_fields(self._attributes).items():
                if name not in writer.schema:
                    writer.add_field(name, field)
            yield writer
        finally:
            if not writer.is_closed:
                writer.abort()

    def _documents_with_new_anchors(self, last: Mapping[str, Change]) -> dict[str, IndexDocument]:
        """Return the stored documents, by key, whose anchor texts change."""
        wanted = {key: change for key, change in last.items() if isinstance(change, NewAnchors)}
        made: dict[str, IndexDocument] = {}
        for segment in self._directory.snapshot().segments if wanted else ():
            docnums = [docnum for key in wanted for docnum in segment.find(key)]
            for document in documents_of(segment, docnums):
                key = document_id(document.source, document.url)
                if (changed := with_anchors(document, wanted[key])) != document:
                    made[key] = changed
        return made

    def _remove(self, writer: FastWriter, keys: Iterable[str]) -> int:
        """Mark the documents with these keys as deleted; they stay on disk until their segment is merged."""
        removed = 0
        opened = {found.segment.segment_id(): found for found in self._directory.snapshot().segments}
        for segment in writer.segments:
            find = opened[segment.segment_id()].find
            for key in keys:
                for docnum in find(key):
                    segment.delete_document(docnum)
                    removed += 1
        return removed


def _to_reclaim(segments: Sequence[W3Segment]) -> W3Segment | None:
    """Return the segment to rewrite without its deleted documents, if that is due."""
    segment_counts = [SegmentCounts(segment.doc_count(), segment.deleted_count()) for segment in segments]
    at = segment_to_reclaim(segment_counts, MAX_MERGED_DOCUMENTS)
    return None if at is None else segments[at]
