"""The engine: applies changes in atomic commits, keeps the number of segments small, answers queries."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from heapq import nlargest
from pathlib import Path
from typing import Any

from whoosh.codec.whoosh3 import W3Segment

from ultracrawl.attributes.schema import SearchAttribute
from ultracrawl.index.engine import Change, Hit, IndexDocument, SearchQuery, SearchResult
from ultracrawl.index.parser import parse_query, parse_sort
from ultracrawl.index.query import FromSource, Node, sought_words
from ultracrawl.index.snippet import Highlighter
from ultracrawl.index.values import attributes_from_json
from ultracrawl.index.whoosh.directory import LOCK_SECONDS, IndexDirectory
from ultracrawl.index.whoosh.evaluation import Evaluation
from ultracrawl.index.whoosh.fast_writer import FastWriter
from ultracrawl.index.whoosh.fields import (
    NO_VALUE,
    document_id,
    field_values,
    new_schema,
    schema_fields,
    value_field,
)
from ultracrawl.index.whoosh.mapped import MappedReader
from ultracrawl.index.whoosh.merging import choose_merge
from ultracrawl.index.whoosh.segments import OpenSegment, Snapshot

Ranked = tuple[float, OpenSegment, int]
"""A match: its score, its segment, its number in it."""

MOST_SEGMENTS = 40
"""With more segments than this, `apply` merges first, for callers that never call `maintain`."""


class WhooshIndex:
    """An index directory in Whoosh's format; several processes may have it open and write in turn."""

    def __init__(
        self, path: Path, attributes: Mapping[str, SearchAttribute], lock_seconds: float = LOCK_SECONDS
    ) -> None:
        self._attributes = dict(attributes)
        self._directory = IndexDirectory(path, lock_seconds)

    def apply(self, changes: Iterable[Change]) -> int:
        """See `IndexEngine.apply`; the postings of the batch are in memory, about 6 bytes for one of text."""
        last = {document_id(change.source, change.url): change for change in changes}
        if not last:
            return 0
        if len(self._directory.snapshot().segments) > MOST_SEGMENTS:
            self.maintain()
        documents = [change for change in last.values() if isinstance(change, IndexDocument)]
        with self._writer() as writer:
            removed = self._remove(writer, last)
            for document in documents:
                writer.add_document(**field_values(document, self._attributes))
            if documents or removed:
                writer.commit()
        return len(documents)

    def search(self, query: SearchQuery) -> SearchResult:
        """See `IndexEngine.search`."""
        node = parse_query(query, self._attributes)
        attribute, descending = parse_sort(query.sort, self._attributes)
        snapshot = self._directory.snapshot()
        with self._directory.errors("read"):
            matches = self._matches(node, snapshot)
            wanted = max(0, query.offset) + max(0, query.limit)
            best = (
                _sorted(matches, attribute, descending)
                if attribute
                else nlargest(wanted, matches, key=_score)
            )
            page = best[max(0, query.offset) : wanted]
            highlighter = Highlighter(sought_words(node))
            return SearchResult(len(matches), tuple(_hit(match, highlighter) for match in page))

    def count(self, source: str = "") -> int:
        """See `IndexEngine.count`."""
        snapshot = self._directory.snapshot()
        if not source:
            return snapshot.living
        with self._directory.errors("read"):
            return len(self._matches(FromSource(source), snapshot))

    def urls(self, source: str = "") -> list[tuple[str, str]]:
        """See `IndexEngine.urls`; read from the terms of the unique field, no document is opened."""
        snapshot = self._directory.snapshot()
        with self._directory.errors("read"):
            keys = (key for segment in snapshot.segments for key in segment.keys(source))
            return sorted((owner, url) for owner, _, url in (key.partition("\n") for key in keys))

    def maintain(self) -> None:
        """Merge one group of small segments if there are too many; returns at once otherwise."""
        segments = [opened.segment for opened in self._directory.snapshot().segments]
        if choose_merge(segments):
            with self._writer() as writer:
                self._merge(writer, choose_merge(writer.segments))

    def optimise(self) -> None:
        """See `IndexEngine.optimise`: afterwards there is one segment without deleted documents."""
        with self._writer() as writer:
            self._merge(writer, writer.segments)

    def close(self) -> None:
        """See `IndexEngine.close`."""
        self._directory.close()

    @contextmanager
    def _writer(self) -> Iterator[FastWriter]:
        """Give a writer while holding the lock; before its commit nothing can change the index."""
        with self._directory.lock(), self._directory.errors("written"), _no_garbage_collection():
            writer = FastWriter(self._directory.open_or_create(new_schema(self._attributes)))
            try:
                for name, field in schema_fields(self._attributes).items():
                    if name not in writer.schema:
                        writer.add_field(name, field)
                yield writer
            finally:
                if not writer.is_closed:
                    writer.abort()

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

    def _merge(self, writer: FastWriter, segments: Sequence[W3Segment]) -> None:
        readers = [MappedReader(writer.storage, writer.schema, segment) for segment in segments]
        try:
            writer.merge_segments(segments, readers)
            writer.commit()
        finally:
            for reader in readers:
                reader.close()

    def _matches(self, node: Node, snapshot: Snapshot) -> list[Ranked]:
        evaluation = Evaluation(snapshot, self._attributes)
        found = ((segment, evaluation.run(node, segment)) for segment in snapshot.segments)
        return [(score, segment, docnum) for segment, scores in found for docnum, score in scores.items()]


def _score(match: Ranked) -> float:
    return match[0]


def _sorted(matches: list[Ranked], attribute: SearchAttribute, descending: bool) -> list[Ranked]:
    """Sort by the first value of the attribute; documents without one come last either way."""
    name = value_field(attribute)
    kind = schema_fields({attribute.name: attribute})[name].column_type
    columns = {segment: segment.column(name, kind) for segment in {segment for _, segment, _ in matches}}
    keyed: list[tuple[Any, Ranked]] = []  # numbers or bytes, alike for all documents
    without = []
    for match in matches:
        column = columns[match[1]]
        key = column[match[2]] if column is not None else NO_VALUE
        if key in (b"", NO_VALUE):
            without.append(match)
        else:
            keyed.append((key, match))
    keyed.sort(key=lambda pair: pair[0], reverse=descending)
    return [match for _, match in keyed] + without


def _hit(match: Ranked, highlighter: Highlighter) -> Hit:
    score, segment, docnum = match
    stored = segment.reader.stored_fields(docnum)
    attributes = attributes_from_json(json.loads(stored["attributes"]))
    snippet = highlighter.snippet(stored["text"])
    return Hit(stored["url"], stored["title"], score, stored["source"], snippet, attributes)


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Keep the collector from walking through millions of postings, none of which can be part of a cycle."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
