"""How often a page changes, estimated from its visits and from its Last-Modified dates."""

from __future__ import annotations

from dataclasses import dataclass
from math import log


@dataclass(frozen=True, slots=True)
class Observation:
    """What one visit that read a page, or found it unchanged, says about its life. Seconds since the epoch."""

    key: int
    at: float
    changed: bool = False
    """Its content differs from that of the visit before; a new date alone is no change."""
    modified: float | None = None
    """Its Last-Modified date, 0 without a credible one; None: as it was."""
    markup: bool | None = None
    """Whether its type is one in which links are looked for; None: as it was."""


@dataclass(frozen=True, slots=True)
class ChangeHistory:
    """What all visits to a page together say. Seconds since the epoch, or seconds."""

    first: float = 0.0
    """The first observation, 0 if there was none."""
    last: float = 0.0
    checks: int = 0
    """Observations after the first: each says whether the page changed since the one before."""
    changes: int = 0
    """How many of the checks found a change."""
    quiet: float = 0.0
    """Sum, over the checks, of the time for which the page was known not to change: since its Last-Modified
    date if that is later than the check before, else since the check before."""
    modified: float = 0.0
    """The latest Last-Modified date, 0 without one."""

    def after(self, seen: Observation) -> ChangeHistory:
        """Return the history with one more observation; a state store does the same to what it holds."""
        modified = self.modified if seen.modified is None else seen.modified
        if not self.first:
            return ChangeHistory(seen.at, seen.at, modified=modified)
        passed = seen.at - self.last
        still = min(passed, seen.at - modified) if modified > 0 else passed
        return ChangeHistory(
            self.first,
            seen.at,
            self.checks + 1,
            self.changes + seen.changed,
            self.quiet + max(still, 0.0),
            modified,
        )

    def interval(self, usual: float) -> float:
        """Return the estimated seconds between two changes; `usual` for a page of which nothing is known.

        * After one visit: the time since its Last-Modified date, or `usual` without one.
        * No change in any check: the time for which it did not change, by the visits or, if longer, by its date, and
          `usual`: as if it had changed once in the time before. One quiet visit is little evidence.
        * Otherwise 1 / frequency, with the frequency as in Cho and Garcia-Molina, "Estimating frequency of change"
          (ACM TOIT 3(3), 2003): without dates, the bias-reduced estimator for regular visits,
          -ln((n - X + 0.5) / (n + 0.5)) for X changes in n checks a mean distance apart, because visits see at
          most one change each; with dates, the estimator for a known date of last change (same paper, section 5),
          (X - 1 - X / (n ln(1 - X / n))) over the time known to be quiet. FAST's time / changes (5.24, 189)
          takes a page that changed at every visit for one that changes once a visit.
        """
        if not self.first:
            return usual
        if not self.checks or self.last <= self.first:
            return max(self.first - self.modified, 1.0) if self._dated else usual
        if not self.changes:
            since = min(self.modified, self.first) if self._dated else self.first
            return usual + self.last - since
        return max(1.0 / self._frequency(), 1.0)

    @property
    def _dated(self) -> bool:
        return 0 < self.modified <= self.last

    def _frequency(self) -> float:
        """Return changes a second; meant for pages with at least one."""
        checks, changes = self.checks, min(self.changes, self.checks)
        if self._dated and changes >= 2 and self.quiet > 0:
            missed = changes / (checks * log(1 - changes / checks)) if changes < checks else 0.0
            return (changes - 1 - missed) / self.quiet
        mean = (self.last - self.first) / checks
        return -log((checks - changes + 0.5) / (checks + 0.5)) / mean
