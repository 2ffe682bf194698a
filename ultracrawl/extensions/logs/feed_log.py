"""What was sent to the index, and whether it arrived (FAST 5.6 dsfeed)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ultracrawl.index import Change, IndexDocument

if TYPE_CHECKING:
    from ultracrawl.extensions.logs.columns import ColumnLog


class FeedLog:
    """Has of each change: destination, `add` or `delete`, URI, and `indexed` once it is committed, or the problem.

    What waits for its commit is remembered: as many URIs as the document cache has changes.
    """

    def __init__(self, log: ColumnLog, destination: str) -> None:
        self._log = log
        self._destination = destination
        self._waiting: dict[int, tuple[str, str]] = {}

    def handed(self, key: int, change: Change) -> None:
        """Remember a change that goes to the index."""
        operation = "add" if isinstance(change, IndexDocument) else "delete"
        self._waiting[key] = operation, change.url

    def committed(self, keys: Iterable[int]) -> None:
        """Note the changes that are in the index."""
        self._ended(keys, "indexed")

    def refused(self, keys: Iterable[int], reason: str) -> None:
        """Note the changes that could not be indexed; they stay in the document cache for the next run."""
        self._ended(keys, f"not indexed: {reason}")

    def _ended(self, keys: Iterable[int], result: str) -> None:
        for key in keys:
            if found := self._waiting.pop(key, None):
                self._log.add(self._destination, *found, result)
