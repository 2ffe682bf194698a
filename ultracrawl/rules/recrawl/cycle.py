"""Refresh cycles: when one begins, what it does with the queue of the one before, how long an old one is resumed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum


class RefreshMode(StrEnum):
    """What a new cycle asks for, and what becomes of the queue that the cycle before left over (FAST 5.1 J61)."""

    KNOWN = "known"
    """Every known URL is asked for; left-over URLs go first (Ultra Search 7)."""
    APPEND = "append"
    """The start URLs go behind what is left over; known URLs are asked for when something leads to them."""
    PREPEND = "prepend"
    """The start URLs go ahead of what is left over."""
    SCRATCH = "scratch"
    """What is left over is forgotten, the start URLs are queued."""
    SOFT = "soft"
    """Sites with a left-over queue go on with it; only the others are refreshed."""
    ADAPTIVE = "adaptive"
    """The known URLs with the highest scores are asked for, a share of them in each of several minor cycles."""

    @property
    def asks_known(self) -> bool:
        """Whether a known URL is asked for because something leads to it, and not because it is known."""
        return self not in {RefreshMode.KNOWN, RefreshMode.ADAPTIVE}


@dataclass(frozen=True, slots=True)
class CyclePlace:
    """Where in the sequence of cycles a run stands."""

    cycle: int
    """Counts from 1; cycles that were missed are not counted."""
    minor: int
    """Which minor cycle of an adaptive cycle it is, from 0; 0 for all others."""
    due: float
    """When the cycle was to begin, seconds since the epoch; the next ones are counted from here."""
    mode: RefreshMode = RefreshMode.KNOWN


@dataclass(frozen=True, slots=True)
class CycleRule:
    """When cycles of a source begin; times are seconds since the epoch, lengths are seconds."""

    mode: RefreshMode = RefreshMode.KNOWN
    interval: float | None = None
    """Between the starts of two cycles; None: a cycle begins when it is asked for."""
    minors: int = 1
    """Minor cycles of an adaptive cycle, all of equal length (FAST 5.23, 181)."""

    @property
    def for_everything(self) -> CycleRule:
        """The same rule for a cycle that has to ask for every known URL, because the definition changed."""
        return replace(self, mode=RefreshMode.KNOWN)

    def length(self, mode: RefreshMode) -> float | None:
        """Return how long a run in this mode may last until the next one is due."""
        if self.interval is None:
            return None
        return self.interval / (self.minors if mode is RefreshMode.ADAPTIVE else 1)

    def next_due(self, latest: CyclePlace, now: float) -> float | None:
        """Return when the run after `latest` is due; None without an interval.

        A cycle that was to begin later than now was dated by a clock that was ahead: it counts from now.
        """
        length = self.length(latest.mode)
        return None if length is None else min(latest.due, now) + length

    def is_over(self, latest: CyclePlace, now: float) -> bool:
        """Return whether the time of a run is over, so that it is not resumed if it did not end."""
        due = self.next_due(latest, now)
        return due is not None and now >= due

    def following(self, latest: CyclePlace | None, now: float, *, nothing_stored: bool) -> CyclePlace:
        """Return the place of a run that begins now.

        Cycle k begins k intervals after the first; of those that were missed one is held, not all (FAST 5.1
        J60). The first adaptive cycle, when nothing is stored, is one from scratch, and is not divided.
        """
        mode = self.mode
        if nothing_stored and mode is RefreshMode.ADAPTIVE:
            mode = RefreshMode.SCRATCH
        if latest is None:
            return CyclePlace(1, 0, now, mode)
        length, due = self.length(latest.mode), min(latest.due, now)
        passed = 0 if length is None else int((now - due) // length)
        due = now if length is None else due + passed * length
        minor = latest.minor + max(1, passed)
        goes_on = mode is latest.mode is RefreshMode.ADAPTIVE and minor < self.minors
        return (
            CyclePlace(latest.cycle, minor, due, mode)
            if goes_on
            else CyclePlace(latest.cycle + 1, 0, due, mode)
        )


ON_DEMAND = CycleRule()
"""Every known URL is asked for whenever a crawl is begun."""
