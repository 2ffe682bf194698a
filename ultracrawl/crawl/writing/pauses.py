"""Which destinations of a source are paused: what the definition says, and what was ordered from outside."""

from __future__ import annotations

from collections.abc import Iterable

from ultracrawl.index.writing.destination_queue import DestinationQueue
from ultracrawl.index.writing.pause_switch import EVERYTHING, PauseSwitch
from ultracrawl.sources.sections.documents.destinations import FeedingSection

LOOK_EVERY = 1.0
"""Seconds between two looks at the orders."""


class Pauses:
    """Answers for each destination whether it is paused now."""

    def __init__(self, section: FeedingSection, switch: PauseSwitch) -> None:
        self._section = section
        self._switch = switch
        self._next = float("-inf")

    def apply(self, destinations: Iterable[DestinationQueue], now: float) -> None:
        """Pause destinations, or let them go on, as was ordered since the last call."""
        if not self.changed(now):
            return
        for one in destinations:
            paused = self.of(one.label)
            if one.paused and not paused:
                one.resume()
            one.paused = paused

    def changed(self, now: float) -> bool:
        """Whether something may be paused otherwise than at the last call; looks once a second, from the first."""
        if now < self._next:
            return False
        first, self._next = self._next == float("-inf"), now + LOOK_EVERY
        return self._switch.reload_if_changed() or first

    @property
    def everything(self) -> bool:
        """Whether feeding is paused as a whole."""
        return self._switch.paused(EVERYTHING, self._section.paused)

    def own(self, label: str) -> bool:
        """Return whether a destination is paused itself."""
        named = self._section.destinations.get(label)
        return named is not None and self._switch.paused(label, named.paused)

    def of(self, label: str) -> bool:
        """Return whether a destination gets nothing now; the label is empty for the index of the project alone."""
        return self.everything or self.own(label)
