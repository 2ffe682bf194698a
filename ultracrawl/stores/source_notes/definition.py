"""Stores which definition file a source was crawled by, beside its state: several files may share a state."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from ultracrawl.errors import StateError
from ultracrawl.stores.port.notes import Notes

DEFINITION = "definition"
"""Name of the note of a source: a path that is relative to the folder of the state, or absolute in a database."""


def note_definition(notes: Notes, folder: Path | None, definitions: str) -> None:
    """Note the path of the definitions of a source, so that they and the `folder` of its state can be moved together.

    Without a folder, the state is in a database. Does nothing if the path is unknown (empty), or cannot be noted.
    """
    if not definitions:
        return
    with suppress(StateError):
        text = _noted(Path(os.path.abspath(definitions)), folder)
        if notes.read(DEFINITION) != text:
            notes.write(DEFINITION, text)


def moved_definition(text: bytes, folder: Path, other: Path | None) -> bytes:
    """Return the text of a note for a copy of the state in another folder, or in a database."""
    return _noted(folder / os.fsdecode(text), other)


def _noted(path: Path, folder: Path | None) -> bytes:
    return os.fsencode(os.path.abspath(path) if folder is None else os.path.relpath(path, folder))


def is_defined_elsewhere(notes: Notes | None, folder: Path, definitions: str) -> bool:
    """Return whether a source was crawled by other definitions than these last, which are still there.

    On another machine these are the file of the same name beside its own definitions.
    """
    try:
        text = notes.read(DEFINITION) if notes is not None else None
        if not text:
            return False
        noted = folder / os.fsdecode(text)
        if definitions and not noted.exists():
            noted = Path(definitions).with_name(noted.name)
        return noted.exists() and not (definitions and noted.samefile(definitions))
    except (StateError, OSError, ValueError):
        return False
