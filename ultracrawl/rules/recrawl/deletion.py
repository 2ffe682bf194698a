"""Whether documents may leave the index: the guard against deleting much at once (a shrinking source is suspect)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DeletionGuard:
    """Allows to delete at most `percent` of the documents of a source in one run, and always `always` of them."""

    percent: float = 10.0
    always: int = 10

    def allows(self, leaving: int, indexed: int) -> bool:
        """Return whether so many of the indexed documents may be deleted."""
        return leaving <= self.limit(indexed)

    def limit(self, indexed: int) -> int:
        """Return how many of the indexed documents may be deleted."""
        return max(self.always, int(indexed * self.percent / 100))
