"""A record of the document table as JSON, in the format of `ultracrawl urls --json`."""

from __future__ import annotations

from typing import Any

from ultracrawl.model import CauseCode, UrlOutcome, UrlRecord
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.stores.port.store import Store


def url_json(state: Store, record: UrlRecord) -> dict[str, Any]:
    """Return a record as JSON, with the URL that is indexed in its place if it is a duplicate."""
    return {**record.as_json(), "duplicate_of": _indexed_url(state, record)}


def _indexed_url(state: Store, record: UrlRecord) -> str | None:
    """Return the indexed URL that stands for a duplicate; None for other URLs, and if the store has none."""
    if record.outcome is not UrlOutcome.DUPLICATE:
        return None
    if record.cause.code is CauseCode.CANONICAL:
        named = state.records.get_record(url_key(record.cause.subject))
        if named is not None and named.indexed:
            return named.url
    if not record.fingerprint:
        return None
    return next(
        (same.url for same in state.records.with_fingerprint(record.fingerprint) if same.indexed), None
    )
