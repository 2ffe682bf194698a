"""A record of the document table as a row of SQLite, and back."""

from __future__ import annotations

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.stores.sqlite.database import ImpossibleValueError

_COLUMNS = (
    "url, depth, display_url, status, outcome, reason, etag, last_modified, checksum, indexed, handed, "
    "first_seen, last_fetched, failures, links, leaving, fingerprint, preference"
)
_NAMES = _COLUMNS.split(", ")
_CHANGED = ", ".join(f"{name}=excluded.{name}" for name in _NAMES[1:])  # the URL of a key stays

READ = f"{_COLUMNS}, key IN (SELECT key FROM pending)"  # noqa: S608 - constant column names
"""What `record_of` needs, as a query of the table `url` selects it."""
UPSERT = f"""
    INSERT INTO url (key, site, {_COLUMNS}) VALUES (?,?{",?" * len(_NAMES)})
    ON CONFLICT (key) DO UPDATE SET {_CHANGED}"""  # noqa: S608 - constant column names
"""Writes what `row_of` returns."""
REPLACE = f"UPDATE url SET {', '.join(f'{name}=?' for name in _NAMES[1:])} WHERE id=?"  # noqa: S608 - constant names
"""Writes what `row_of` returns from its fourth value on, followed by the place of the row: no index is asked."""


def row_of(key: int, site: str, r: UrlRecord) -> tuple[object, ...]:
    """Return the values for `UPSERT`."""
    return (
        key, site, r.url, r.depth, r.display_url, r.status_code, r.outcome.value, r.reason, r.etag,
        r.last_modified, r.checksum, r.indexed, r.handed, r.first_seen, r.last_fetched, r.failures, r.links,
        r.leaving, r.fingerprint, r.preference,
    )  # fmt: skip


def outcome_of(text: str) -> UrlOutcome:
    """Return the outcome that a row names. Raises `ImpossibleValueError`."""
    try:
        return UrlOutcome(text)
    except ValueError as error:
        raise ImpossibleValueError(str(error)) from None


def record_of(row: tuple[object, ...], source: str) -> UrlRecord:
    """Return the record of a row that was read by `READ`."""
    url, depth, display, status, outcome, reason, etag, modified, checksum, indexed, handed, *rest = row
    first_seen, last_fetched, failures, links, leaving, fingerprint, preference, pending = rest
    return UrlRecord(  # the columns are typed by the schema
        url, source, depth, display, status, outcome_of(outcome), reason, etag, modified, checksum,  # type: ignore[arg-type]
        bool(indexed), bool(handed), first_seen, last_fetched, failures, links,  # type: ignore[arg-type]
        pending=bool(pending), leaving=leaving, fingerprint=fingerprint, preference=preference,  # type: ignore[arg-type]
    )  # fmt: skip
