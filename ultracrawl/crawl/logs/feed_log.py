"""What was sent to the indexes, and whether it arrived (FAST 5.6 dsfeed)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ultracrawl.index import Change, Deletion, IndexDocument, NewAnchors

if TYPE_CHECKING:
    from ultracrawl.crawl.logs.columns import ColumnLog

_OPERATIONS: dict[type[Change], str] = {IndexDocument: "add", Deletion: "delete", NewAnchors: "anchors"}


class FeedLog:
    """Has of each change: destination, `add`, `delete` or `anchors` (other texts of links), URI, and the result.

    The result is `indexed` once the change is committed, or the problem.

    Changes are pairs of key and change, as the document cache gives them.
    """

    def __init__(self, log: ColumnLog, source: str) -> None:
        self._log = log
        self._source = source

    def indexed(self, destination: str, changes: Iterable[tuple[int, Change]]) -> None:
        """Note the changes that are in an index; without a name it is the one of the project."""
        self._note(destination, changes, "indexed")

    def refused(self, destination: str, changes: Iterable[tuple[int, Change]], reason: str) -> None:
        """Note the changes that could not be indexed; they stay in the document cache."""
        self._note(destination, changes, f"not indexed: {reason}")

    def _note(self, destination: str, changes: Iterable[tuple[int, Change]], result: str) -> None:
        for _, change in changes:
            self._log.add(destination or self._source, _OPERATIONS[type(change)], change.url, result)
