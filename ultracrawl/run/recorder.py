"""Ends visits: writes the outcome of each to the document table and counts it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ultracrawl.model import (
    NO_CAUSE,
    Cause,
    CauseCode,
    Removal,
    RemovalReason,
    StatusCode,
    UrlOutcome,
    UrlRecord,
)
from ultracrawl.model.outcome import SUBMITTED
from ultracrawl.model.record_changes import without_validators
from ultracrawl.rules.recrawl.change import is_unread
from ultracrawl.run.ending import NOT_LET_IN, Ending
from ultracrawl.run.hooks import Feature, Hooks
from ultracrawl.run.results import PageLinks
from ultracrawl.run.run_counters import RunCounters
from ultracrawl.run.visit import Visit
from ultracrawl.stores import QueueEntry, Retained, Store

UNCHANGED = frozenset({UrlOutcome.NOT_MODIFIED, UrlOutcome.UNMODIFIED})
PENDING = UrlOutcome.PENDING
COMPARED = SUBMITTED | {PENDING, UrlOutcome.DUPLICATE}
"""Outcomes whose fingerprint is stored, for comparison with other documents."""
_LASTING = frozenset({CauseCode.RENDERED, CauseCode.CANONICAL_KEPT, CauseCode.NO_TEXT})
"""Causes that hold until the page is read again."""


class Recorder:
    """The only place where visits end.

    Effect of an outcome on the record: a transient one (network or server error) changes nothing but the outcome; an
    unchanged page keeps its document, also one pending approval, and its links; all others except NEW, MODIFIED and
    PENDING mark the document for removal from the index, if there is one, which `Deletions` carries out.
    """

    def __init__(
        self,
        state: Store,
        counters: RunCounters,
        clock: Callable[[], float],
        hooks: Hooks,
        follow: Callable[[Visit, PageLinks], None],
    ) -> None:
        """Initialise; `follow` queues the links of a visit (`run.page_links`)."""
        self._state = state
        self._counters = counters
        self._clock = clock
        self._hooks = hooks
        self._follow = follow

    def end_visit(self, visit: Visit, ending: Ending) -> None:
        """End a visit; does nothing if it has ended."""
        if visit.done:
            return
        outcome = ending.outcome
        if visit.fetch.without_login and not (outcome.transient or outcome in UNCHANGED):
            ending = NOT_LET_IN
        self._follow_links(visit, ending.outcome)
        visit.note_ending(ending)
        if visit.tentative:
            self._notify_ended(visit)
            return
        record, outcome = self._record_of(visit, ending)
        visit.note_ending(
            Ending(outcome, record.status_code, record.cause, ending.requested, ending.filtered)
        )
        if visit.record.pending and not record.pending:
            self._state.documents.release_document(Retained.APPROVAL, visit.entry.key)
        if visit.record.held_back and not outcome.transient:
            self._state.documents.release_document(Retained.CHANGE, visit.entry.key)
        if self._should_remove(visit.record, outcome):
            reason = RemovalReason.FILTERS if ending.filtered else RemovalReason(outcome.value)
            record = _marked_for_removal(record, visit.record, Removal(reason, record.cause))
        if visit.page.live:
            record = replace(record, etag="", last_modified="")
        if visit.page.unrendered:
            record = replace(record, etag="", last_modified="", failed_runs=visit.record.failed_runs + 1)
        if not outcome.transient:
            self._state.visits.forget_failures(visit.entry.key)
        for notify in self._hooks[Feature.visit_ending]:
            notify(visit, outcome)
        self._state.records.finish_url(visit.entry, record)
        self._counters.count_ending(
            record, lost=outcome.without_content and not visit.record.outcome.without_content
        )
        self._notify_ended(visit)

    def defer_visit(self, visit: Visit) -> None:
        """End a visit without an outcome: its record stays, and its document is retained until the run decides."""
        visit.note_ending(Ending(UrlOutcome.MODIFIED, StatusCode.OK), deferred=True)
        self._state.records.finish_url(visit.entry, visit.record)
        self._state.visits.note_seen((visit.entry.key,))
        self._notify_ended(visit)

    def _record_of(self, visit: Visit, ending: Ending) -> tuple[UrlRecord, UrlOutcome]:
        outcome, status = ending.outcome, ending.status or visit.fetch.status
        unchanged = outcome in UNCHANGED
        if unchanged and visit.record.pending:
            outcome, status = PENDING, StatusCode.CRAWLED
        page = visit.page
        cause = (
            ending.cause
            or page.unrendered
            or page.without_text
            or (Cause(CauseCode.EXPIRES) if page.expires else page.rendered)
        )
        if unchanged and not cause:
            cause = _lasting_cause(visit.record)
        if visit.without_request and not (cause or visit.revived):
            cause = Cause(CauseCode.GIVEN)
        return self._next_record(visit, outcome, status, cause, unchanged=unchanged), outcome

    def _follow_links(self, visit: Visit, outcome: UrlOutcome) -> None:
        """Queue the links that were kept until the end of a visit; those of a version that is held back are dropped."""
        links = visit.take_links()
        if links is None or outcome is UrlOutcome.HELD_BACK:
            return
        if links.also_of_duplicate or outcome is not UrlOutcome.DUPLICATE:
            self._follow(visit, links)

    def _notify_ended(self, visit: Visit) -> None:
        for notify in self._hooks[Feature.visit_ended]:
            notify(visit)

    def skip_unchanged(self, entry: QueueEntry, known: UrlRecord) -> None:
        """End a queued URL without a request, because a sitemap says that it is unchanged.

        `last_fetched` stays: later sitemap dates are compared with the last fetch, not with this run.
        """
        record = replace(
            known,
            outcome=UrlOutcome.NOT_MODIFIED,
            status_code=StatusCode.NOT_MODIFIED,
            cause=_lasting_cause(known) or Cause(CauseCode.SITEMAP_DATE),
        )
        self._state.records.finish_url(entry, record)
        self._counters.count_skipped_unchanged(record)
        self._state.visits.note_seen((entry.key,))
        for notify in self._hooks[Feature.unchanged_skipped]:
            notify(known)

    def exclude_queued(self, entry: QueueEntry, rule: str) -> None:
        """End a queued URL without a request, because `rule` excludes it; its document, if any, stays."""
        known = self._state.records.get_record(entry.key) or UrlRecord(
            entry.url, self._counters.source, entry.depth
        )
        cause = Cause(CauseCode.RULE, rule)
        record = replace(known, outcome=UrlOutcome.REJECTED, status_code=StatusCode.NOT_CRAWLED, cause=cause)
        self._state.records.finish_url(entry, record)
        self._counters.count_ending(record)
        self._counters.count_excluded_later(rule)
        self._state.visits.note_seen((entry.key,))

    def recount(self, before: UrlRecord, after: UrlRecord) -> None:
        """Correct the counts for a visit of this run whose outcome changed afterwards."""
        self._counters.change_outcome(before, after)

    @staticmethod
    def _should_remove(known: UrlRecord, outcome: UrlOutcome) -> bool:
        kept = outcome.transient or outcome in SUBMITTED or outcome in UNCHANGED or outcome is PENDING
        return not kept and known.searchable

    def _next_record(
        self, visit: Visit, outcome: UrlOutcome, status: int, cause: Cause, *, unchanged: bool
    ) -> UrlRecord:
        known = visit.record
        changes: dict[str, Any] = {
            "depth": visit.depth,
            "display_url": visit.entry.display_url,
            "status_code": status,
            "outcome": outcome,
            "cause": cause,
            "last_fetched": visit.record.last_fetched if visit.from_store else self._clock(),
        }
        if outcome.transient:
            failed = replace(known, **changes, failed_runs=known.failed_runs + 1)
            # What no converter could read is recognised, so that it is not read again while it is unchanged.
            return _with_validators(failed, visit) if is_unread(visit.checksum) else failed
        if unchanged or status == StatusCode.DUPLICATE_IGNORED:
            return replace(
                known,
                **changes,
                failed_runs=0,
                removal=None if known.leaves_for(RemovalReason.ORPHAN) else known.removal,
                etag=visit.fetch.etag or known.etag,
                last_modified=visit.fetch.last_modified or known.last_modified,
                links=visit.links or known.links,
            )
        if outcome is UrlOutcome.GONE:
            gone = known.failed_runs + 1 if known.outcome is UrlOutcome.GONE else 1
            return _without_content(replace(known, **changes), failed_runs=gone)
        if status == StatusCode.NOT_UNIQUE:
            # Without validators the next visit reads it in full: the other document may be gone by then. A listing
            # tells whether it is.
            is_listed = visit.listed is not None and visit.listed.body is not None
            second = _without_content(replace(known, **changes), links=visit.links)
            return replace(second, etag=visit.fetch.etag) if is_listed else second
        return replace(
            known,
            **changes,
            pending=outcome is PENDING,
            removal=None,
            failed_runs=0,
            etag=visit.fetch.etag,
            last_modified=visit.fetch.last_modified,
            checksum=visit.checksum,
            # A page that was not read or has not changed keeps its links.
            links=known.links if outcome is UrlOutcome.ROBOTS or visit.fetch.status == 304 else visit.links,
            submitted=outcome in SUBMITTED,
            indexed=known.indexed and outcome not in SUBMITTED,
            fingerprint=visit.page.fingerprint if outcome in COMPARED else b"",
            sketch=visit.page.sketch if outcome in SUBMITTED else known.sketch,
            preference=visit.page.preference,
            language=visit.page.language,
        )


def _with_validators(record: UrlRecord, visit: Visit) -> UrlRecord:
    fetch = visit.fetch
    return replace(record, etag=fetch.etag, last_modified=fetch.last_modified, checksum=visit.checksum)


def _lasting_cause(known: UrlRecord) -> Cause:
    """Return the cause that holds as long as a page is unchanged; one that is not in the index has always one."""
    return known.cause if known.cause.code in _LASTING or not known.searchable else NO_CAUSE


def _without_content(record: UrlRecord, *, failed_runs: int = 0, links: bytes = b"") -> UrlRecord:
    """Return the record without validators and fingerprint."""
    return replace(
        without_validators(record),
        pending=False,
        removal=None,
        failed_runs=failed_runs,
        links=links,
        fingerprint=b"",
    )


def _marked_for_removal(record: UrlRecord, known: UrlRecord, removal: Removal) -> UrlRecord:
    """Return the record with a removal; until that is carried out it keeps the fingerprint of the indexed document."""
    marked = replace(
        record,
        indexed=known.indexed,
        submitted=known.submitted,
        removal=removal,
        fingerprint=known.fingerprint,
        preference=known.preference,
    )
    # A duplicate is read in full next time: what it duplicates is recorded only after its removal.
    duplicate = record.outcome is UrlOutcome.DUPLICATE
    return replace(marked, etag="", last_modified="") if duplicate else marked
