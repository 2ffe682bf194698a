"""The politeness clock of a site or an IP address."""

from __future__ import annotations

from ultracrawl.dataclass import dataclass

NEVER = float("-inf")


@dataclass(slots=True)
class Clock:
    """Request times and delays of a site or a shared address; times are seconds of one monotonic clock."""

    due: float = 0.0
    """When the delay after the latest request is over."""
    hold_until: float = 0.0
    """No request before this time, whatever the delay (`Retry-After`, a further attempt)."""
    started: float = NEVER
    """When the latest request started."""
    previous_start: float = NEVER
    """When the request before it started."""
    own_delay: float | None = None
    """A delay that replaces that of the source (robots.txt)."""
    errors: int = 0
    """Network errors, less one for each answer."""
    backoff_delay: float = 0.0
    """The delay required by back-off; 0 for none."""
    latency_delay: float = 0.0
    """The delay required by slow responses; 0 for none."""

    @property
    def next_at(self) -> float:
        """The time at which the next request may start."""
        return self.due if self.due > self.hold_until else self.hold_until

    def begin(self, now: float, delay: float) -> None:
        """Note that a request starts; the next one may start `delay` seconds later."""
        self.previous_start = self.started
        self.started = now
        self.due = now + delay

    def undo_begin(self, delay: float) -> None:
        """Undo `begin` of the latest request."""
        self.started = self.previous_start
        self.apply_delay(delay)

    def apply_delay(self, delay: float) -> None:
        """Apply a changed delay, counted from the latest request."""
        self.due = max(self.started + delay, 0.0)
