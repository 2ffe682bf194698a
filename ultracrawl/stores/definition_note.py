"""Stores which definition file a source was crawled by, beside its state: several files may share a state folder."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from ultracrawl.errors import StateError
from ultracrawl.stores.port.notes import Notes

DEFINITION = "definition"
"""Name of the note of a source."""


def note_definition(notes: Notes, folder: Path, definitions: str) -> None:
    """Note the path of the definitions of a source relative to the folder of the state, so that both can be moved.

    Does nothing if it is unknown (empty), or cannot be noted.
    """
    if not definitions:
        return
    text = os.path.relpath(definitions, folder).encode()
    with suppress(StateError):
        if notes.read(DEFINITION) != text:
            notes.write(DEFINITION, text)


def is_defined_elsewhere(notes: Notes | None, folder: Path, definitions: str) -> bool:
    """Return whether a source was crawled by other definitions than these last, which are still there."""
    try:
        text = notes.read(DEFINITION) if notes is not None else None
        noted = folder / (text or b"").decode()
        return bool(text) and noted.exists() and not (definitions and noted.samefile(definitions))
    except (StateError, OSError, ValueError):
        return False
