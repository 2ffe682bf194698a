"""Priority levels: the choice of the level of the next URL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

MAX_LEVELS = 100
"""Maximum number of levels; each costs a few bits and a queue of sites."""


class PopScheme(StrEnum):
    """How levels take turns (FAST 5.14, 151)."""

    DEFAULT = "default"
    """The same as `wrr`."""
    RR = "rr"
    """Round robin: one URL of each level in turn."""
    WRR = "wrr"
    """Weighted round robin: up to `share` URLs of a level, then the next level."""
    PRI = "pri"
    """Always the highest level that has a URL which may be fetched now."""


class LevelSelector:
    """Chooses the level of the next URL; level 1 is the highest, levels without a URL are skipped."""

    def __init__(
        self, levels: int = 1, scheme: PopScheme = PopScheme.DEFAULT, shares: Sequence[int] = ()
    ) -> None:
        self.levels = levels
        self.scheme = scheme
        weights = [*shares, *[1] * levels][:levels]
        self._shares = [1] * levels if scheme is PopScheme.RR else weights
        self._level = 1
        self._left = self._shares[0]

    def choose(self, has: Callable[[int], object]) -> int | None:
        """Return the next level, None if none has a URL; `has` returns whether a level has one to fetch now."""
        if self.levels == 1:
            return 1 if has(1) else None
        if self.scheme is PopScheme.PRI:
            return next((level for level in range(1, self.levels + 1) if has(level)), None)
        return self._next_in_turn(has)

    def _next_in_turn(self, has: Callable[[int], object]) -> int | None:
        for _ in range(self.levels + 1):
            if self._left and has(self._level):
                self._left -= 1
                return self._level
            self._level = self._level % self.levels + 1
            self._left = self._shares[self._level - 1]
        return None


def clamp_level(level: int, levels: int) -> int:
    """Return `level`, limited to the range 1 to `levels`."""
    return min(max(level, 1), levels)
