"""A URL of the document table as JSON: the shape of `ultracrawl urls --json`."""

from __future__ import annotations

from typing import Any

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.stores.port.store import Store


def url_json(state: Store, record: UrlRecord) -> dict[str, Any]:
    """Return a record of a store, and the URL that stands for it if it is a duplicate."""
    return {**record.as_json(), "duplicate_of": _holder(state, record)}


def _holder(state: Store, record: UrlRecord) -> str | None:
    """Return the URL that stands in the index for a duplicate; None for other URLs and duplicates beyond the list."""
    if record.outcome is not UrlOutcome.DUPLICATE or not record.fingerprint:
        return None
    return next((one.url for one in state.records.same_content(record.fingerprint) if one.indexed), None)
