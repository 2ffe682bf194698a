"""When a site, or an address, was asked last, and when it may be asked again."""

from __future__ import annotations

from dataclasses import dataclass

NEVER = float("-inf")


@dataclass(slots=True)
class Clock:
    """The times of one site, or of one address that several sites share; seconds of one monotonic clock."""

    due: float = 0.0
    """When the delay after the latest request is over."""
    held: float = 0.0  # word: a site is held, no document
    """Nothing goes out before this time, whatever the delay (`Retry-After`, a further attempt)."""
    started: float = NEVER
    """When the latest request began."""
    before: float = NEVER
    """When the one before it began."""
    own: float | None = None
    """A delay that replaces that of the source (robots.txt)."""
    errors: int = 0
    """Network errors that were not made good by answers."""
    slowed: float = 0.0
    """The delay that back-off asks for; 0 is none."""
    learned: float = 0.0
    """The delay that slow answers ask for; 0 is none."""

    @property
    def next_at(self) -> float:
        """The time at which the next request may begin."""
        return self.due if self.due > self.held else self.held

    def begin(self, now: float, delay: float) -> None:
        """Note that a request begins; the next one may begin `delay` seconds later."""
        self.before = self.started
        self.started = now
        self.due = now + delay

    def take_back(self, delay: float) -> None:
        """Make the latest request undone."""
        self.started = self.before
        self.count(delay)

    def count(self, delay: float) -> None:
        """Count a delay that has changed from the latest request on."""
        self.due = max(self.started + delay, 0.0)
