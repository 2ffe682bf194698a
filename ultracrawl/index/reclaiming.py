"""Decides when the space of deleted documents is freed automatically, and counts how often it was."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

DELETED_SHARE = 0.2
"""Share of deleted documents from which space is freed."""
MIN_DELETED = 100
"""Fewer deleted documents are not worth freeing their space."""
_COUNTER_FILE = "reclaimed.txt"
"""File in the folder of an index with the number of times that space was freed."""


class SegmentCounts(NamedTuple):
    """Numbers of living and deleted documents of a segment."""

    living: int
    deleted: int

    @property
    def deleted_share(self) -> float:
        """The share of deleted documents."""
        return self.deleted / max(1, self.living + self.deleted)


def segment_to_reclaim(segments: Sequence[SegmentCounts], largest: int | None = None) -> int | None:
    """Return the number of the segment to rewrite, None as long as few documents of the index are deleted.

    It is the segment with the largest share of deleted documents among those with up to `largest` living ones.
    """
    whole = SegmentCounts(
        sum(segment.living for segment in segments), sum(segment.deleted for segment in segments)
    )
    if whole.deleted < MIN_DELETED or whole.deleted_share < DELETED_SHARE:
        return None
    candidates = [
        at
        for at, segment in enumerate(segments)
        if segment.deleted and (largest is None or segment.living <= largest)
    ]
    return max(candidates, key=lambda at: segments[at].deleted_share, default=None)


def note_reclaimed(path: Path) -> None:
    """Increase the counter of the index in this folder; its lock is held."""
    with suppress(OSError):
        (path / _COUNTER_FILE).write_text(f"{reclaim_count(path) + 1}\n", encoding="utf-8")


def reclaim_count(path: Path) -> int:
    """Return how often space was freed automatically in the index in this folder."""
    try:
        return int((path / _COUNTER_FILE).read_text())
    except (OSError, ValueError):
        return 0
