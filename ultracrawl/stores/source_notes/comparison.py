"""Stores when the documents of an index were last compared with the table of a source."""

from __future__ import annotations

import json
from contextlib import suppress

from ultracrawl.errors import StateError
from ultracrawl.stores.port.notes import Notes

COMPARED = "compared"
"""Name of the note of a source."""


def note_comparison(notes: Notes, index: str, at: float) -> None:
    """Note that an index was compared at a time (seconds since the epoch); does nothing if that cannot be written."""
    with suppress(StateError):
        notes.write(COMPARED, json.dumps({"index": index, "at": at}).encode())


def compared_at(notes: Notes, index: str) -> float | None:
    """Return when an index was last compared, None if it is not known."""
    with suppress(StateError, ValueError):
        match json.loads(notes.read(COMPARED) or "null"):
            case {"index": str(name), "at": float() | int() as at} if name == index:
                return float(at)
    return None
