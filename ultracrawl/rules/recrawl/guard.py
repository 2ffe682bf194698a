"""The guard against losses: a source that shrinks, or turns into one page, is suspect."""

from __future__ import annotations

from ultracrawl.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class LossGuard:
    """Limits what a run may take from the index to `percent` of the documents of a source, but always allows `always`.

    One guard limits deletions, another one changes in which documents lose their words.
    """

    percent: float = 10.0
    always: int = 10

    def allows(self, number: int, indexed: int) -> bool:
        """Return whether `number` of the `indexed` documents may be deleted or overwritten."""
        return number <= self.limit(indexed)

    def limit(self, indexed: int) -> int:
        """Return how many of the `indexed` documents may be deleted or overwritten."""
        return max(self.always, int(indexed * self.percent / 100))
