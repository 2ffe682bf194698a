"""Back-off: a site that fails on the network is asked more slowly, and given up when it goes on failing."""

from __future__ import annotations

from dataclasses import dataclass

from ultracrawl.rules.frontier.politeness.clock import Clock

LEAST = 1.0
"""Seconds: a shorter delay counts as this when it is doubled."""


@dataclass(frozen=True, slots=True)
class BackOff:
    """How the delay of a site grows and falls (FAST 5.1 C17, C18). `delay` is that of the site without back-off."""

    longest: float = 600.0
    """Seconds to which a delay may grow; a longer delay of the site's own stays as it is."""
    limit: int = 50
    """Errors, less one for each answer, at which the site is given up."""

    def fail(self, clock: Clock, delay: float) -> bool:
        """Count a network error and double the delay; True if the site is to be given up."""
        clock.errors += 1
        doubled = 2 * max(clock.slowed, delay, LEAST)
        clock.slowed = max(min(doubled, self.longest), 0.0)
        return clock.errors >= self.limit

    def recover(self, clock: Clock, delay: float) -> None:
        """Count an answer and halve the delay, down to that of the site."""
        clock.errors = max(clock.errors - 1, 0)
        halved = clock.slowed / 2
        clock.slowed = halved if halved > max(delay, LEAST / 2) else 0.0
