"""Limits with slack (FAST 5.17)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class SlackLimit:
    """A limit with hysteresis: exceeded once a value passes it, until the value is `slack` away from it again.

    With `falling` the limit is a minimum (free disk space), else a maximum (documents). None or 0 is no limit.
    """

    limit: float | None
    slack: float
    falling: bool = False
    over: bool = False

    def update(self, value: float) -> bool:
        """Update with a new value; returns whether the limit is exceeded."""
        if not self.limit:
            return False
        bad, good = self.limit, self.limit + (self.slack if self.falling else -self.slack)
        if self.falling:
            self.over = value <= good if self.over else value < bad
        else:
            self.over = value >= good if self.over else value >= bad
        return self.over
