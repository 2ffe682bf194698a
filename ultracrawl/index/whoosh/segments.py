"""Open segments, which are reused across commits, and snapshots of the index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import count, takewhile

from whoosh.codec.whoosh3 import W3Segment
from whoosh.columns import Column
from whoosh.fields import Schema
from whoosh.util.numeric import byte_to_length

from ultracrawl.index.query.scoring import length_norm
from ultracrawl.index.whoosh.mapped_reader import MappedReader
from ultracrawl.index.whoosh.pickles import CheckedStorage
from ultracrawl.index.whoosh.postings import (
    Postings,
    TermInfo,
    find_term,
    frequencies_of,
    frequency_of,
    length_bytes,
    read_postings,
    terms_of,
)

NO_POSTINGS = Postings((), (), None)
_NUMBERS = count()


class OpenSegment:
    """One segment, opened for queries; `deleted` are its deleted documents."""

    def __init__(self, storage: CheckedStorage, schema: Schema, segment: W3Segment) -> None:
        self.name: str = segment.segment_id()
        """The name of the segment, which no other one ever has."""
        self.reader = MappedReader(storage, schema, segment)
        self.schema = schema
        self._columns: dict[str, Sequence[object] | None] = {}
        self.update(segment)

    def update(self, segment: W3Segment) -> None:
        """Apply the deletions of a later commit."""
        self.segment = segment
        self.deleted = frozenset(segment.deleted_docs())
        self.documents: int = segment.doc_count_all()
        self._lengths: dict[str, bytes] = {}
        self._languages: dict[str, frozenset[int]] = {}
        self.field_lengths: dict[str, int] = dict(segment._fieldlengths)

    def postings(self, fieldname: str, term: str | bytes) -> Postings:
        """Return the postings of a term, deleted documents included."""
        info = find_term(
            self.reader, fieldname, term if isinstance(term, bytes) else term.encode(errors="replace")
        )
        return NO_POSTINGS if info is None else read_postings(self.reader, info)

    def frequency(self, fieldname: str, term: str) -> int:
        """Return the document frequency of a term."""
        return frequency_of(self.reader, fieldname, term.encode(errors="replace"))

    def terms(self, fieldname: str, start: bytes = b"") -> Iterator[tuple[bytes, TermInfo]]:
        """Yield the terms of a field from `start` on, in order."""
        if fieldname not in self.reader._terms._fieldmap:
            return
        for name, term, info in terms_of(self.reader, fieldname, start):
            if name != fieldname:
                return
            yield term, info

    def frequencies(self, fieldname: str, prefix: str) -> Iterator[tuple[str, int]]:
        """Yield the terms of a field with a prefix in order, each with its document frequency."""
        found = frequencies_of(self.reader, fieldname, prefix.encode(errors="replace"))
        return ((term.decode(errors="replace"), documents) for term, documents in found)

    def with_prefix(self, fieldname: str, prefix: str) -> Iterator[Postings]:
        """Yield the postings of all terms with this prefix, in order."""
        start = prefix.encode(errors="replace")
        found = takewhile(lambda item: item[0].startswith(start), self.terms(fieldname, start))
        return (read_postings(self.reader, info) for _, info in found)

    def between(self, fieldname: str, start: bytes | None, end: bytes | None) -> Iterator[Postings]:
        """Yield the postings of terms from `start` to below `end`; None is an open end."""
        found = takewhile(lambda item: end is None or item[0] < end, self.terms(fieldname, start or b""))
        return (read_postings(self.reader, info) for _, info in found)

    @cached_property
    def sources(self) -> list[str]:
        """The sources of the documents of the segment."""
        return [term.decode() for term, _ in self.terms("source")]

    def count(self, source: str) -> int:
        """Return the number of living documents of a source."""
        return len(set(self.postings("source", source).ids) - self.deleted)

    def in_language(self, language: str) -> frozenset[int]:
        """Return the documents whose words were stemmed by the rules of this language."""
        if language not in self._languages:
            self._languages[language] = frozenset(self.postings("language", language).ids)
        return self._languages[language]

    def lengths(self, fieldname: str) -> bytes:
        """Return the field length of each document as one byte."""
        if fieldname not in self._lengths:
            self._lengths[fieldname] = length_bytes(self.reader, fieldname)
        return self._lengths[fieldname]

    def column(self, fieldname: str, column: Column) -> Sequence[object] | None:
        """Return the column of a field, or None if no document of this segment has a value.

        It is opened once, which takes time with each document of the segment.
        """
        if fieldname not in self._columns:
            documents = self.reader._perdoc
            has_values = documents.has_column(fieldname)
            self._columns[fieldname] = documents.column_reader(fieldname, column) if has_values else None
        return self._columns[fieldname]

    def find(self, key: str) -> list[int]:
        """Return the living documents with this unique key; at most one in an index written by this program."""
        return [docnum for docnum in self.postings("id", key).ids if docnum not in self.deleted]

    def keys(self, source: str) -> Iterator[str]:
        """Yield the unique keys of the living documents, of one source or of all."""
        start = f"{source}\n".encode(errors="replace") if source else b""
        for term, info in takewhile(lambda item: item[0].startswith(start), self.terms("id", start)):
            if not self.deleted.issuperset(read_postings(self.reader, info).ids):
                yield term.decode()


class Snapshot:
    """All segments of one generation of the index, and its global statistics for scoring."""

    def __init__(self, generation: int, schema: Schema, segments: Sequence[OpenSegment]) -> None:
        self.number = next(_NUMBERS)
        """A number that no other snapshot of this process has."""
        self.generation = generation
        self.schema = schema
        self.segments = segments
        self._length_norms: dict[str, list[float]] = {}

    @cached_property
    def documents(self) -> int:
        """The number of documents, including deleted ones that are not merged away."""
        return sum(segment.documents for segment in self.segments)

    @cached_property
    def living(self) -> int:
        """The number of living documents."""
        return sum(segment.documents - len(segment.deleted) for segment in self.segments)

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The sources of living documents, sorted; a single one is not checked for living documents."""
        names = sorted({name for segment in self.segments for name in segment.sources})
        if len(names) > 1:
            names = [name for name in names if any(segment.count(name) for segment in self.segments)]
        return tuple(names)

    @cached_property
    def languages(self) -> frozenset[str]:
        """The languages by whose rules words of documents were stemmed."""
        return frozenset(term.decode() for segment in self.segments for term, _ in segment.terms("language"))

    def frequency(self, fieldname: str, term: str) -> int:
        """Return the document frequency of a term."""
        return sum(segment.frequency(fieldname, term) for segment in self.segments)

    def length_norms(self, fieldname: str) -> list[float]:
        """Return the length norm of BM25 for each of the 256 length bytes of a field."""
        if fieldname not in self._length_norms:
            total = sum(segment.field_lengths.get(fieldname, 0) for segment in self.segments)
            average = total / max(1, self.documents)
            self._length_norms[fieldname] = [
                length_norm(byte_to_length(byte), average) for byte in range(256)
            ]
        return self._length_norms[fieldname]
