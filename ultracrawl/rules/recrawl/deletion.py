"""The guard against the deletion of many documents at once, since a shrinking source is suspect."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DeletionGuard:
    """Limits deletions to `percent` of the documents of a source per run, but always allows `always` of them."""

    percent: float = 10.0
    always: int = 10

    def allows(self, leaving: int, indexed: int) -> bool:
        """Return whether `leaving` of the `indexed` documents may be deleted."""
        return leaving <= self.limit(indexed)

    def limit(self, indexed: int) -> int:
        """Return how many of the `indexed` documents may be deleted."""
        return max(self.always, int(indexed * self.percent / 100))
