"""What becomes of the record of a URL when its document comes, waits or goes by a decision and not by a visit."""

from __future__ import annotations

from dataclasses import replace

from ultracrawl.model.cause import NO_CAUSE, Cause, CauseCode
from ultracrawl.model.outcome import UrlOutcome
from ultracrawl.model.record import UrlRecord
from ultracrawl.model.status import StatusCode


def without_document(record: UrlRecord) -> UrlRecord:
    """Return the record of a URL whose document has left the index."""
    return replace(record, removal=None, indexed=False, submitted=False, fingerprint=b"")


def approved(record: UrlRecord) -> UrlRecord:
    """Return the record of a document that goes to the index now: 952 becomes 200."""
    outcome = UrlOutcome.MODIFIED if record.indexed else UrlOutcome.NEW
    return replace(
        record,
        outcome=outcome,
        status_code=StatusCode.OK,
        cause=NO_CAUSE,
        submitted=True,
        indexed=False,
        pending=False,
    )


def removed(record: UrlRecord) -> UrlRecord:
    """Return the record of a URL that a person removed (status 955)."""
    return replace(
        unread(record),
        outcome=UrlOutcome.REMOVED,
        status_code=StatusCode.BLACKLISTED,
        cause=Cause(CauseCode.REMOVED_BY_HAND),
    )


def restored(record: UrlRecord) -> UrlRecord:
    """Return the record of a removed URL that may be crawled again: as if it had been found just now."""
    return replace(unread(record), outcome=UrlOutcome.QUEUED, status_code=StatusCode.QUEUED, cause=NO_CAUSE)


def unread(record: UrlRecord) -> UrlRecord:
    """Return the record without anything that was read."""
    return replace(withdrawn(record), links=b"", fingerprint=b"", failed_runs=0)


def withdrawn(record: UrlRecord) -> UrlRecord:
    """Return the record of a URL whose document is nowhere, and whose page is fetched in full."""
    return replace(without_validators(record), indexed=False, submitted=False, pending=False, removal=None)


def without_validators(record: UrlRecord) -> UrlRecord:
    """Return the record so that the next visit fetches the page in full, and takes it for another one."""
    return replace(record, etag="", last_modified="", checksum=b"")
