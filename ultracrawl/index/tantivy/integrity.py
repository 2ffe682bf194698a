"""What a tantivy index holds, and whether its files are as they were written."""

from __future__ import annotations

import json
import struct
import zlib
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

_HEAP = 15_000_000
"""The least that tantivy takes for postings in memory."""
_MAGIC = 1337
_PARTS = ("fast", "fieldnorm", "idx", "pos", "store", "term")
"""The files of every segment, by their endings."""


def stored_documents(generation: Generation) -> Iterator[IndexDocument]:
    """Yield all documents; those that cannot be read are left out."""
    searcher = generation.index.searcher()
    found = searcher.search(Query.all_query(), limit=max(1, searcher.num_docs), count=False)
    for _, address in found.hits:
        try:
            yield stored_document(searcher.doc(address))
        except BaseException as error:
            if not (isinstance(error, (ValueError, TypeError, OSError)) or is_panic(error)):
                raise


def index_facts(generation: Generation) -> IndexFacts:
    """Return what the current state of the index holds."""
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
    """Return how many documents of each segment are alive and deleted."""
    deleted = [(one.get("deletes") or {}).get("num_deleted_docs", 0) for one in _segments(generation.path)]
    every = [one["max_doc"] for one in _segments(generation.path)]
    return [SegmentCounts(number - gone, gone) for number, gone in zip(every, deleted, strict=True)]


def stored_in_segment(generation: Generation, at: int, most: int) -> list[IndexDocument]:
    """Return so many documents of one segment; raises what damaged files raise.

    Equal hits come in the order of segments and documents.
    """
    searcher, before = (
        generation.index.searcher(),
        sum(room.living for room in segment_counts(generation)[:at]),
    )
    found = searcher.search(Query.all_query(), limit=most, offset=before, count=False).hits
    return [stored_document(searcher.doc(address)) for _, address in found if address.segment_ord == at]


def find_damage(generation: Generation) -> list[str]:
    """Compare every file with its checksum, read every document, and return what is wrong."""
    wrong = [what for path in _files(generation.path) if (what := _wrong_in_file(path))]
    wrong += (f"{name} is gone" for name in _gone(generation.path))
    searcher = generation.index.searcher()
    documents = list(stored_documents(generation))
    if len(documents) < searcher.num_docs:
        wrong.append(f"{searcher.num_docs - len(documents)} documents cannot be read")
    keys = Counter((document.source, document.url) for document in documents)
    wrong += (f"{url} is in the index {count} times" for (_, url), count in keys.items() if count > 1)
    return wrong or _wrong_in_writing(generation, documents)


def _wrong_in_writing(generation: Generation, documents: list[IndexDocument]) -> list[str]:
    """Add a document to an empty index with the same fields, in memory, and return what is in the way."""
    try:
        copy = with_tokenizer(Index(generation.index.schema))
        writer = copy.writer(_HEAP, 1)
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
        return 0  # removed since it was listed, by a merge in another process


def _files(folder: Path) -> list[Path]:
    """Return the files of the segments in force; others are left from a commit that did not end."""
    segments = {one["segment_id"].replace("-", "") for one in _segments(folder)}
    return sorted(path for path in folder.iterdir() if path.name.partition(".")[0] in segments)


def _gone(folder: Path) -> list[str]:
    """Return the names of files that segments in force should have and have not."""
    segments = (one["segment_id"].replace("-", "") for one in _segments(folder))
    names = (f"{segment}.{part}" for segment in segments for part in _PARTS)
    return [name for name in names if not (folder / name).exists()]


def _segments(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "meta.json").read_text())["segments"]
    return found


def _wrong_in_file(path: Path) -> str:
    """Return what is wrong with a file; tantivy ends each with its CRC-32, the length of that, and a mark."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return ""  # removed since it was listed; what should be there and is not is looked for by name
    try:
        size, magic = struct.unpack("<II", data[-8:])
        footer = json.loads(data[-8 - size : -8])
        right = magic == _MAGIC and footer["crc"] == zlib.crc32(data[: -8 - size])
    except (ValueError, KeyError, TypeError, struct.error):
        right = False
    return "" if right else f"{path.name} is damaged"
