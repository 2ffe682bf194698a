"""How the causes begin for which documents leave the index, as they are stored (`UrlRecord.leaving`)."""

from __future__ import annotations

from ultracrawl.model.record import UrlRecord

ORPHAN = "orphan"
"""Orphans leave without being asked for."""
FILTERED = "FILTERS"
"""Both filters deny the URL."""


def is_orphan(record: UrlRecord) -> bool:
    """Return whether a document is to leave only because nothing led to it, so that a visit may save it."""
    return record.leaving.startswith(ORPHAN)
