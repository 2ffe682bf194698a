"""When a site is asked next, and why not earlier: what `ultracrawl status SITE` shows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ultracrawl.frontier.clock import Clock
from ultracrawl.frontier.pace import Delay
from ultracrawl.sources import CompiledSource
from ultracrawl.state import StateStore, StoredSite


@dataclass(frozen=True, slots=True)
class SiteOutlook:
    """One site of one source; times are seconds since the epoch."""

    source: str
    row: StoredSite
    delay: Delay
    """The delay that is in force now."""
    queued: dict[int, int]
    """URLs that wait, by level."""
    now: float
    suspended_until: float = 0.0
    """0 if the source is not suspended now."""
    given_up: bool = False
    running: bool = False
    """The latest run has not ended."""

    @property
    def waits(self) -> str:
        """Why it is not asked now; empty if it could be."""
        if self.given_up:
            return f"given up in run {self.row.given_up}"
        if not self.queued:
            return "nothing of it waits"
        if self.suspended_until:
            return "suspended by variable_delay"
        return self.row.why if self.row.next_at > self.now else ""

    @property
    def next_at(self) -> float | None:
        """When it may be asked next; None if nothing of it is asked for in this run."""
        if self.given_up or not self.queued:
            return None
        return max(self.row.next_at, self.suspended_until)

    def as_json(self) -> dict[str, Any]:
        """Return the outlook in the shape of `ultracrawl status SITE --json`."""
        return {
            "source": self.source,
            "site": self.row.site,
            "next": _iso(self.next_at),
            "waits": self.waits,
            "delay": self.delay.seconds,
            "origin": self.delay.origin,
            "queued": {str(level): number for level, number in sorted(self.queued.items())},
            "errors": self.row.errors,
            "last_error": self.row.last_error,
            "last_error_at": _iso(self.row.error_at or None),
            "given_up": self.given_up,
            "stand_in": self.row.stand_in or None,
            "robots": self.row.robots or None,
            "running": self.running,
        }


def outlook(state: StateStore, rules: CompiledSource, site: str, now: float) -> SiteOutlook | None:
    """Return how a source stands with a site at a time (epoch); None if it knows nothing of it."""
    row, queued = state.sites.get(site), state.sites.waiting(site)
    if row is None and not queued:
        return None
    row = row or StoredSite(site)
    pace = rules.pace
    run = next(iter(state.runs(1)), None)
    opens = pace.week.opens(now)
    return SiteOutlook(
        rules.name,
        row,
        pace.in_force(Clock(own=row.own_delay, slowed=row.slowed), now),
        queued,
        now,
        suspended_until=opens if opens > now else 0.0,
        given_up=bool(row.given_up) and run is not None and row.given_up == run.number,
        running=run is not None and not run.finished,
    )


def _iso(seconds: float | None) -> str | None:
    return (
        None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    )
