"""The politeness delay of a site: all reasons for waiting combined."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from ultracrawl.dataclass import dataclass, field, replace
from ultracrawl.rules.frontier.politeness.backoff import BackOff
from ultracrawl.rules.frontier.politeness.clock import Clock
from ultracrawl.rules.frontier.politeness.windows import Week
from ultracrawl.rules.urls.site_table import NO_SITES, SiteTable

LATENCY_WEIGHT = 0.5
"""Weight of the latest response in the moving average of response times."""


class Delay(NamedTuple):
    """The seconds between the starts of two requests to a site, and the origin of that delay."""

    seconds: float
    origin: str

    def __str__(self) -> str:
        return f"{self.seconds:g} s ({self.origin})"


@dataclass(frozen=True)
class Pace:
    """The politeness settings of one source.

    The delay is that of robots.txt, else that of the time span, else `delay`; back-off and slow responses lengthen
    it (FAST 3.1 B). A suspension applies whatever the delay.
    """

    delay: float = 0.0
    concurrency: int = 2
    """Concurrent requests to a site (with `per_address`: to an IP address)."""
    per_address: bool = False
    """Whether hosts with the same IP address share delay and concurrency."""
    week: Week = field(default_factory=Week)
    backoff: BackOff = field(default_factory=BackOff)
    longest_retry_after: float = 3600.0
    throttle: float | None = None
    """Average number of concurrent requests that a site should work on; None: slow responses change nothing."""
    origin: str = "definition"
    """What decides the delay if nothing else does."""
    overlays: SiteTable[Pace] = NO_SITES
    """The settings of single sites."""
    wall_clock: Callable[[float], float] = field(default=lambda now: now - time.monotonic() + time.time())
    """Converts a time of the monotonic clock to seconds since the epoch; called only if there are time spans."""

    def at(self, site: str) -> Pace:
        """Return the settings of a site."""
        return (self.overlays.find(site) or self) if self.overlays else self

    def with_wall_clock(self, wall_clock: Callable[[float], float]) -> Pace:
        """Return the same settings with another wall clock."""
        own = {key: pace.with_wall_clock(wall_clock) for key, pace in self.overlays.values.items()}
        return replace(self, overlays=SiteTable(own), wall_clock=wall_clock)

    @property
    def error_limit(self) -> int:
        """The number of network errors at which a site is given up; each answer takes one off."""
        return self.backoff.limit

    def base_delay(self, clock: Clock, now: float) -> float:
        """Return the delay without back-off and slow responses."""
        if clock.own_delay is not None:
            return clock.own_delay
        if self.week:
            span_delay = self.week.at(self.wall_clock(now)).delay
            return self.delay if span_delay is None else span_delay
        return self.delay

    def current_delay(self, clock: Clock, now: float) -> float:
        """Return the delay of a site in seconds."""
        return max(self.base_delay(clock, now), clock.backoff_delay, clock.latency_delay)

    def longest_delay(self, clock: Clock) -> float:
        """Return the longest delay that a site can have at any time of the week without further errors."""
        span_delay = max((span.delay or 0.0 for span in self.week.spans), default=0.0)
        latency_delay = 0.0 if self.throttle is None else self.backoff.longest
        return max(self.delay, span_delay, clock.own_delay or 0.0, clock.backoff_delay, latency_delay)

    def explain_delay(self, clock: Clock, now: float) -> Delay:
        """Return the delay of a site with its origin."""
        base = self.base_delay(clock, now)
        if max(clock.backoff_delay, clock.latency_delay) > base:
            is_backoff = clock.backoff_delay >= clock.latency_delay
            origin = "back-off" if is_backoff else "slow answers"
            return Delay(max(clock.backoff_delay, clock.latency_delay), origin)
        if clock.own_delay is not None:
            return Delay(base, "robots.txt")
        is_span = self.week and self.week.at(self.wall_clock(now)).delay is not None
        return Delay(base, "time span" if is_span else self.origin)

    def next_open(self, now: float) -> float:
        """Return the first time from `now` on without a suspension."""
        if not self.week:
            return now
        wall = self.wall_clock(now)
        return now + max(self.week.opens(wall) - wall, 0.0)

    def next_start(self, clock: Clock, now: float) -> float:
        """Return when the next request to a site may start: `now`, or the time to check again."""
        at = clock.next_at
        if self.week:
            at = max(at, clock.started + self.current_delay(clock, now), self.next_open(now))
        return max(at, now)

    def learn_latency(self, clock: Clock, latency: float, *, well: bool) -> None:
        """Adapt the delay to a response time in seconds; an error response, however fast, does not shorten it."""
        if self.throttle is None:
            return
        target = latency / self.throttle
        delay = max(target, clock.latency_delay + LATENCY_WEIGHT * (target - clock.latency_delay))
        if well or delay > clock.latency_delay:
            clock.latency_delay = min(delay, self.backoff.longest)
