"""The state of a site for `ultracrawl status SITE`: when it is requested next and why not earlier."""

from __future__ import annotations

from typing import Any

from ultracrawl.dataclass import dataclass, replace
from ultracrawl.model.dates import iso
from ultracrawl.rules.frontier.politeness.clock import Clock
from ultracrawl.rules.frontier.politeness.pace import Delay
from ultracrawl.sources import CompiledSource
from ultracrawl.stores import LeaseHolder, SiteClock, SiteStore, Store, StoredSite
from ultracrawl.stores.control_channel import Phase


@dataclass(frozen=True, slots=True)
class SiteView:
    """One site of one source; times are seconds since the epoch."""

    source: str
    row: StoredSite
    clock: SiteClock
    """The politeness clock of the site, shared by the sources of the project."""
    delay: Delay
    """The delay that is in force now."""
    queued: dict[int, int]
    """Number of queued URLs by level."""
    now: float
    suspended_until: float = 0.0
    """End of a suspension by `variable_delay`; 0 if not suspended."""
    given_up: bool = False
    phase: Phase | None = None
    """Phase of the running crawl of the source; None if there is none."""
    holder: LeaseHolder | None = None
    """The crawl that holds the lease of the site."""
    unfinished: bool = False
    """Whether the latest run has not ended; its last requests may have to be repeated."""

    @property
    def paused(self) -> bool:
        """Whether the crawl is paused or pausing."""
        return self.phase in (Phase.PAUSED, Phase.PAUSING)

    @property
    def waits_for_another(self) -> bool:
        """Whether the crawl of the source waits because the crawl of another source holds the lease."""
        return self.phase is not None and self.holder is not None and self.holder.source != self.source

    @property
    def waits(self) -> str:
        """Why nothing is requested now; empty if it could be."""
        if self.given_up:
            return f"given up in run {self.row.given_up}"
        idle = "" if self.queued else "none of its URLs are queued"
        if idle and not self.unfinished:
            return idle
        if self.paused:
            return "the crawl is paused"
        if self.suspended_until:
            return "suspended by variable_delay"
        if self.holder is not None and self.waits_for_another:
            return f"the crawl of {self.holder.source} has its lease"
        return self.clock.why if self.clock.next_at > self.now else idle

    @property
    def next_at(self) -> float | None:
        """Time of the next possible request; None if no URL is queued, or the crawl is paused or gave the site up."""
        if self.given_up or self.paused or not self.queued:
            return None
        return max(self.clock.next_at, self.suspended_until)

    def as_json(self) -> dict[str, Any]:
        """Return the view in the shape of `ultracrawl status SITE --json`."""
        return {
            "source": self.source,
            "site": self.row.site,
            "next": iso(self.next_at, "milliseconds"),
            "waits": self.waits,
            "delay": self.delay.seconds,
            "origin": self.delay.origin,
            "queued": {str(level): number for level, number in sorted(self.queued.items())},
            "errors": self.clock.errors,
            "last_error": self.clock.last_error,
            "last_error_at": iso(self.clock.error_at, "milliseconds"),
            "given_up": self.given_up,
            "stand_in": self.row.stand_in or None,
            "robots": self.row.robots or None,
            "running": self.phase is not None,
            "holder": self._holder_as_json(),
        }

    def _holder_as_json(self) -> dict[str, Any] | None:
        holder = self.holder
        if holder is None:
            return None
        since = iso(holder.since, "milliseconds")
        process = {"source": holder.source, "machine": holder.machine, "pid": holder.pid, "since": since}
        return {**process, "waiting": list(holder.waiting)}


def view_site(
    state: Store, sites: SiteStore, rules: CompiledSource, site: str, now: float, phase: Phase | None = None
) -> SiteView | None:
    """Return the view of a site at a time (seconds since the epoch); None if the source does not know the site.

    `phase` is the phase of the running crawl of the source, if there is one.
    """
    row, queued = state.sites.get_site(site), state.queue.number_by_level(site)
    asked = row.stand_in or site if row else site
    clock, holder = sites.get_clock(asked) or SiteClock(asked), sites.lease_holder(asked)
    held = holder is not None and holder.source == rules.name
    if row is None and not queued and not held:
        return None
    row, pace = row or StoredSite(site), rules.pace.at(site)
    delay = pace.explain_delay(Clock(own_delay=row.own_delay, backoff_delay=clock.slowed), now)
    if held and phase is None:  # its crawl was killed, and may have sent requests until now
        next_at = max(clock.next_at, now + delay.seconds)
        clock, holder = replace(clock, next_at=next_at, requested=now, why=str(delay)), None
    if phase is None and holder is None and clock.slowed:
        clock = clock.without_backoff(pace.base_delay(Clock(own_delay=row.own_delay), now))
    run = next(iter(state.runs(1)), None)
    opens = pace.week.opens(now)
    return SiteView(
        rules.name,
        row,
        clock,
        delay,
        queued,
        now,
        suspended_until=opens if opens > now else 0.0,
        given_up=bool(row.given_up) and run is not None and row.given_up == run.number,
        phase=phase,
        holder=holder,
        unfinished=run is not None and not run.finished,
    )
