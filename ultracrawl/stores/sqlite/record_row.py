"""Converts records of the document table to SQLite rows and back."""

from __future__ import annotations

import json
from typing import Any

from ultracrawl.model import NO_CAUSE, Cause, CauseCode, Removal, RemovalReason, UrlOutcome, UrlRecord
from ultracrawl.stores.port.texts import storable_texts
from ultracrawl.stores.sqlite.database import ImpossibleValueError

COLUMNS = (
    "url, depth, display_url, status, outcome, cause_code, subject, detail, etag, last_modified, checksum, "
    "indexed, submitted, first_seen, last_fetched, failures, links, removal_code, removal_cause, "
    "fingerprint, preference, sketch, hops, language"
)
"""The columns of table `url` that a record fills, as `row_of` returns them from the third value on."""
_NAMES = COLUMNS.split(", ")
_CHANGED = ", ".join(f"{name}=excluded.{name}" for name in _NAMES[1:])  # the URL of a key never changes

READ = f"{COLUMNS}, key IN (SELECT key FROM pending), key IN (SELECT key FROM held)"  # noqa: S608 - constant column names
"""The columns of table `url` that `record_of` expects."""
UPSERT = f"""
    INSERT INTO url (key, site, {COLUMNS}) VALUES (?,?{",?" * len(_NAMES)})
    ON CONFLICT (key) DO UPDATE SET {_CHANGED}"""  # noqa: S608 - constant column names
"""Inserts or updates a row; takes the values of `row_of`."""
REPLACE = f"UPDATE url SET {', '.join(f'{name}=?' for name in _NAMES[1:])} WHERE id=?"  # noqa: S608 - constant names
"""Updates a row by id, without an index lookup; takes the values of `row_of` from the fourth on, and the row id."""


def row_of(key: int, site: str, r: UrlRecord) -> tuple[object, ...]:
    """Return the values for `UPSERT`."""
    cause, removal = r.cause, r.removal
    leaves = ("", "") if removal is None else (removal.reason.value, _stored_cause(removal.cause))
    display_url, subject, detail, etag, last_modified, language = storable_texts(
        r.display_url, cause.subject, cause.detail, r.etag, r.last_modified, r.language
    )
    return (
        key, site, r.url, r.depth, display_url, r.status_code, r.outcome.value, cause.code.value,
        subject, detail, etag, last_modified, r.checksum,
        r.indexed, r.submitted, r.first_seen, r.last_fetched, r.failed_runs, r.links, *leaves, r.fingerprint,
        r.preference, r.sketch, r.hops, language,
    )  # fmt: skip


def _stored_cause(cause: Cause) -> str:
    return json.dumps([cause.code.value, *storable_texts(cause.subject, cause.detail)], ensure_ascii=False)


def outcome_of(text: str) -> UrlOutcome:
    """Return the outcome stored in a row. Raises `ImpossibleValueError`."""
    try:
        return UrlOutcome(text)
    except ValueError as error:
        raise ImpossibleValueError(str(error)) from None


def record_of(row: tuple[Any, ...], source: str) -> UrlRecord:
    """Return the record of a row selected with `READ`. Raises `ImpossibleValueError`."""
    url, depth, display, status, outcome, code, subject, detail, etag, modified, checksum, *rest = row
    indexed, submitted, first_seen, last_fetched, failures, links, removal, removed_for, *rest = rest
    fingerprint, preference, sketch, hops, language, pending, held = rest
    try:
        return UrlRecord(
            url, source, depth, display, status, UrlOutcome(outcome),
            Cause(CauseCode(code), subject, detail) if code else NO_CAUSE,
            etag, modified, checksum, bool(indexed), bool(submitted), first_seen, last_fetched, failures, links,
            pending=bool(pending), removal=_removal_of(removal, removed_for) if removal else None,
            fingerprint=fingerprint, preference=preference, sketch=sketch, hops=hops, held_back=bool(held),
            language=language,
        )  # fmt: skip
    except ValueError as error:
        raise ImpossibleValueError(str(error)) from None


def _removal_of(reason: str, cause: str) -> Removal:
    code, subject, detail = json.loads(cause)
    return Removal(RemovalReason(reason), Cause(CauseCode(code), subject, detail))
