"""Limits on how often something may be done: token buckets, one for each key."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable


class TokenBuckets:
    """One token bucket for each key; a key that is not known has a full one."""

    def __init__(
        self, burst: int, rate: float, clock: Callable[[], float] = time.monotonic, most: int = 10_000
    ) -> None:
        """`burst` is what a full bucket holds, `rate` what flows in each second; at most `most` keys are kept."""
        self._burst = burst
        self._rate = rate
        self._clock = clock
        self._most = most
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """Level and time of the last look, by key, the longest unused first."""

    def wait_of(self, key: str) -> float:
        """Return the seconds until the bucket of a key holds a token; 0 if it does."""
        return max(0.0, (1 - self._level(key)) / self._rate)

    def take_token(self, key: str) -> None:
        """Take a token from the bucket of a key."""
        self._levels[key] = self._level(key) - 1, self._clock()
        self._levels.move_to_end(key)
        if len(self._levels) > self._most:
            self._levels.popitem(last=False)

    def _level(self, key: str) -> float:
        level, at = self._levels.get(key, (float(self._burst), 0.0))
        return min(float(self._burst), level + (self._clock() - at) * self._rate)
