"""The last step of a run: deletes the documents marked for removal, unless they are suspiciously many."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Container, Iterable
from dataclasses import replace
from functools import cached_property

from ultracrawl.index.values import unpack_document
from ultracrawl.model import RemovalReason, UrlOutcome, UrlRecord
from ultracrawl.model.record_changes import approved, without_document
from ultracrawl.rules.duplicates.likeness import Version, is_lost_in
from ultracrawl.rules.duplicates.losses import SAMPLE, CommonWords
from ultracrawl.rules.duplicates.marks import marks_of_url
from ultracrawl.rules.recrawl.guard import LossGuard
from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.run.removal.scope import OUTSIDE
from ultracrawl.run.writing.writer import IndexWriter
from ultracrawl.stores import Retained, Store

logger = logging.getLogger(__name__)

_LEFT_OUT = (UrlOutcome.NOT_INDEXED, UrlOutcome.LIST)
"""Outcomes of pages that were read, and are no documents; what a definition says decides about it."""


class Deletions:
    """Deletes the documents whose records are marked for removal (`UrlRecord.removal`).

    Documents are marked one by one as their visits end, and deleted together here, so that a server fault that affects
    many is noticed before it does harm. If a document with the same content waits (`Retained.REPLACEMENT`), it is
    added in the same step.
    """

    def __init__(
        self,
        state: Store,
        writer: IndexWriter,
        on_succession: Callable[[UrlRecord, UrlRecord], None] | None = None,
    ) -> None:
        self._state = state
        self._writer = writer
        self._on_succession = on_succession
        self.counted = 0
        """Documents that `apply` removed and the guard counted."""
        self.holds_outside = False
        """Whether `apply` held back the documents outside the scope."""

    def candidates(self) -> list[UrlRecord]:
        """Return the records that are marked for removal."""
        self._state.flush()
        return list(self._state.records.records_to_remove())

    def apply(
        self,
        guard: LossGuard,
        *,
        started: float,
        by_definition: bool = False,
        complete: bool = True,
        before: int = 0,
        held: int = 0,
        starts: Container[str] = (),
        form_of: Callable[[str], str | None] = str,
    ) -> str:
        """Delete all documents marked for removal, or none if the guard finds them too many.

        Returns the problem for the report, empty if they were deleted. The guard compares their number with the number
        of documents when the run `started` (epoch seconds). `before` documents were deleted in earlier parts of the
        run and count as well. `by_definition`: pages are no longer indexed because the definition changed, and do not
        count for the guard. `held` new versions of documents are held back: what else that server took away is suspect.

        Documents outside the scope are deleted, however many, but not in exchange for nothing: if the scope has no
        other document than `starts` (the start URLs), they are held back, see `_is_exchange`. In a run that is not
        `complete` only those with a successor are deleted. Those whose URL has another form now (`form_of`) count like
        pages that are gone, unless a document has that form: perhaps the server does not answer it.
        """
        leaving = self.candidates()
        self._release_idle()
        outside = [record for record in leaving if record.leaves_for(*OUTSIDE)]
        leaving = [record for record in leaving if not record.leaves_for(*OUTSIDE)]
        unmoved = {record.url for record in outside if not self._has_moved(record, form_of)}
        if complete:
            leaving += [record for record in outside if record.url in unmoved]
        outside = [record for record in outside if record.url not in unmoved]
        lost = [record for record in outside if not self._has_successor(record)]
        self.holds_outside = complete and bool(lost) and not self._is_exchange(len(lost), guard, starts)
        if self.holds_outside or not complete:
            outside = list(filter(self._has_successor, outside))
        self.carry_out(outside)
        if self.holds_outside:
            return self._nothing_inside(lost)
        if not leaving:
            return ""
        counted = self._counted_by_guard(leaving, by_definition=by_definition)
        indexed = before + self._documents_before(leaving, started)
        if not counted or guard.allows(len(counted) + before + held, indexed):
            self.counted = len(counted)
            self.carry_out(leaving)
            return ""
        self.holds_outside = bool(unmoved)
        reasons = Counter(record.removal.reason for record in counted if record.removal is not None)
        summary = ", ".join(f"{number:,} {reason}" for reason, number in reasons.most_common())
        earlier = f"{before:,} were deleted earlier in this run, " if before else ""
        earlier += f"{held:,} changes are held back, " if held else ""
        return (
            f"no document was deleted: {len(counted):,} of {indexed:,} would be deleted at once ({summary}), "
            f"{earlier}and the limit is {guard.limit(indexed):,}; "
            f"`ultracrawl approve-deletions {leaving[0].source}` deletes them"
        )

    def _has_moved(self, record: UrlRecord, form_of: Callable[[str], str | None]) -> bool:
        """Return whether a document outside may go: excluded by a rule, or known by the form that its URL has now."""
        if not record.leaves_for(RemovalReason.FORM) or self._has_successor(record):
            return True
        form = form_of(record.url)
        known = None if form is None else self._state.records.get_record(url_key(form))
        return known is not None and known.retained

    def _is_exchange(self, lost: int, guard: LossGuard, starts: Container[str]) -> bool:
        """Return whether a scope has documents, so that `lost` others may leave for it.

        One that matches nothing is most likely misspelt. Its start pages alone say nothing, since a server may answer
        any address with a page; they count if as many as the lost ones. A guard of 100 % holds nothing back.
        """
        if guard.percent >= 100:
            return True
        inside = 0
        for record in self._state.records.all_records():
            if record.retained:
                inside += 1
                if inside >= lost or record.url not in starts:
                    return True
        return False

    def _nothing_inside(self, lost: list[UrlRecord]) -> str:
        rules = Counter(str(record.removal.cause) for record in lost if record.removal is not None)
        rule = next((f" ({rule})" for rule, _ in rules.most_common(1) if rule), "")
        return (
            f"no document was deleted: the definition excludes all {len(lost):,} now{rule}, and no other page was "
            "found; check what you wrote (a path, a host), "
            f"or `ultracrawl approve-deletions {lost[0].source}` deletes them"
        )

    def _documents_before(self, leaving: Iterable[UrlRecord], started: float) -> int:
        """Return the number of documents before the run; after a loss of the store, the present number."""
        if any(record.leaves_for(RemovalReason.UNKNOWN) for record in leaving):
            return self._state.records.count_urls().documents
        self._state.flush()
        return self._state.documents.documents_before(started)

    def carry_out(self, leaving: Iterable[UrlRecord]) -> int:
        """Delete documents from the index; returns how many. A display URL that another document uses now is kept."""
        number, outside = 0, []
        for record in leaving:
            key = url_key(record.url)
            if not self._is_replaced(record):
                self._writer.delete(key, record)
                number += 1
            self._state.records.amend_record(key, without_document(record))
            self._index_successor(record)
            if record.leaves_for(*OUTSIDE, RemovalReason.UNKNOWN):
                outside.append(key)
        if outside:
            self._writer.sync()
            self._state.drop_urls(outside)
        return number

    def discard(self, leaving: Iterable[UrlRecord]) -> int:
        """Cancel the removal of documents until a visit marks them again; returns how many."""
        kept = [record for record in leaving if not record.leaves_for(*OUTSIDE)]
        for record in kept:
            self._state.records.amend_record(url_key(record.url), replace(record, removal=None))
        self._release_idle()
        return len(kept)

    # ---- successors

    def _duplicates_of(self, record: UrlRecord) -> list[UrlRecord]:
        same = self._state.records.with_fingerprint(record.fingerprint)
        return [other for other in same if other.url != record.url]

    def _index_successor(self, left: UrlRecord) -> None:
        """Index the document that waited to replace a deleted one, unless another already has its content."""
        duplicates = self._duplicates_of(left)
        taken = any(duplicate.retained for duplicate in duplicates)
        for duplicate in duplicates:
            key = url_key(duplicate.url)
            data = self._state.documents.retained_document(Retained.REPLACEMENT, key)
            document = unpack_document(data) if data else None
            if document is None:
                continue
            self._state.documents.release_document(Retained.REPLACEMENT, key)
            if not taken:
                taken = True
                self._writer.add(key, document)
                sketch = Version(duplicate.url, document.title, document.text).sketch
                successor = approved(duplicate, sketch)
                self._state.records.amend_record(key, successor)
                if self._on_succession is not None:
                    self._on_succession(duplicate, successor)
                logger.info("%s replaces %s", duplicate.url, left.url)

    def _has_successor(self, record: UrlRecord) -> bool:
        return any(
            (duplicate.searchable and not duplicate.removal)
            or self._state.documents.retained_document(Retained.REPLACEMENT, url_key(duplicate.url))
            for duplicate in self._duplicates_of(record)
        )

    def _release_idle(self) -> None:
        """Release waiting documents whose predecessor stays in the index after all."""
        for key in self._state.documents.retained_keys(Retained.REPLACEMENT):
            record = self._state.records.get_record(key)
            if record is None or not any(duplicate.removal for duplicate in self._duplicates_of(record)):
                self._state.documents.release_document(Retained.REPLACEMENT, key)

    def _counted_by_guard(self, leaving: list[UrlRecord], *, by_definition: bool) -> list[UrlRecord]:
        """Return the records that the guard counts.

        Not counted: pages that redirect, each to a document of its own in which their words are not lost, documents
        with a successor, and those that filters deny by their URL, which is a decision of the definition and not of a
        server.
        """
        moved: set[int] = set()
        counted = []
        for record in leaving:
            target = self._redirect_target(record)
            if by_definition and record.outcome in _LEFT_OUT:
                continue
            if record.leaves_for(RemovalReason.FILTERS):
                continue
            if target and target not in moved and not self._is_lost_in(record, target):
                moved.add(target)
            elif not self._has_successor(record):
                counted.append(record)
        return counted

    def _is_lost_in(self, record: UrlRecord, target: int) -> bool:
        """Return whether the words of a document are lost in the one that its page redirects to."""
        led_to = self._state.records.get_record(target)
        if led_to is None:
            return False
        left_out = marks_of_url(record.url) | self._common_words.of_site(site_of(record.url)).frame
        return is_lost_in(record.sketch, led_to.sketch, left_out)

    @cached_property
    def _common_words(self) -> CommonWords:
        return CommonWords.of(self._state.records.some_documents(SAMPLE))

    def _redirect_target(self, record: UrlRecord) -> int:
        """Return the key of the document that a page redirects to, 0 if there is none."""
        if not record.redirects_to:
            return 0
        key = url_key(record.redirects_to)
        target = self._state.records.get_record(key)
        return key if target is not None and target.retained else 0

    def _is_replaced(self, record: UrlRecord) -> bool:
        shown = record.shown_url
        others = self._state.records.with_display_url(shown)
        if record.display_url:
            own = self._state.records.get_record(url_key(shown))
            others = [*others, *([own] if own is not None and own.shown_url == shown else [])]
        return any(other.url != record.url and other.retained for other in others)
