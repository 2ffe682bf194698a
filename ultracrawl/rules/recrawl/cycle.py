"""Refresh cycles: when they begin, what they request, and when an unfinished one is no longer resumed."""

from __future__ import annotations

from enum import StrEnum

from ultracrawl.dataclass import dataclass, replace

MAX_DELAY = 120.0
"""Seconds by which a run may begin after it was due and count as in time."""
DELAY_SHARE = 0.1
"""The share of the interval by which a run may begin late and count as in time, if that is less."""


class RefreshMode(StrEnum):
    """The URLs that a new cycle requests, and the use of the queue left by the cycle before (FAST 5.1 J61)."""

    KNOWN = "known"
    """All known URLs are requested; left-over URLs go first (Ultra Search 7)."""
    APPEND = "append"
    """The start URLs go behind the left-over queue; known URLs are requested when links lead to them."""
    PREPEND = "prepend"
    """The start URLs go ahead of the left-over queue."""
    SCRATCH = "scratch"
    """The left-over queue is discarded, the start URLs are queued."""
    SOFT = "soft"
    """Sites with a left-over queue continue it; only the others are refreshed."""
    ADAPTIVE = "adaptive"
    """The known URLs with the highest scores are requested, a share of them in each of several minor cycles."""

    @property
    def requests_known_when_linked(self) -> bool:
        """Whether known URLs are requested only when links lead to them."""
        return self not in {RefreshMode.KNOWN, RefreshMode.ADAPTIVE}


@dataclass(frozen=True, slots=True)
class CyclePlace:
    """The position of a run in the sequence of cycles."""

    cycle: int
    """Counts from 1, without missed cycles."""
    minor: int
    """The number of the minor cycle in an adaptive cycle, from 0; 0 in all other modes."""
    due: float
    """When the cycle was due, seconds since the epoch; the next ones are counted from here."""
    mode: RefreshMode = RefreshMode.KNOWN


@dataclass(frozen=True, slots=True)
class CycleRule:
    """When cycles of a source begin; times are seconds since the epoch, lengths are seconds."""

    mode: RefreshMode = RefreshMode.KNOWN
    interval: float | None = None
    """Seconds between the starts of two cycles; None: cycles begin on request."""
    minors: int = 1
    """Number of minor cycles in an adaptive cycle, all of equal length (FAST 5.23, 181)."""

    @property
    def for_everything(self) -> CycleRule:
        """The same rule for a cycle that requests all known URLs, because the definition has changed."""
        return replace(self, mode=RefreshMode.KNOWN)

    def length(self, mode: RefreshMode) -> float | None:
        """Return the time between the start of a run in this mode and the next one; None without an interval."""
        if self.interval is None:
            return None
        return self.interval / (self.minors if mode is RefreshMode.ADAPTIVE else 1)

    def next_due(self, latest: CyclePlace, now: float) -> float | None:
        """Return when the run after `latest` is due; None without an interval.

        If `latest` is due in the future, a clock was ahead: the interval counts from now.
        """
        length = self.length(latest.mode)
        return None if length is None else min(latest.due, now) + length

    def ends(self, place: CyclePlace, begun: float) -> float | None:
        """Return when a run that began then at a place in the sequence has to end; None without an interval.

        A run that began in time ends when the next one is due, so that cycles keep their times. One that began late,
        because it waited for a slot, has a whole interval from its begin: waiting does not count as crawling.
        """
        length = self.length(place.mode)
        if length is None:
            return None
        due = min(place.due, begun)
        return (due if begun - due <= min(MAX_DELAY, length * DELAY_SHARE) else begun) + length

    def is_over(self, latest: CyclePlace, begun: float, now: float) -> bool:
        """Return whether a run that began then has to end, so that an unfinished one is not resumed."""
        end = self.ends(latest, min(begun, now))
        return end is not None and now >= end

    def following(self, latest: CyclePlace | None, now: float, *, nothing_stored: bool) -> CyclePlace:
        """Return the position of a run that begins now.

        Cycle k begins k intervals after the first; of missed cycles only one is made up for (FAST 5.1
        J60). The first adaptive cycle, with nothing stored, is one from scratch without minor cycles.
        """
        mode = self.mode
        if nothing_stored and mode is RefreshMode.ADAPTIVE:
            mode = RefreshMode.SCRATCH
        if latest is None:
            return CyclePlace(1, 0, now, mode)
        length, due = self.length(latest.mode), min(latest.due, now)
        elapsed = 0 if length is None else int((now - due) // length)
        due = now if length is None else due + elapsed * length
        minor = latest.minor + max(1, elapsed)
        if mode is latest.mode is RefreshMode.ADAPTIVE and minor < self.minors:
            return CyclePlace(latest.cycle, minor, due, mode)
        return CyclePlace(latest.cycle + 1, 0, due, mode)


ON_DEMAND = CycleRule()
"""All known URLs are requested whenever a crawl is started."""
