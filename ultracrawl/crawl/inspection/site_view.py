"""When a site is asked next, and why not earlier: what `ultracrawl status SITE` shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ultracrawl.model.dates import iso
from ultracrawl.rules.frontier.politeness.clock import Clock
from ultracrawl.rules.frontier.politeness.pace import Delay
from ultracrawl.sources import CompiledSource
from ultracrawl.stores import Store, StoredSite
from ultracrawl.stores.control_channel import Phase


@dataclass(frozen=True, slots=True)
class SiteView:
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
    phase: Phase | None = None
    """What a crawl is doing just now; None if there is none."""

    unfinished: bool = False
    """Whether a run goes on, or was cut off; then what was asked for last may have to be asked for again."""

    @property
    def paused(self) -> bool:
        """Whether a crawl waits to be told to go on."""
        return self.phase in (Phase.PAUSED, Phase.PAUSING)

    @property
    def waits(self) -> str:
        """Why it is not asked now; empty if it could be."""
        if self.given_up:
            return f"given up in run {self.row.given_up}"
        idle = "" if self.queued else "none of its URLs wait"
        if idle and not self.unfinished:
            return idle
        if self.paused:
            return "the crawl is paused"
        if self.suspended_until:
            return "suspended by variable_delay"
        return self.row.why if self.row.next_at > self.now else idle

    @property
    def next_at(self) -> float | None:
        """When it may be asked next; None if nothing of it is asked for in this run, or as long as that is paused."""
        if self.given_up or self.paused or not self.queued:
            return None
        return max(self.row.next_at, self.suspended_until)

    def as_json(self) -> dict[str, Any]:
        """Return it in the shape of `ultracrawl status SITE --json`."""
        return {
            "source": self.source,
            "site": self.row.site,
            "next": iso(self.next_at, "milliseconds"),
            "waits": self.waits,
            "delay": self.delay.seconds,
            "origin": self.delay.origin,
            "queued": {str(level): number for level, number in sorted(self.queued.items())},
            "errors": self.row.errors,
            "last_error": self.row.last_error,
            "last_error_at": iso(self.row.error_at, "milliseconds"),
            "given_up": self.given_up,
            "stand_in": self.row.stand_in or None,
            "robots": self.row.robots or None,
            "running": self.phase is not None,
        }


def view_site(
    state: Store, rules: CompiledSource, site: str, now: float, phase: Phase | None = None
) -> SiteView | None:
    """Return how a source stands with a site at a time (epoch); None if it knows nothing of it.

    `phase` is what the crawl of the source does just now, if there is one.
    """
    row, queued = state.sites.get_site(site), state.queue.number_by_level(site)
    if row is None and not queued:
        return None
    row = row or StoredSite(site)
    pace = rules.pace
    run = next(iter(state.runs(1)), None)
    opens = pace.week.opens(now)
    return SiteView(
        rules.name,
        row,
        pace.in_force(Clock(own=row.own_delay, slowed=row.slowed), now),
        queued,
        now,
        suspended_until=opens if opens > now else 0.0,
        given_up=bool(row.given_up) and run is not None and row.given_up == run.number,
        phase=phase,
        unfinished=run is not None and not run.finished,
    )
