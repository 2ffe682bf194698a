"""Changes to the record of a URL that are made without a visit: approval, removal, withdrawal."""

from __future__ import annotations

from dataclasses import replace

from ultracrawl.model.cause import NO_CAUSE, Cause, CauseCode, RemovalReason
from ultracrawl.model.outcome import UrlOutcome
from ultracrawl.model.record import UrlRecord
from ultracrawl.model.status import StatusCode


def without_document(record: UrlRecord) -> UrlRecord:
    """Return the record after its document has left the index.

    If no visit has found it gone, the validators go too: the next visit has to read it. The same holds for a duplicate,
    whose fingerprint was that of the document: without one, an unchanged page would never be known as a copy.
    """
    is_read_next = record.leaves_for(RemovalReason.UNLISTED) or record.leaves_for(RemovalReason.DUPLICATE)
    left = without_validators(record) if is_read_next else record
    return replace(left, removal=None, indexed=False, submitted=False, fingerprint=b"", sketch=b"")


def demoted(record: UrlRecord, status: StatusCode, cause: Cause) -> UrlRecord:
    """Return the record of a document whose place another one takes: a duplicate by content or display URL."""
    return replace(
        record,
        outcome=UrlOutcome.DUPLICATE,
        status_code=status,
        cause=cause,
        indexed=False,
        submitted=False,
        pending=False,
    )


def approved(record: UrlRecord, sketch: bytes) -> UrlRecord:
    """Return the record of a pending document, with its sketch, that is sent to the index now: 952 becomes 200."""
    outcome = UrlOutcome.MODIFIED if record.indexed else UrlOutcome.NEW
    return replace(
        record,
        outcome=outcome,
        status_code=StatusCode.OK,
        cause=record.cause if record.cause.code is CauseCode.CANONICAL_KEPT else NO_CAUSE,
        submitted=True,
        indexed=False,
        pending=False,
        sketch=sketch,
    )


def removed(record: UrlRecord) -> UrlRecord:
    """Return the record of a URL that a person removed (status 955)."""
    return replace(
        without_content(record),
        outcome=UrlOutcome.REMOVED,
        status_code=StatusCode.BLACKLISTED,
        cause=Cause(CauseCode.REMOVED_BY_HAND),
    )


def restored(record: UrlRecord) -> UrlRecord:
    """Return the record of a removed URL that may be crawled again, as if it were new."""
    return replace(
        without_content(record), outcome=UrlOutcome.QUEUED, status_code=StatusCode.QUEUED, cause=NO_CAUSE
    )


def without_content(record: UrlRecord) -> UrlRecord:
    """Return the record without anything that was learnt from fetching the page."""
    return replace(withdrawn(record), links=b"", fingerprint=b"", sketch=b"", failed_runs=0)


def withdrawn(record: UrlRecord) -> UrlRecord:
    """Return the record without document and validators, so that the page is fetched in full."""
    return replace(without_validators(record), indexed=False, submitted=False, pending=False, removal=None)


def without_validators(record: UrlRecord) -> UrlRecord:
    """Return the record without validators and checksum: the next visit fetches the page in full, as modified."""
    return replace(record, etag="", last_modified="", checksum=b"")
