"""Limits with slack (FAST 5.17)."""

from __future__ import annotations

from ultracrawl.dataclass import dataclass


@dataclass(slots=True)
class SlackLimit:
    """A limit with hysteresis: exceeded once a value passes it, until the value is `slack` away from it again.

    With `falling` the limit is a minimum (free disk space), else a maximum (documents). None or 0 is no limit. A slack
    that is not smaller than a maximum could never be reached; it is a tenth of the limit then.
    """

    limit: float | None
    slack: float
    falling: bool = False
    over: bool = False

    def update(self, value: float) -> bool:
        """Update with a new value; returns whether the limit is exceeded."""
        if not self.limit:
            return False
        if self.falling:
            self.over = value <= self.limit + self.slack if self.over else value < self.limit
        else:
            slack = self.slack if self.slack < self.limit else self.limit / 10
            self.over = value >= (self.limit - slack if self.over else self.limit)
        return self.over
