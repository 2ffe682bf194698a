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
    """Chooses the level of the next URL; level 1 is the highest.

    A level without a URL that may be fetched now is skipped, and comes first as soon as it has one: it waited for the
    delay of a site, and other levels took its turn.
    """

    def __init__(
        self, levels: int = 1, scheme: PopScheme = PopScheme.DEFAULT, shares: Sequence[int] = ()
    ) -> None:
        self.levels = levels
        self.scheme = scheme
        weights = [*shares, *[1] * levels][:levels]
        self._shares = [1] * levels if scheme is PopScheme.RR else weights
        self._level = 1
        self._left = self._shares[0]
        self._owed: dict[int, int] = {}

    def choose(self, has: Callable[[int], object]) -> int | None:
        """Return the next level, None if none has a URL; `has` returns whether a level has one to fetch now."""
        if self.levels == 1:
            return 1 if has(1) else None
        if self.scheme is PopScheme.PRI:
            return next((level for level in range(1, self.levels + 1) if has(level)), None)
        return self._next_in_turn(has)

    def refund(self, level: int) -> None:
        """Note that no URL was taken from a level that was chosen."""
        self._owed[level] = min(self._owed.get(level, 0) + 1, self._shares[level - 1])

    def _next_in_turn(self, has: Callable[[int], object]) -> int | None:
        owed = next((level for level in self._owed if has(level)), None)
        if owed is not None:
            self._owed[owed] -= 1
            if not self._owed[owed]:
                del self._owed[owed]
            return owed
        level, left = self._level, self._left
        skipped: dict[int, int] = {}
        for _ in range(self.levels + 1):
            if left and has(level):
                self._level, self._left = level, left - 1
                self._owed |= skipped
                return level
            if left:
                skipped[level] = left
            level = level % self.levels + 1
            left = self._shares[level - 1]
        return None


def clamp_level(level: int, levels: int) -> int:
    """Return `level`, limited to the range 1 to `levels`."""
    return min(max(level, 1), levels)
