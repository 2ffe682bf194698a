"""Stores why the last crawl of a source failed; in a file beside the state, because the state may be damaged."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class FailureNote:
    """Why the latest crawl of a source failed, and when."""

    at: float
    """Seconds since the epoch."""
    problem: str


def note_path(state_file: Path) -> Path:
    """Return the path of the note beside a state file."""
    return state_file.with_name(state_file.name + ".failed")


def note_failure(state_file: Path, note: FailureNote) -> None:
    """Write a note beside a state file, replacing an older one; does nothing if the folder is not writable."""
    path = note_path(state_file)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(asdict(note)), encoding="utf-8")
        draft.replace(path)


def failure_note(state_file: Path) -> FailureNote | None:
    """Return the note beside a state file, None if the last crawl started and did not fail."""
    try:
        match json.loads(note_path(state_file).read_text(encoding="utf-8")):
            case {"at": float() | int() as at, "problem": str(problem)}:
                return FailureNote(float(at), problem)
    except (OSError, ValueError):
        pass
    return None


def forget_failure(state_file: Path) -> None:
    """Delete the note, because a crawl has started."""
    with suppress(OSError):
        note_path(state_file).unlink()
