"""Stores what the change guard remembers: groups of lost versions, and what a run is about to let in."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, NamedTuple

from ultracrawl.errors import StateError
from ultracrawl.stores.port.notes import Notes

LOST_VERSIONS = "lost-versions"
"""Name of the note of a source."""


class LostNote(NamedTuple):
    """What the guard remembers from run to run, and from part to part of a run that is stopped or killed."""

    groups: list[list[Any]]
    """Groups of lost versions, as JSON."""
    run: float = 0.0
    """When the run began that wrote it, in seconds since the epoch."""
    let_in: int = 0
    """Lost versions that this run let in, or was about to: the groups count them."""


def note_lost_versions(notes: Notes, note: LostNote) -> None:
    """Remember groups; does nothing if that cannot be written."""
    with suppress(StateError):
        if note.groups or note.let_in:
            notes.write(LOST_VERSIONS, json.dumps(note._asdict()).encode())
        else:
            notes.delete(LOST_VERSIONS)


def lost_versions(notes: Notes) -> LostNote:
    """Return what is remembered; nothing if it cannot be read."""
    with suppress(StateError, ValueError, TypeError):
        return LostNote(**json.loads(notes.read(LOST_VERSIONS) or '{"groups": []}'))
    return LostNote([])
