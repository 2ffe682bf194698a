"""The mark of stores that are being copied to a place: nobody works with a part of a state."""

from __future__ import annotations

import json
from collections.abc import Collection

from ultracrawl.dataclass import asdict, dataclass
from ultracrawl.errors import StateError
from ultracrawl.stores.port.notes import Notes


@dataclass(frozen=True, slots=True)
class UnfinishedCopy:
    """A copy that has begun and not ended."""

    origin: str
    """The place that is copied."""
    sources: Collection[str]
    """The sources whose stores it creates."""


def mark_unfinished(notes: Notes, engine: str, copy: UnfinishedCopy) -> None:
    """Mark the stores of an engine, by the notes of its service. Raises `StateError`."""
    notes.write(_name(engine), json.dumps(asdict(copy)).encode())


def mark_whole(notes: Notes, engine: str) -> None:
    """Remove the mark. Raises `StateError`."""
    notes.delete(_name(engine))


def unfinished_copy(notes: Notes | None, engine: str) -> UnfinishedCopy | None:
    """Return the copy that has not ended, None if the stores are whole. Raises `StateError`."""
    text = notes.read(_name(engine)) if notes is not None else None
    if not text:
        return None
    try:
        stored = json.loads(text)
        return UnfinishedCopy(str(stored["origin"]), frozenset(map(str, stored["sources"])))
    except (ValueError, KeyError, TypeError):
        return UnfinishedCopy("an unknown place", frozenset())


def require_whole(notes: Notes | None, engine: str) -> None:
    """Raise `StateError` if the stores are those of a copy that has not ended."""
    if copy := unfinished_copy(notes, engine):
        raise StateError(
            f"the state is an unfinished copy of {copy.origin}; "
            "copy it again with `ultracrawl store copy`, which begins anew"
        )


def _name(engine: str) -> str:
    return f"unfinished-{engine}"  # of one folder two engines may have their notes
