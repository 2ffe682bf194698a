"""Statistics of a tantivy index, and verification of its files."""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tantivy import Index, Query

from ultracrawl.errors import is_panic
from ultracrawl.index.engine import IndexDocument, IndexFacts
from ultracrawl.index.reclaiming import SegmentCounts, reclaim_count
from ultracrawl.index.tantivy.fields import new_document, stored_document
from ultracrawl.index.tantivy.generations import Generation, with_tokenizer
from ultracrawl.system.checksums import crc32_of
from ultracrawl.system.nouns import counted

_MIN_HEAP_BYTES = 15_000_000
"""The smallest writer heap that tantivy accepts."""
_MAGIC = 1337
_LONGEST_FOOTER = 4096
"""In bytes; tantivy's have about a hundred."""
_SEGMENT_SUFFIXES = ("fast", "fieldnorm", "idx", "pos", "store", "term")
"""Suffixes of the files of every segment."""


def stored_documents(generation: Generation) -> Iterator[IndexDocument]:
    """Yield all documents; unreadable ones are skipped."""
    searcher = generation.index.searcher()
    found = searcher.search(Query.all_query(), limit=max(1, searcher.num_docs), count=False)
    for _, address in found.hits:
        try:
            yield stored_document(searcher.doc(address))
        except BaseException as error:
            if not (isinstance(error, (ValueError, TypeError, OSError)) or is_panic(error)):
                raise


def index_facts(generation: Generation) -> IndexFacts:
    """Return the statistics of the current commit."""
    searcher = generation.index.searcher()
    segments = segment_counts(generation)
    deleted = sum(segment.deleted for segment in segments)
    buckets = searcher.aggregate(Query.all_query(), {"s": {"terms": {"field": "source", "size": 65_000}}})
    sources = {str(bucket["key"]): int(bucket["doc_count"]) for bucket in buckets["s"]["buckets"]}
    size = sum(map(_size, generation.path.iterdir()))
    return IndexFacts(
        "tantivy", searcher.num_docs, deleted, len(segments), size, generation.schema,
        dict(sorted(sources.items())), reclaim_count(generation.path.parent),
    )  # fmt: skip


def segment_counts(generation: Generation) -> list[SegmentCounts]:
    """Return the numbers of living and deleted documents of each segment."""
    deleted = [
        (segment.get("deletes") or {}).get("num_deleted_docs", 0) for segment in _segments(generation.path)
    ]
    every = [segment["max_doc"] for segment in _segments(generation.path)]
    return [SegmentCounts(number - gone, gone) for number, gone in zip(every, deleted, strict=True)]


def stored_in_segment(generation: Generation, at: int, most: int) -> list[IndexDocument]:
    """Return up to `most` documents of one segment; raises the errors of damaged files.

    Hits with equal scores come in the order of segments and documents.
    """
    searcher, before = (
        generation.index.searcher(),
        sum(room.living for room in segment_counts(generation)[:at]),
    )
    found = searcher.search(Query.all_query(), limit=most, offset=before, count=False).hits
    return [stored_document(searcher.doc(address)) for _, address in found if address.segment_ord == at]


def find_damage(generation: Generation) -> list[str]:
    """Verify the checksum of every file, read every document, and return the problems."""
    problems = damaged_files(generation, 0)
    problems += (f"{name} is gone" for name in _missing_files(generation.path))
    searcher = generation.index.searcher()
    documents = list(stored_documents(generation))
    if len(documents) < searcher.num_docs:
        problems.append(f"{counted(searcher.num_docs - len(documents), 'document')} cannot be read")
    keys = Counter((document.source, document.url) for document in documents)
    problems += (f"{url} is in the index {count} times" for (_, url), count in keys.items() if count > 1)
    return problems or _check_writing(generation, documents)


def damaged_files(generation: Generation, since: int) -> list[str]:
    """Verify the checksums of the files that were written since then, in ns, and say what is wrong."""
    return [problem for path in _files(generation.path) if (problem := _check_file(path, since))]


def _check_writing(generation: Generation, documents: list[IndexDocument]) -> list[str]:
    """Add a document to an empty index with the same schema, in memory, and return the problems."""
    try:
        copy = with_tokenizer(Index(generation.index.schema))
        writer = copy.writer(_MIN_HEAP_BYTES, 1)
        for document in documents[:1]:
            writer.add_document(new_document(document, generation.attributes))
        writer.commit()
        writer.wait_merging_threads()
    except (ValueError, KeyError, TypeError, OSError) as error:
        return [f"no document can be added: {' '.join(str(error).split())[:200]}"]
    return []


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0  # removed meanwhile by a merge of another process


def _files(folder: Path) -> list[Path]:
    """Return the files of committed segments; others are left from an interrupted commit."""
    segments = {segment["segment_id"].replace("-", "") for segment in _segments(folder)}
    return sorted(path for path in folder.iterdir() if path.name.partition(".")[0] in segments)


def _missing_files(folder: Path) -> list[str]:
    """Return the names of missing files of committed segments."""
    segments = (segment["segment_id"].replace("-", "") for segment in _segments(folder))
    names = (f"{segment}.{part}" for segment in segments for part in _SEGMENT_SUFFIXES)
    return [name for name in names if not (folder / name).exists()]


def _segments(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "meta.json").read_text())["segments"]
    return found


def _check_file(path: Path, since: int) -> str:
    """Return the damage of a file; each ends with its CRC-32 as JSON, the length of that, and a magic number."""
    try:
        facts = path.stat()
        if facts.st_mtime_ns < since:
            return ""
        with path.open("rb") as stream:
            stream.seek(max(0, facts.st_size - _LONGEST_FOOTER))
            end = stream.read()
            size, magic = struct.unpack("<II", end[-8:])
            footer = json.loads(end[-8 - size : -8])
            is_sound = magic == _MAGIC and footer["crc"] == crc32_of(stream, facts.st_size - size - 8)
    except FileNotFoundError:
        return ""  # removed meanwhile; `_missing_files` finds files that should exist
    except (ValueError, KeyError, TypeError, struct.error):
        is_sound = False
    return "" if is_sound else f"{path.name} is damaged"
