"""Stores the groups of lost versions that the change guard remembers from run to run."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from ultracrawl.errors import StateError
from ultracrawl.stores.port.notes import Notes

LOST_VERSIONS = "lost-versions"
"""Name of the note of a source."""


def note_lost_versions(notes: Notes, groups: list[list[object]]) -> None:
    """Remember groups; does nothing if that cannot be written."""
    with suppress(StateError):
        if groups:
            notes.write(LOST_VERSIONS, json.dumps(groups).encode())
        else:
            notes.delete(LOST_VERSIONS)


def lost_versions(notes: Notes) -> list[list[Any]]:
    """Return the groups that are remembered; none if they cannot be read."""
    with suppress(StateError, ValueError):
        found = json.loads(notes.read(LOST_VERSIONS) or "[]")
        return found if isinstance(found, list) else []
    return []
