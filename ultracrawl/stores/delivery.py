"""A node that delivers documents of a source has its store open; who wants the source tells it by a note."""

from __future__ import annotations

import time

from ultracrawl.errors import UserError
from ultracrawl.stores.port.notes import Notes

PATIENCE = 30.0
"""Seconds that whoever wants the source waits: a delivery ends what it has begun."""
LOOK_SECONDS = 1.0
"""Seconds between two looks whether somebody wants the source."""
_POLL_SECONDS = 0.1
_DELIVERY, _WANTED = "delivery", "wanted"


class Delivery:
    """The side of who delivers, and holds the source. Raises `StateError` if nothing can be published."""

    def __init__(self, notes: Notes) -> None:
        self._presence = notes.appear(_DELIVERY, b"{}")
        self._presence.take_note(_WANTED)  # of somebody who did not get it from an earlier one
        self._looked = time.monotonic()

    def is_wanted(self) -> bool:
        """Return whether somebody wants the source; looks once in `LOOK_SECONDS`."""
        now = time.monotonic()
        if now < self._looked + LOOK_SECONDS:
            return False
        self._looked = now
        return self._presence.take_note(_WANTED) is not None

    def close(self) -> None:
        """Tell that the source is free."""
        self._presence.close()


def is_delivered(notes: Notes) -> bool:
    """Return whether documents of a source are being delivered. Raises `StateError`."""
    return notes.present(_DELIVERY) is not None


def await_delivery(notes: Notes, source: str) -> None:
    """Have the delivery of documents of a source end, and wait for that.

    Raises `UserError` if it has not ended within `PATIENCE` seconds, `StateError`.
    """
    deadline = time.monotonic() + PATIENCE
    notes.leave(_WANTED, b"{}")
    while is_delivered(notes):
        if time.monotonic() >= deadline:
            raise UserError(
                f"a node delivers documents of the source {source!r} to the index, "
                f"and has not ended within {PATIENCE:g} s; try again later"
            )
        time.sleep(_POLL_SECONDS)
    notes.delete(_WANTED)
