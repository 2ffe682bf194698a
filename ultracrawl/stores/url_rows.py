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
    seen, named = set[str](), record
    while named.url not in seen:
        seen.add(named.url)
        same: list[UrlRecord] = state.records.with_fingerprint(named.fingerprint) if named.fingerprint else []
        for other in [named, *same]:
            if other.indexed and other.url != record.url:
                return other.url
        is_alias = named.cause.code is CauseCode.CANONICAL
        leads_to = named.cause.subject if is_alias else named.redirects_to
        named = state.records.get_record(url_key(leads_to)) or named
    return None
