"""Delivers a cache segment to a destination, and what is reported about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ultracrawl.index.changes import batches, with_anchors
from ultracrawl.index.destinations import Batch, Destination
from ultracrawl.index.engine import Change, IndexDocument, NewAnchors
from ultracrawl.index.values import change_from_line
from ultracrawl.index.writing.cache import read_segment

_END_OF_ANCHORS = b"]]\n"
"""How a line with anchor texts ends, and few others."""


@dataclass(frozen=True, slots=True)
class Committed:
    """All changes of the segment can be searched; `added` counts documents."""

    path: Path
    added: int
    seconds: float
    remarks: tuple[str, ...] = ()
    """What else happened to the index, a sentence each."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The segment could not be applied (wholly); it is still there and may be submitted again."""

    path: Path
    reason: str


Report = Committed | Failed


def deliver_segment(destination: Destination, path: Path) -> int:
    """Deliver a cache segment in as many batches as it takes and return the number of documents added.

    Stopped in the middle, it can be delivered again from the start: the same batches come, with the same keys.
    Raises `UltracrawlError`.
    """
    added, version = 0, _version(path)
    for number, changes in enumerate(batches(_completed(path)), 1):
        added += destination.deliver(Batch(f"{version}-{number}", changes))
        changes.clear()  # so that the next one is not collected while this one is still in memory
    return added


def _version(path: Path) -> str:
    """Return what tells a segment from another one of its number, which are counted anew when none is left."""
    try:
        return f"{path.stem}-{path.stat().st_mtime_ns}"
    except OSError:
        return path.stem  # that it cannot be read is told by who reads it


def _completed(path: Path) -> Iterator[Change]:
    """Yield the changes of a segment; documents have the anchor texts that follow them in it, be it in a later commit.

    So nothing is indexed twice because its texts came when the segment was sealed.
    """
    follows, given = _last_anchors(path), set[tuple[str, str]]()
    for number, (_, change) in enumerate(read_segment(path), 1):
        key = change.source, change.url
        later, line = follows.get(key, (0, b""))
        if isinstance(change, IndexDocument) and later > number:
            _, texts = change_from_line(line)
            assert isinstance(texts, NewAnchors)
            given.add(key)
            yield with_anchors(change, texts)
        elif not (isinstance(change, NewAnchors) and key in given):
            yield change


def _last_anchors(path: Path) -> dict[tuple[str, str], tuple[int, bytes]]:
    """Return number and line of the last anchor texts of each document of a segment; damage is told by who reads it."""
    found: dict[tuple[str, str], tuple[int, bytes]] = {}
    with suppress(OSError, ValueError), path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.endswith(_END_OF_ANCHORS):
                _, change = change_from_line(line)
                if isinstance(change, NewAnchors):
                    found[change.source, change.url] = number, line
    return found
