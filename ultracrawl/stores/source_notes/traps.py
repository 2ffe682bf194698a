"""Stores what is counted of patterns of URLs that are crawler traps, or may be, from run to run."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from ultracrawl.errors import StateError
from ultracrawl.stores.port.notes import Notes

TRAPS = "traps"
"""Name of the note of a source."""
ROW = 6
"""Values of a row; those of another version are not read."""


def note_traps(notes: Notes, rows: list[list[Any]]) -> None:
    """Remember the rows of `TrapPatterns.as_rows`; does nothing if that cannot be written."""
    with suppress(StateError):
        if rows:
            notes.write(TRAPS, json.dumps(rows).encode())
        else:
            notes.delete(TRAPS)


def trap_rows(notes: Notes | None) -> list[list[Any]]:
    """Return what is remembered; nothing if it cannot be read."""
    with suppress(StateError, ValueError):
        match json.loads((notes.read(TRAPS) if notes is not None else None) or "[]"):
            case [*rows] if all(isinstance(row, list) and len(row) == ROW for row in rows):
                return rows
    return []
