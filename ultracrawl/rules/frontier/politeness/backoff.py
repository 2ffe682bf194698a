"""Back-off: network errors lengthen the delay of a site until it is given up."""

from __future__ import annotations

from ultracrawl.dataclass import dataclass
from ultracrawl.rules.frontier.politeness.clock import Clock

MIN_BACKOFF_DELAY = 1.0
"""Seconds; a shorter delay counts as this when it is doubled."""


@dataclass(frozen=True, slots=True)
class BackOff:
    """Exponential back-off (FAST 5.1 C17, C18); `delay` is the delay of the site without back-off."""

    longest: float = 600.0
    """Maximum delay in seconds that back-off may reach; a longer delay set for the site stays."""
    limit: int = 50
    """Errors at which the site is given up; each answer takes one off."""

    def fail(self, clock: Clock, delay: float) -> bool:
        """Count a network error and double the delay; returns whether the site is to be given up."""
        clock.errors += 1
        doubled = 2 * max(clock.backoff_delay, delay, MIN_BACKOFF_DELAY)
        clock.backoff_delay = max(min(doubled, self.longest), 0.0)
        return clock.errors >= self.limit

    def recover(self, clock: Clock, delay: float) -> None:
        """Take one error off and halve the delay, down to that of the site."""
        clock.errors = max(clock.errors - 1, 0)
        halved = clock.backoff_delay / 2
        clock.backoff_delay = halved if halved > max(delay, MIN_BACKOFF_DELAY / 2) else 0.0
