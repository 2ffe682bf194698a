"""Statistics of an index directory, and verification of its segments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from whoosh.formats import Positions

from ultracrawl.errors import IndexDamagedError
from ultracrawl.index.engine import IndexFacts
from ultracrawl.index.reclaiming import reclaim_count
from ultracrawl.index.whoosh.directory import IndexDirectory
from ultracrawl.index.whoosh.fields import schema_version
from ultracrawl.index.whoosh.postings import DAMAGE, TermInfo, decode_positions, read_postings
from ultracrawl.index.whoosh.segments import OpenSegment, Snapshot
from ultracrawl.index.whoosh.stored_documents import stored_document
from ultracrawl.system.checksums import is_as_written
from ultracrawl.system.nouns import counted


def index_facts(snapshot: Snapshot, path: Path) -> IndexFacts:
    """Return the statistics of a snapshot, with the size of the directory in bytes."""
    sources = Counter(key.partition("\n")[0] for segment in snapshot.segments for key in segment.keys(""))
    size = sum(file.stat().st_size for file in path.iterdir() if file.is_file()) if path.is_dir() else 0
    deleted = sum(len(segment.deleted) for segment in snapshot.segments)
    return IndexFacts(
        "whoosh", snapshot.living, deleted, len(snapshot.segments), size, schema_version(snapshot.schema),
        dict(sorted(sources.items())), reclaim_count(path),
    )  # fmt: skip


def find_damage(directory: IndexDirectory) -> list[str]:
    """Verify all segments and return the problems. Raises `IndexStoreError` if the directory may not be read."""
    try:
        segments, lost = directory.segments()
    except IndexDamagedError as error:
        return [error.problem]
    problems = damaged_files(directory, 0)
    keys: Counter[str] = Counter()
    for segment in segments:
        name = segment.segment.segment_id()
        try:
            keys.update(segment.keys(""))
            problems += (f"segment {name}: {what}" for what in _check_segment(segment))
        except DAMAGE as error:
            problems.append(f"segment {name} cannot be read to its end: {_line(error)}")
        finally:
            segment.reader.close()
    if lost:
        problems.append(f"{lost} of {lost + len(segments)} segments cannot be opened")
    problems += (f"{key.partition(chr(10))[2]} is in the index {n} times" for key, n in keys.items() if n > 1)
    return problems


def damaged_files(directory: IndexDirectory, since: int) -> list[str]:
    """Verify the checksums of the segments that were written since then, in ns, and say what is wrong.

    Those of earlier versions have none. Raises `IndexStoreError` if the directory may not be read.
    """
    problems = []
    for path in directory.segment_files():
        with directory.errors("read"), suppress(FileNotFoundError):  # another process has merged it meanwhile
            if path.stat().st_mtime_ns >= since and not is_as_written(path):
                problems.append(f"{path.name} is damaged")
    return problems


def _check_segment(segment: OpenSegment) -> Iterator[str]:
    unreadable = 0
    for docnum in range(segment.documents):
        if docnum not in segment.deleted:
            try:
                stored_document(segment, docnum)
            except DAMAGE:
                unreadable += 1
    if unreadable:
        yield f"{counted(unreadable, 'document')} cannot be read"
    for fieldname in segment.reader._terms._fieldmap:
        problems = sum(not _is_sound(segment, fieldname, info) for _, info in segment.terms(fieldname))
        if problems:
            yield f"the occurrences of {problems} words in the field {fieldname} cannot be read"


def _is_sound(segment: OpenSegment, fieldname: str, info: TermInfo) -> bool:
    """Return whether the postings of a term can be read and belong to documents of the segment."""
    try:
        ids, weights, values = read_postings(segment.reader, info)
        if type(segment.schema[fieldname].format) is Positions:
            for value in values or ():
                decode_positions(value)
    except DAMAGE:
        return False
    return 0 < len(ids) == len(weights) == info.documents and 0 <= ids[0] <= ids[-1] < segment.documents


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
