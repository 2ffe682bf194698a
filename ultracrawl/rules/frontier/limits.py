"""Limits with slack (FAST 5.17)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class SlackLimit:
    """A limit that is over once a value passes it, and under again only when the value is `slack` away from it.

    With `falling` a small value is the bad one (free disk space), else a large one (documents). A `limit` of None
    or 0 is no limit.
    """

    limit: float | None
    slack: float
    falling: bool = False
    over: bool = False

    def update(self, value: float) -> bool:
        """Take note of a value; returns whether the limit is over."""
        if not self.limit:
            return False
        bad, good = self.limit, self.limit + (self.slack if self.falling else -self.slack)
        if self.falling:
            self.over = value <= good if self.over else value < bad
        else:
            self.over = value >= good if self.over else value >= bad
        return self.over
