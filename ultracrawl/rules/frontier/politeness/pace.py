"""How fast a site may be asked: every reason for waiting, combined into one delay."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from ultracrawl.rules.frontier.politeness.backoff import BackOff
from ultracrawl.rules.frontier.politeness.clock import Clock
from ultracrawl.rules.frontier.politeness.windows import Week

WEIGHT = 0.5
"""Share of the latest answer in the delay that is learned from answers."""


class Delay(NamedTuple):
    """The seconds between the starts of two requests to a site, and where they come from."""

    seconds: float
    origin: str

    def __str__(self) -> str:
        return f"{self.seconds:g} s ({self.origin})"


@dataclass(frozen=True)
class Pace:
    """How gently the sites of one source are treated.

    The delay is that of robots.txt, else that of the time span, else `delay`; back-off and slow answers lengthen
    it (FAST 3.1 B). A suspension holds whatever the delay.
    """

    delay: float = 0.0
    concurrency: int = 2
    """Requests to a site (with `per_address`: to an address) that may run at once."""
    per_address: bool = False
    """Hosts with the same address share delay and concurrency."""
    week: Week = field(default_factory=Week)
    backoff: BackOff = field(default_factory=BackOff)
    longest_retry_after: float = 3600.0
    throttle: float | None = None
    """Requests that a site should have to work on at a time, on average; None: slow answers change nothing."""
    wall: Callable[[float], float] = field(default=lambda now: now - time.monotonic() + time.time())
    """Gives the wall clock (epoch) for a time of the monotonic clock; asked only where there are time spans."""

    def base(self, clock: Clock, now: float) -> float:
        """Return the delay without back-off and slow answers."""
        if clock.own is not None:
            return clock.own
        if self.week:
            other = self.week.at(self.wall(now)).delay
            return self.delay if other is None else other
        return self.delay

    def seconds(self, clock: Clock, now: float) -> float:
        """Return the delay that is in force for a site."""
        return max(self.base(clock, now), clock.slowed, clock.learned)

    def longest(self, clock: Clock) -> float:
        """Return the longest delay of a site at any time of the week, as long as no further errors come."""
        spanned = max((span.delay or 0.0 for span in self.week.spans), default=0.0)
        learned = 0.0 if self.throttle is None else self.backoff.longest
        return max(self.delay, spanned, clock.own or 0.0, clock.slowed, learned)

    def in_force(self, clock: Clock, now: float) -> Delay:
        """Return the delay that is in force for a site, with its origin."""
        base = self.base(clock, now)
        if max(clock.slowed, clock.learned) > base:
            slow = clock.slowed >= clock.learned
            return Delay(max(clock.slowed, clock.learned), "back-off" if slow else "slow answers")
        if clock.own is not None:
            return Delay(base, "robots.txt")
        spanned = self.week and self.week.at(self.wall(now)).delay is not None
        return Delay(base, "time span" if spanned else "definition")

    def opens(self, now: float) -> float:
        """Return the first time from `now` on that no suspension covers."""
        if not self.week:
            return now
        wall = self.wall(now)
        return now + max(self.week.opens(wall) - wall, 0.0)

    def start(self, clock: Clock, now: float) -> float:
        """Return when the next request to a site may begin: `now`, or the time to look again."""
        at = clock.next_at
        if self.week:
            at = max(at, clock.started + self.seconds(clock, now))
        return max(at, now)

    def learn(self, clock: Clock, latency: float, *, well: bool) -> None:
        """Learn from the response time (seconds) of an answer; an error answer, fast as it may be, lowers nothing."""
        if self.throttle is None:
            return
        wanted = latency / self.throttle
        learned = max(wanted, clock.learned + WEIGHT * (wanted - clock.learned))
        if well or learned > clock.learned:
            clock.learned = min(learned, self.backoff.longest)
