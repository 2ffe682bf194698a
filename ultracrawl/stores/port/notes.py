"""Interface of the notes of an engine: small texts by which processes see and steer each other's crawls."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from enum import StrEnum
from typing import Protocol


class NotesOf(StrEnum):
    """Whose notes they are."""

    SOURCE = "source"
    ROBOT = "robot"
    """The robot of a source, a process that outlives its crawls."""
    SERVICE = "service"
    """The processes that run the schedules of the project."""


def always() -> bool:
    """Say that a process lives as long as it runs."""
    return True


class Presence(Protocol):
    """A note that exists as long as the process that wrote it lives; made by `Notes.appear`, used in one thread."""

    def publish(self, text: bytes) -> None:
        """Replace its text. Raises `StateError`; the old text stays then."""

    def take_note(self, name: str) -> bytes | None:
        """Delete another note of the same owner and return its text, None if there is none; called once a second."""

    def close(self) -> None:
        """Delete the note, and give up what it needed."""


class Notes(Protocol):
    """Texts of at most some kB about one source, robot or service, by name; every engine with lasting stores has them.

    They are not in the store itself: some say why it cannot be opened. Every method is durable when it returns and
    raises `StateError`.
    """

    def read(self, name: str) -> bytes | None:
        """Return the text of a note, None if there is none."""

    def write(self, name: str, text: bytes) -> None:
        """Write or replace a note, in one step."""

    def leave(self, name: str, text: bytes) -> None:
        """Write or replace a note for the process that is present, which takes it."""

    def change(self, name: str, edit: Callable[[bytes], bytes]) -> None:
        """Replace the text of a note, empty if there is none, by what a function makes of it.

        Nobody else changes the note meanwhile; the function may be called again.
        """

    def delete(self, name: str) -> None:
        """Delete a note, if there is one."""

    def appear(self, name: str, text: bytes, lives: Callable[[], bool] = always) -> Presence:
        """Write a note that lasts as long as this process. Raises `StateError` also if one of that name exists.

        Where it has a lease, a thread asks `lives` before it renews it: a process that hangs is not present.
        """

    def present(self, name: str) -> bytes | None:
        """Return the text of a note whose process lives, None if there is none; empty if it is just being written."""

    def all_present(self, ending: str) -> list[bytes]:
        """Return the texts of all notes with names of this ending whose processes live."""

    def lease_left(self, name: str) -> float | None:
        """Return for how many seconds more the process of a note counts as living, even if its machine has died.

        None if there is none, or if this machine knows whether it lives.
        """

    def locked(self) -> AbstractContextManager[object]:
        """Keep other processes out of blocks with the lock of these notes; waits for it."""
