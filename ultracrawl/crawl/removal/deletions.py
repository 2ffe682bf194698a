"""The last step of a run: documents that are to leave the index leave it, unless they are suspiciously many."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from ultracrawl.crawl.writing.writer import IndexWriter
from ultracrawl.index.values import unpack_document
from ultracrawl.model import RemovalReason, UrlOutcome, UrlRecord
from ultracrawl.model.record_changes import approved, without_document
from ultracrawl.rules.recrawl.deletion import DeletionGuard
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.stores import Retained, Store

logger = logging.getLogger(__name__)

_OUTSIDE, _UNKNOWN = RemovalReason.SCOPE, RemovalReason.UNKNOWN


class Deletions:
    """Takes documents out of the index whose records say that they are to leave (`UrlRecord.removal`).

    They were marked one by one, as their visits ended; here they leave together, so that a fault of the server
    which takes many at once is noticed before it does harm. Where a document with the same content waits
    (`Store.successors`), it takes the place of the one that leaves, in the same breath.
    """

    def __init__(
        self,
        state: Store,
        feed: IndexWriter,
        on_succession: Callable[[UrlRecord, UrlRecord], None] | None = None,
    ) -> None:
        self._state = state
        self._feed = feed
        self._on_succession = on_succession
        self.counted = 0
        """Documents that `apply` removed and that count for the guard."""

    def candidates(self) -> list[UrlRecord]:
        """Return the records whose documents are to leave."""
        self._state.flush()
        return list(self._state.records.records_to_remove())

    def apply(
        self,
        guard: DeletionGuard,
        *,
        started: float,
        by_definition: bool = False,
        complete: bool = True,
        before: int = 0,
    ) -> str:
        """Remove all documents that are marked for it, or none if the guard finds them too many.

        Returns the problem for the report, empty if they were removed. The guard compares their number with that of
        the documents that were there when the run `started` (epoch seconds). `before` documents were removed in
        earlier parts of the run, and count as well.
        `by_definition`: pages that are not indexed any more are so because the definition changed, and do not
        count for the guard. What the definition excludes always goes; while the run is not `complete`, only if its
        successor is there.
        """
        leaving = self.candidates()
        self._forget_idle()
        outside = [one for one in leaving if one.leaves_for(_OUTSIDE)]
        excluded = outside if complete else list(filter(self._has_successor, outside))
        self.carry_out(excluded)
        leaving = [one for one in leaving if not one.leaves_for(_OUTSIDE)]
        if not leaving:
            return ""
        counted = self._suspicious(leaving, by_definition=by_definition)
        indexed = before + self._measure(leaving, started)
        if not counted or guard.allows(len(counted) + before, indexed):
            self.counted = len(counted)
            self.carry_out(leaving)
            return ""
        reasons = Counter(one.removal.reason for one in counted if one.removal is not None)
        told = ", ".join(f"{number:,} {reason}" for reason, number in reasons.most_common())
        earlier = f"{before:,} left earlier in this run, " if before else ""
        return (
            f"no document was deleted: {len(counted):,} of {indexed:,} are to leave the index at once ({told}), "
            f"{earlier}and the limit is {guard.limit(indexed):,}; "
            f"`ultracrawl approve-deletions {leaving[0].source}` deletes them"
        )

    def _measure(self, leaving: Iterable[UrlRecord], started: float) -> int:
        """Return how many documents there were before the run; after a loss of the state, how many there are now."""
        if any(one.leaves_for(_UNKNOWN) for one in leaving):
            return self._state.records.count_urls().documents
        return self._state.documents.documents_before(started)

    def carry_out(self, leaving: Iterable[UrlRecord]) -> int:
        """Delete documents from the index; returns how many. A display URL that shows another document now is left."""
        number, outside = 0, []
        for record in leaving:
            key = url_key(record.url)
            if not self._replaced(record):
                self._feed.delete(key, record.shown_url)
                number += 1
            self._state.records.amend_record(key, without_document(record))
            self._let_succeed(record)
            if record.leaves_for(_OUTSIDE, _UNKNOWN):
                outside.append(key)
        if outside:
            self._feed.sync()
            self._state.drop_urls(outside)
        return number

    def discard(self, leaving: Iterable[UrlRecord]) -> int:
        """Cancel the removal of documents until their next visit marks them again; returns how many."""
        kept = [record for record in leaving if not record.leaves_for(_OUTSIDE)]
        for record in kept:
            self._state.records.amend_record(url_key(record.url), replace(record, removal=None))
        self._forget_idle()
        return len(kept)

    # ---- successors

    def _twins(self, record: UrlRecord) -> list[UrlRecord]:
        same = self._state.records.with_fingerprint(record.fingerprint)
        return [one for one in same if one.url != record.url]

    def _let_succeed(self, left: UrlRecord) -> None:
        """Index the document that waited to replace one that was removed, unless another has its content already."""
        twins = self._twins(left)
        taken = any(one.retained for one in twins)
        for one in twins:
            key = url_key(one.url)
            data = self._state.documents.retained_document(Retained.REPLACEMENT, key)
            document = unpack_document(data) if data else None
            if document is None:
                continue
            self._state.documents.release_document(Retained.REPLACEMENT, key)
            if not taken:
                taken = True
                self._feed.add(key, document)
                successor = approved(one)
                self._state.records.amend_record(key, successor)
                if self._on_succession is not None:
                    self._on_succession(one, successor)
                logger.info("%s takes the place of %s", one.url, left.url)

    def _has_successor(self, record: UrlRecord) -> bool:
        return any(
            (one.searchable and not one.removal)
            or self._state.documents.retained_document(Retained.REPLACEMENT, url_key(one.url))
            for one in self._twins(record)
        )

    def _forget_idle(self) -> None:
        """Drop waiting documents whose predecessor stays in the index after all."""
        for key in self._state.documents.retained_keys(Retained.REPLACEMENT):
            record = self._state.records.get_record(key)
            if record is None or not any(one.removal for one in self._twins(record)):
                self._state.documents.release_document(Retained.REPLACEMENT, key)

    def _suspicious(self, leaving: list[UrlRecord], *, by_definition: bool) -> list[UrlRecord]:
        """Return those that count: not pages that moved, each to a document of its own, nor what has a successor.

        What filters deny by the URL, before any fetch, is the word of the definition and not of a server.
        """
        moved: set[int] = set()
        counted = []
        for record in leaving:
            target = self._target(record)
            if by_definition and record.outcome is UrlOutcome.NOT_INDEXED:
                continue
            if record.leaves_for(RemovalReason.FILTERS):
                continue
            if target and target not in moved:
                moved.add(target)
            elif not self._has_successor(record):
                counted.append(record)
        return counted

    def _target(self, record: UrlRecord) -> int:
        """Return the key of the document that a page moved to, 0 if there is none."""
        if not record.redirects_to:
            return 0
        key = url_key(record.redirects_to)
        target = self._state.records.get_record(key)
        return key if target is not None and target.retained else 0

    def _replaced(self, record: UrlRecord) -> bool:
        shown = record.shown_url
        others = self._state.records.with_display_url(shown)
        if record.display_url:
            own = self._state.records.get_record(url_key(shown))
            others = [*others, *([own] if own is not None and own.shown_url == shown else [])]
        return any(other.url != record.url and other.retained for other in others)
