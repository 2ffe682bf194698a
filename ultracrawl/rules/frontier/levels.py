"""Priority levels: from which level the next URL is taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

MOST_LEVELS = 100
"""Levels of a queue; each costs a few bits and a line of sites."""


class PopScheme(StrEnum):
    """How levels take turns (FAST 5.14, 151)."""

    DEFAULT = "default"
    """The same as `wrr`."""
    RR = "rr"
    """One URL of each level in turn."""
    WRR = "wrr"
    """Up to `share` URLs of a level, then the next level."""
    PRI = "pri"
    """Always the highest level that has a URL which may be fetched now."""


class LevelSelector:
    """Chooses the level of the next URL; level 1 is the highest, levels without a URL are passed over."""

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
        """Return the level whose turn it is; `has` tells whether a level has a URL that may be fetched now."""
        if self.levels == 1:
            return 1 if has(1) else None
        if self.scheme is PopScheme.PRI:
            return next((level for level in range(1, self.levels + 1) if has(level)), None)
        return self._in_turn(has)

    def _in_turn(self, has: Callable[[int], object]) -> int | None:
        for _ in range(self.levels + 1):
            if self._left and has(self._level):
                self._left -= 1
                return self._level
            self._level = self._level % self.levels + 1
            self._left = self._shares[self._level - 1]
        return None


def nearest(level: int, levels: int) -> int:
    """Return the level among 1 to `levels` that is nearest."""
    return min(max(level, 1), levels)
