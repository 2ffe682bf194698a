"""Delivers a cache segment to a destination, and defines the reports about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ultracrawl.dataclass import dataclass
from ultracrawl.index.changes import batches, with_anchors
from ultracrawl.index.destinations import Batch, Destination
from ultracrawl.index.engine import Change, IndexDocument, NewAnchors
from ultracrawl.index.values import change_from_line
from ultracrawl.index.writing.cache import folder_of, read_segment, version_of
from ultracrawl.index.writing.lease_note import noted_lease

_END_OF_ANCHORS = b"]]\n"
"""End of lines with anchor texts, and of few others."""


@dataclass(frozen=True, slots=True)
class Committed:
    """All changes of the segment are committed; `added` counts documents."""

    path: Path
    added: int
    seconds: float
    remarks: tuple[str, ...] = ()
    """Remarks about the index, a sentence each."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The segment was not (wholly) applied; it is still there and may be submitted again."""

    path: Path
    reason: str


Report = Committed | Failed


def deliver_segment(destination: Destination, path: Path) -> int:
    """Deliver a cache segment in as many batches as necessary, and return the number of documents added.

    After an interruption it can be delivered again from the start: the batches and their keys are the same. Raises
    `UltracrawlError`.
    """
    added, segment, lease = 0, _segment_id(path), noted_lease(folder_of(path))
    for number, changes in enumerate(batches(_changes_with_anchors(path)), 1):
        batch = Batch(f"{segment}-{number}", changes, version_of(path, number), lease)
        added += destination.deliver(batch)
        changes.clear()  # so that two batches are never in memory at once
    return added


def _segment_id(path: Path) -> str:
    """Return an identifier of a segment; numbers are used again when no segments are left."""
    try:
        return f"{path.stem}-{path.stat().st_mtime_ns}"
    except OSError:
        return path.stem  # reading it reports the error


def _changes_with_anchors(path: Path) -> Iterator[Change]:
    """Yield the changes of a segment; documents get the anchor texts that follow them in it, in later commits too.

    So no document is indexed twice because its anchor texts arrived when the segment was sealed.
    """
    last_anchors, merged = _last_anchors(path), set[tuple[str, str]]()
    for number, (_, change) in enumerate(read_segment(path), 1):
        key = change.source, change.url
        later, line = last_anchors.get(key, (0, b""))
        if isinstance(change, IndexDocument) and later > number:
            _, texts = change_from_line(line)
            assert isinstance(texts, NewAnchors)
            merged.add(key)
            yield with_anchors(change, texts)
        elif not (isinstance(change, NewAnchors) and key in merged):
            yield change


def _last_anchors(path: Path) -> dict[tuple[str, str], tuple[int, bytes]]:
    """Return line number and line of the last anchor texts of each document; damage is reported by `read_segment`."""
    found: dict[tuple[str, str], tuple[int, bytes]] = {}
    with suppress(OSError, ValueError), path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.endswith(_END_OF_ANCHORS):
                _, change = change_from_line(line)
                if isinstance(change, NewAnchors):
                    found[change.source, change.url] = number, line
    return found
