"""Gives every visit its one outcome, writes it to the document table and counts it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ultracrawl.crawl.ending import Ending
from ultracrawl.crawl.hooks import Hooks
from ultracrawl.crawl.run_counters import RunCounters
from ultracrawl.crawl.visit import Visit
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
from ultracrawl.stores import QueueEntry, Retained, Store

UNCHANGED = frozenset({UrlOutcome.NOT_MODIFIED, UrlOutcome.UNMODIFIED})
PENDING = UrlOutcome.PENDING
COMPARED = SUBMITTED | {PENDING, UrlOutcome.DUPLICATE}
"""Outcomes of visits whose content others are compared with."""


class Recorder:
    """The one place where a visit ends.

    What an outcome does to the record: a transient one (network or server error) leaves everything known as it
    is; an unchanged page keeps its document and its links, also one that waits for an approval; all others except NEW,
    MODIFIED and PENDING have the document leave the index, if there is one: `Deletions` carries that out.
    """

    def __init__(self, state: Store, counters: RunCounters, clock: Callable[[], float], hooks: Hooks) -> None:
        self._state = state
        self._counters = counters
        self._clock = clock
        self._hooks = hooks

    def end_visit(self, visit: Visit, ending: Ending) -> None:
        """Give a visit its outcome; one that already ended is left as it is."""
        if visit.done:
            return
        follow, visit.deferred = visit.deferred, None
        if follow is not None and ending.outcome is not UrlOutcome.DUPLICATE:
            follow()
        visit.ending = ending
        if visit.tentative:
            self._tell(visit)
            return
        record, outcome = self._recorded(visit, ending)
        visit.ending = Ending(outcome, record.status_code, record.cause, ending.asked, ending.filtered)
        if visit.record.pending and not record.pending:
            self._state.documents.release_document(Retained.APPROVAL, visit.entry.key)
        if self._leaves_index(visit.record, outcome):
            reason = RemovalReason.FILTERS if ending.filtered else RemovalReason(outcome.value)
            record = _to_remove(record, visit.record, Removal(reason, record.cause))
        if visit.page.unrendered:
            record = replace(record, etag="", last_modified="", failed_runs=visit.record.failed_runs + 1)
        if not outcome.transient:
            self._state.visits.forget_failures(visit.entry.key)
        for told in self._hooks.visit_ending:
            told(visit, outcome)
        self._state.records.finish_url(visit.entry, record)
        self._counters.count_ending(
            record, lost=outcome.without_content and not visit.record.outcome.without_content
        )
        self._tell(visit)

    def _recorded(self, visit: Visit, ending: Ending) -> tuple[UrlRecord, UrlOutcome]:
        outcome, status = ending.outcome, ending.status or visit.fetch.status
        unchanged = outcome in UNCHANGED
        if unchanged and visit.record.pending:
            outcome, status = PENDING, StatusCode.CRAWLED
        page = visit.page
        cause = ending.cause or page.unrendered or (Cause(CauseCode.EXPIRES) if page.expires else NO_CAUSE)
        if visit.given and not cause:
            cause = Cause(CauseCode.GIVEN)
        return self._next_record(visit, outcome, status, cause, unchanged=unchanged), outcome

    def _tell(self, visit: Visit) -> None:
        for told in self._hooks.visit_ended:
            told(visit)

    def not_asked(self, entry: QueueEntry, known: UrlRecord) -> None:
        """End a URL that is not asked for in this run, because a sitemap says that it is as it was.

        `last_fetched` stays: a later date in a sitemap is compared with the fetch, not with this run.
        """
        record = replace(
            known,
            outcome=UrlOutcome.NOT_MODIFIED,
            status_code=StatusCode.NOT_MODIFIED,
            cause=Cause(CauseCode.SITEMAP_DATE),
        )
        self._state.records.finish_url(entry, record)
        self._counters.count_vouched(record)
        self._state.visits.note_seen((entry.key,))
        for told in self._hooks.vouched:
            told(known)

    def skip(self, entry: QueueEntry, rule: str) -> None:
        """End a URL that is not asked for in this run, and whose document, if there is one, stays as it is."""
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
        """Take note that the end of a visit of this run turned out to be another one."""
        self._counters.change_ending(before, after)

    @staticmethod
    def _leaves_index(known: UrlRecord, outcome: UrlOutcome) -> bool:
        stays = outcome.transient or outcome in SUBMITTED or outcome in UNCHANGED or outcome is PENDING
        return not stays and known.searchable

    def _next_record(
        self, visit: Visit, outcome: UrlOutcome, status: int, cause: Cause, *, unchanged: bool
    ) -> UrlRecord:
        known = visit.record
        ended: dict[str, Any] = {
            "depth": visit.depth,
            "display_url": visit.entry.display_url,
            "status_code": status,
            "outcome": outcome,
            "cause": cause,
            "last_fetched": visit.record.last_fetched if visit.stored else self._clock(),
        }
        if outcome.transient:
            return replace(known, **ended, failed_runs=known.failed_runs + 1)
        if unchanged or status == StatusCode.DUPLICATE_IGNORED:
            return replace(
                known,
                **ended,
                failed_runs=0,
                removal=None if known.leaves_for(RemovalReason.ORPHAN) else known.removal,
                etag=visit.fetch.etag or known.etag,
                last_modified=visit.fetch.last_modified or known.last_modified,
                links=visit.links or known.links,
            )
        if outcome is UrlOutcome.GONE:
            gone = known.failed_runs + 1 if known.outcome is UrlOutcome.GONE else 1
            return _forgotten(replace(known, **ended), failed_runs=gone)
        if status == StatusCode.NOT_UNIQUE:
            # Without validators it is looked at again: the other document may be gone by then.
            return _forgotten(replace(known, **ended), links=visit.links)
        return replace(
            known,
            **ended,
            pending=outcome is PENDING,
            removal=None,
            failed_runs=0,
            etag=visit.fetch.etag,
            last_modified=visit.fetch.last_modified,
            checksum=visit.checksum,
            # A page that was not read, or that is as it was, still leads to what it led to.
            links=known.links if outcome is UrlOutcome.ROBOTS or visit.fetch.status == 304 else visit.links,
            submitted=outcome in SUBMITTED,
            indexed=known.indexed and outcome not in SUBMITTED,
            fingerprint=visit.page.fingerprint if outcome in COMPARED else b"",
            preference=visit.page.preference,
        )


def _forgotten(record: UrlRecord, *, failed_runs: int = 0, links: bytes = b"") -> UrlRecord:
    """Return the record without what its content was known by."""
    unknown = without_validators(record)
    return replace(
        unknown, pending=False, removal=None, failed_runs=failed_runs, links=links, fingerprint=b""
    )


def _to_remove(record: UrlRecord, known: UrlRecord, removal: Removal) -> UrlRecord:
    """Return the record of a document that is to leave, and is compared by what is in the index until then."""
    marked = replace(
        record,
        indexed=known.indexed,
        submitted=known.submitted,
        removal=removal,
        fingerprint=known.fingerprint,
        preference=known.preference,
    )
    # As a duplicate it is looked at again: what it repeats is noted only after it has left.
    duplicate = record.outcome is UrlOutcome.DUPLICATE
    return replace(marked, etag="", last_modified="") if duplicate else marked
