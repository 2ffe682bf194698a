"""When the space of deleted documents is freed without being asked for, and how often it was."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

DELETED_SHARE = 0.2
"""The share of an index from which deleted documents are too many."""
FEW_DELETED = 100
"""So many deleted documents take no room that is worth any work."""
_COUNT = "reclaimed.txt"
"""The file in the folder of an index that says how often that was done."""


class SegmentCounts(NamedTuple):
    """How many documents of a segment are alive, and how many deleted."""

    living: int
    deleted: int

    @property
    def deleted_share(self) -> float:
        """The share of deleted documents."""
        return self.deleted / max(1, self.living + self.deleted)


def segment_to_reclaim(segments: Sequence[SegmentCounts], largest: int | None = None) -> int | None:
    """Return the place of the segment to write anew, None as long as few documents of the index are deleted.

    It is the one with the largest share of deleted documents, among those with up to `largest` living ones.
    """
    whole = SegmentCounts(sum(one.living for one in segments), sum(one.deleted for one in segments))
    if whole.deleted < FEW_DELETED or whole.deleted_share < DELETED_SHARE:
        return None
    fit = [
        at for at, one in enumerate(segments) if one.deleted and (largest is None or one.living <= largest)
    ]
    return max(fit, key=lambda at: segments[at].deleted_share, default=None)


def note_reclaimed(path: Path) -> None:
    """Count that space was freed in the index in this folder; its lock is held."""
    with suppress(OSError):
        (path / _COUNT).write_text(f"{reclaim_count(path) + 1}\n", encoding="utf-8")


def reclaim_count(path: Path) -> int:
    """Return how often space was freed in the index in this folder without being asked for."""
    try:
        return int((path / _COUNT).read_text())
    except (OSError, ValueError):
        return 0
