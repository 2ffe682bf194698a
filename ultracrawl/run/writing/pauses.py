"""Which destinations of a source are paused, by the definition or by command."""

from __future__ import annotations

from collections.abc import Iterable

from ultracrawl.index.writing.destination_queue import DestinationQueue
from ultracrawl.index.writing.pause_switch import EVERYTHING, PauseSwitch
from ultracrawl.sources.sections.documents.destinations import FeedingSection

POLL_INTERVAL = 1.0
"""Seconds between checks for commands."""


class Pauses:
    """Determines for each destination whether it is paused now."""

    def __init__(self, section: FeedingSection, switch: PauseSwitch) -> None:
        self._section = section
        self._switch = switch
        self._next_check_at = float("-inf")

    def apply(self, destinations: Iterable[DestinationQueue], now: float) -> None:
        """Pause and resume destinations by the commands since the last call. Raises `IndexStoreError`."""
        if not self.changed(now):
            return
        self._switch.settle(EVERYTHING, self._section.paused)
        for label, named in self._section.destinations.items():
            self._switch.settle(label, named.paused)
        for destination in destinations:
            paused = self.of(destination.label)
            if destination.paused and not paused:
                destination.resume()
            destination.paused = paused

    def changed(self, now: float) -> bool:
        """Return whether pauses may have changed since the last call; checks once a second, first at once."""
        if now < self._next_check_at:
            return False
        first, self._next_check_at = self._next_check_at == float("-inf"), now + POLL_INTERVAL
        return self._switch.reload_if_changed() or first

    @property
    def everything(self) -> bool:
        """Whether all destinations are paused."""
        return self._switch.paused(EVERYTHING, self._section.paused)

    def own(self, label: str) -> bool:
        """Return whether a destination is paused individually."""
        named = self._section.destinations.get(label)
        return named is not None and self._switch.paused(label, named.paused)

    def of(self, label: str) -> bool:
        """Return whether a destination is paused; the label is empty for the index of the project alone."""
        return self.everything or self.own(label)
