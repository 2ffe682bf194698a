"""Stores why the last crawl of a source failed; beside the state, which may be damaged."""

from __future__ import annotations

import json
from contextlib import suppress

from ultracrawl.dataclass import asdict, dataclass
from ultracrawl.errors import StateError
from ultracrawl.stores.port.notes import Notes

FAILURE = "failed"
"""Name of the note of a source."""


@dataclass(frozen=True, slots=True)
class FailureNote:
    """Why the latest crawl of a source failed, and when."""

    at: float
    """Seconds since the epoch."""
    problem: str


def note_failure(notes: Notes | None, note: FailureNote) -> None:
    """Write a note, replacing an older one; does nothing if it cannot be written."""
    if notes is not None:
        with suppress(StateError):
            notes.write(FAILURE, json.dumps(asdict(note)).encode())


def failure_note(notes: Notes | None) -> FailureNote | None:
    """Return the note of a source, None if its last crawl started and did not fail."""
    try:
        match json.loads((notes.read(FAILURE) if notes is not None else None) or "null"):
            case {"at": float() | int() as at, "problem": str(problem)}:
                return FailureNote(float(at), problem)
    except (StateError, ValueError):
        pass
    return None


def forget_failure(notes: Notes) -> None:
    """Delete the note, because a crawl has started."""
    with suppress(StateError):
        notes.delete(FAILURE)
