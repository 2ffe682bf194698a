"""The merge policy, and merging by copying: nothing is analysed again, and memory holds one term at a time."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from whoosh.codec.whoosh3 import LENGTHS_COLUMN, W3PerDocWriter, W3Segment
from whoosh.columns import Column
from whoosh.fields import Schema
from whoosh.reading import SegmentReader
from whoosh.util.numeric import byte_to_length

from ultracrawl.index.whoosh.postings import length_bytes, read_postings, terms_of
from ultracrawl.index.whoosh.writer.term_file import PostingList

TermStream = Iterator[tuple[str, bytes, PostingList]]
"""Field name, term and postings, in the order of the term file."""

MERGE_FACTOR = 10
"""Number of segments of one size class that are merged into one of the next class."""
SMALLEST_CLASS_DOCUMENTS = 2_000
"""Segments with up to this number of documents are in the smallest class, which is merged most often."""
MAX_MERGED_DOCUMENTS = 60_000
"""Larger segments are not merged, so that no merge takes long; `optimise` merges even these."""
MAX_DELETED_SHARE = 0.5

_LENGTH_COLUMN = re.compile(r"_(.+)_len")


def segments_to_merge(segments: Sequence[W3Segment]) -> list[W3Segment]:
    """Return the segments to merge next, in their order, or none.

    Segments are classified by their living documents, each class ten times as large as the one before, so that every
    document is copied about once for each factor of ten that the index grows. A segment of which most documents are
    deleted is rewritten by itself.
    """
    for segment in segments:
        if segment.deleted_count() > MAX_DELETED_SHARE * segment.doc_count_all():
            return [segment]
    classes: dict[int, list[W3Segment]] = {}
    for segment in segments:
        classes.setdefault(_size_class(segment.doc_count()), []).append(segment)
    for members in (classes[size] for size in sorted(classes)):
        joined = members[:MERGE_FACTOR]
        if len(joined) == MERGE_FACTOR and sum(s.doc_count() for s in joined) <= MAX_MERGED_DOCUMENTS:
            return joined
    return []


def _size_class(documents: int) -> int:
    size = 0
    while documents > SMALLEST_CLASS_DOCUMENTS:
        documents //= MERGE_FACTOR
        size += 1
    return size


def living_documents(reader: SegmentReader) -> list[int]:
    """Return the numbers of the living documents of a segment."""
    deleted = set(reader._perdoc.deleted_docs())
    return [docnum for docnum in range(reader.doc_count_all()) if docnum not in deleted]


def copy_documents(
    reader: SegmentReader, schema: Schema, target: W3PerDocWriter, first: int, living: Sequence[int]
) -> None:
    """Append lengths and columns of the living documents, numbered from `first`."""
    for name in _column_names(reader):
        if (column := _column(name, schema)) is not None:
            if not target._has_column(name):
                target._create_column(name, column)
            source = reader._perdoc.column_reader(name, column)
            add = target._get_column(name).add
            for new, old in enumerate(living, first):
                add(new, source[old])
    target._doccount += len(living)
    for fieldname, length in _field_lengths(reader, schema, living):
        target._fieldlengths[fieldname] += length


def segment_terms(reader: SegmentReader, schema: Schema, first: int, living: Sequence[int]) -> TermStream:
    """Yield the terms of a segment with renumbered documents and without deleted ones."""
    numbers = {old: new for new, old in enumerate(living, first)}
    has_no_deletions = len(living) == reader.doc_count_all()
    for fieldname, term, info in terms_of(reader):
        if fieldname not in schema:
            continue
        ids, weights, values = read_postings(reader, info)
        postings: PostingList = [b""] * (3 * len(ids))
        postings[0::3] = (
            [docnum + first for docnum in ids] if has_no_deletions else [numbers.get(n, -1) for n in ids]
        )
        postings[1::3] = weights
        postings[2::3] = values if values else [b""] * len(ids)
        if not has_no_deletions:
            postings = _without_deleted(postings)
        if postings:
            yield fieldname, term, postings


def merged_terms(streams: Sequence[TermStream]) -> TermStream:
    """Merge the streams; postings of a term are concatenated in the order of the streams."""
    if len(streams) == 1:
        yield from streams[0]
        return
    merged = heapq.merge(*streams, key=_term_key)
    for (fieldname, term), group in groupby(merged, key=_term_key):
        together = [postings for _, _, postings in group]
        yield fieldname, term, together[0] if len(together) == 1 else _joined(together)


def _term_key(item: tuple[str, bytes, PostingList]) -> tuple[str, bytes]:
    return item[0], item[1]


def _joined(lists: Iterable[PostingList]) -> PostingList:
    return [value for postings in lists for value in postings]


def _without_deleted(postings: PostingList) -> PostingList:
    kept: PostingList = []
    for at in range(0, len(postings), 3):
        if postings[at] != -1:
            kept += postings[at : at + 3]
    return kept


def _column_names(reader: SegmentReader) -> list[str]:
    """Return the columns of the segment, from the names of its files."""
    segment = reader.segment()
    storage = reader._storage.a if segment.is_compound() else reader._storage
    start = f"{segment.segment_id()}."
    names = [name for name in storage.list() if name.startswith(start) and name.endswith(".col")]
    return sorted(name[len(start) : -len(".col")] for name in names)


def _column(name: str, schema: Schema) -> Column | None:
    """Return the column type of a column; None for a field that the index no longer has."""
    length_of = _LENGTH_COLUMN.fullmatch(name)
    if length_of:
        return LENGTHS_COLUMN if length_of.group(1) in schema else None
    return schema[name].column_type if name in schema else None


def _field_lengths(reader: SegmentReader, schema: Schema, living: Sequence[int]) -> Iterator[tuple[str, int]]:
    has_no_deletions = len(living) == reader.doc_count_all()
    for fieldname, length in reader.segment()._fieldlengths.items():
        if fieldname in schema:
            exact = (
                length
                if has_no_deletions
                else sum(map(byte_to_length, living_lengths(reader, fieldname, living)))
            )
            yield fieldname, exact


def living_lengths(reader: SegmentReader, fieldname: str, living: Sequence[int]) -> bytes:
    """Return the length byte of the field in each of these documents."""
    data = length_bytes(reader, fieldname)
    return data if len(living) == len(data) else bytes([data[docnum] for docnum in living])
