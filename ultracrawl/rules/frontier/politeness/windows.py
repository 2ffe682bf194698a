"""Time windows: spans of the week with another delay, or with the crawl suspended."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from datetime import datetime, timedelta, tzinfo
from typing import NamedTuple

from ultracrawl.dataclass import dataclass

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
WEEK = 7 * 24 * 60
"""Minutes."""

_TIME = rf"({'|'.join(DAYS)}):(\d{{1,2}})(?:\.(\d{{2}}))?"
_SPAN = re.compile(rf"\s*{_TIME}\s*-\s*{_TIME}\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Span:
    """A part of every week (FAST 5.22), in minutes since Monday 00:00; one that ends before it begins wraps around.

    `delay` is in seconds; None suspends the crawl.
    """

    begin: int
    end: int
    delay: float | None

    @classmethod
    def parse(cls, text: str, delay: float | None) -> Span:
        """Parse `DDD:HH.MM-DDD:HH.MM`, minutes optional. Raises `ValueError` with the reason."""
        match = _SPAN.fullmatch(text)
        if match is None:
            raise ValueError("it does not have the form DDD:HH.MM-DDD:HH.MM")
        begin, end = _minute(*match.group(1, 2, 3)), _minute(*match.group(4, 5, 6))
        if begin == end:
            raise ValueError("it starts and ends at the same time")
        return cls(begin % WEEK, end % WEEK, delay)

    def covers(self, minute: int) -> bool:
        """Return whether a minute of the week is inside: `begin` is, `end` is not."""
        if self.begin < self.end:
            return self.begin <= minute < self.end
        return minute >= self.begin or minute < self.end


class Rate(NamedTuple):
    """The rule for a time: a suspension, another delay, or (both unset) the usual delay."""

    suspended: bool = False
    delay: float | None = None
    until: float = float("inf")
    """When another rule may apply, in seconds since the epoch."""


class Week:
    """The spans of a source; false if there are none.

    Where spans overlap, a suspension wins, then the largest delay. `zone` None is the local time of this machine.
    """

    def __init__(self, spans: Iterable[Span] = (), zone: tzinfo | None = None) -> None:
        self.spans = tuple(spans)
        self._zone = zone
        edges = sorted({0, *(span.begin for span in self.spans), *(span.end for span in self.spans)})
        self._begins = edges
        self._ends = [*edges[1:], WEEK]
        self._cached: tuple[float, Rate] = (float("inf"), Rate())
        """The latest result, and the time from which on it is valid."""

    def __bool__(self) -> bool:
        return bool(self.spans)

    def at(self, wall: float) -> Rate:
        """Return the rule for a time in seconds since the epoch."""
        since, rate = self._cached
        if not since <= wall < rate.until:
            rate = self._find(wall)
            self._cached = (wall, rate)
        return rate

    def opens(self, wall: float) -> float:
        """Return the first time from `wall` on at which the crawl is not suspended."""
        for _ in range(2 * len(self._begins) + 1):
            rate = self.at(wall)
            if not rate.suspended:
                break
            wall = rate.until
        return wall

    def _find(self, wall: float) -> Rate:
        local = datetime.fromtimestamp(wall, self._zone)
        minute = (local.weekday() * 24 + local.hour) * 60 + local.minute
        part = bisect_right(self._begins, minute) - 1
        here = [span.delay for span in self.spans if span.covers(minute)]
        midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
        end = midnight + timedelta(minutes=self._ends[part] - local.weekday() * 24 * 60)
        if end.timestamp() <= wall:  # the hour occurs twice at the end of summer time, and this is the second
            end = end.replace(fold=1)
        delays = [delay for delay in here if delay is not None]
        return Rate(len(delays) < len(here), max(delays, default=None), end.timestamp())


def _minute(day: str, hour: str, minute: str | None) -> int:
    hours, minutes = int(hour), int(minute or 0)
    if hours > 24 or minutes > 59 or (hours == 24 and minutes):
        raise ValueError(f"{hour}.{minute or '00'} is no time of day")
    return (DAYS.index(day.lower()) * 24 + hours) * 60 + minutes
