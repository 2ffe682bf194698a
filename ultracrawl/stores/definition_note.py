"""Stores which definition file a source was crawled by, beside its state: several files may share a state folder."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def definition_note_path(state_file: Path) -> Path:
    """Return the path of the note beside a state file."""
    return state_file.with_name(state_file.name + ".definition")


def note_definition(state_file: Path, definitions: str) -> None:
    """Write the path of the definitions of a source beside its state, relative to it, so that both can be moved.

    Does nothing if it is unknown (empty), or the folder is not writable.
    """
    if not definitions:
        return
    note = definition_note_path(state_file)
    text = os.path.relpath(definitions, note.parent)
    with suppress(OSError):
        if not note.exists() or note.read_text(encoding="utf-8") != text:
            note.parent.mkdir(parents=True, exist_ok=True)
            draft = note.with_name(f"{note.name}.{os.getpid()}")
            draft.write_text(text, encoding="utf-8")
            draft.replace(note)


def is_defined_elsewhere(state_file: Path, definitions: str) -> bool:
    """Return whether a source was crawled by other definitions than these last, which are still there."""
    try:
        noted = state_file.parent / definition_note_path(state_file).read_text(encoding="utf-8")
        return noted.exists() and not (definitions and noted.samefile(definitions))
    except (OSError, ValueError):
        return False
