"""The sites that a crawl has leased, and the transfer of their clocks between frontier and project store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.rules.frontier.mirrors import Mirrors
from ultracrawl.rules.frontier.politeness.clock import NEVER, Clock
from ultracrawl.rules.frontier.site import Site
from ultracrawl.stores import QueueEntry, SiteClock

HELD_BACK = "held back"
"""Stored as the reason for the delay of a site that asked for a pause, or has a URL to be retried; for display."""


@dataclass(slots=True)
class Lease:
    """A site that this crawl may request; times are monotonic seconds."""

    clocks: list[SiteClock]
    """The stored clock of the site, and that of its address if addresses count, when the lease began."""
    since: float
    started: float
    """When the latest request before the lease was made."""
    ended_at: float = 0.0
    """When the turn ended; requests in flight extend the lease a little. 0 while the turn lasts."""
    error: tuple[str, float] = ("", 0.0)
    """Text and time (epoch) of the latest network error."""


class LeasedSites:
    """The leases of a crawl by site, with an index from lease key to sites: several sites may share an address."""

    def __init__(self) -> None:
        self._leases: dict[str, Lease] = {}
        self._sites: defaultdict[str, set[str]] = defaultdict(set)

    def __len__(self) -> int:
        """Return how many sites are leased."""
        return len(self._leases)

    def __iter__(self) -> Iterator[str]:
        """Yield the leased sites."""
        return iter(self._leases)

    def __contains__(self, site: object) -> bool:
        """Return whether a site is leased."""
        return site in self._leases

    def __getitem__(self, site: str) -> Lease:
        """Return the lease of a site."""
        return self._leases[site]

    def add_lease(self, site: str, lease: Lease) -> None:
        """Add the lease of a site."""
        self._leases[site] = lease
        for clock in lease.clocks:
            self._sites[clock.site].add(site)

    def remove_leases(self, sites: Iterable[str]) -> set[str]:
        """Remove the leases of sites; returns the lease keys that no remaining site needs."""
        unused = set()
        for site in sites:
            for clock in self._leases.pop(site).clocks:
                sharing = self._sites[clock.site]
                sharing.discard(site)
                if not sharing:
                    unused.add(clock.site)
                    del self._sites[clock.site]
        return unused

    def clear(self) -> None:
        """Remove all leases."""
        self._leases.clear()
        self._sites.clear()

    def sites_with(self, keys: Iterable[str]) -> set[str]:
        """Return the sites whose leases include one of the keys."""
        return {site for key in keys for site in self._sites.get(key, ())}


class ClockExchange:
    """Copies clocks from the store to the frontier and back.

    The frontier counts in monotonic seconds; the store uses wall-clock time, which all crawls share.
    """

    def __init__(
        self,
        frontier: Frontier[QueueEntry],
        mirrors: Mirrors,
        held: LeasedSites,
        wall: Callable[[], float],
        monotonic: Callable[[], float],
        source: str,
    ) -> None:
        self._frontier = frontier
        self._mirrors = mirrors
        self._source_key = f"source:{source}"
        """Lease key for URLs without a host, unique to the source."""
        self._held = held
        self._wall = wall
        self._monotonic = monotonic

    def keys_of(self, name: str) -> list[str]:
        """Return the lease keys of a site: the host that is requested, and its address where sites share a clock."""
        site = self._frontier.site(name)
        address = site.address if site is not None else None
        host = self._mirrors.active_mirror(name) or name or self._source_key
        return [host] if address is None else [host, f"ip:{address.name}"]

    def restore_clocks(self, site: str, known: list[SiteClock]) -> None:
        """Restore the clock of a site, and those of its address, from the store."""
        clock, *addresses = known
        if clock.asked or clock.next_at or clock.errors:
            self._restore_site(site, clock)
        for address in addresses:
            wait = min(address.next_at - self._wall(), max(address.delay, self._frontier.pace.delay))
            self._frontier.restore_address(site, self._monotonic() + max(wait, 0.0))

    def _restore_site(self, site: str, known: SiteClock) -> None:
        now, wall, pace = self._monotonic(), self._wall(), self._frontier.pace
        clocks = self._frontier
        # The wall clock may have jumped: no site waits longer than its delays justify.
        longest = max(
            pace.longest_delay(Clock(own_delay=clocks.own_delay(site), backoff_delay=known.slowed)),
            known.delay,
        )
        if known.on_hold:
            longest = max(longest, pace.longest_retry_after)
        wait = max(min(known.next_at - wall, longest), 0.0)
        started = now + min(known.asked - wall, wait) if known.asked else NEVER
        clocks.restore_site(site, now if known.on_hold else now + wait, known.errors, known.slowed, started)
        if known.on_hold and wait:
            clocks.hold_site(site, now + wait)

    def clocks_of(
        self, names: Iterable[str], forgotten: Mapping[str, Site[QueueEntry]] | None = None
    ) -> list[SiteClock]:
        """Return the clocks of leased sites and their addresses, for the next crawl of the sites."""
        return [
            clock
            for name in names
            for clock in self._current_clocks(
                self._held[name], forgotten[name] if forgotten else self._frontier.site(name)
            )
        ]

    def _current_clocks(self, lease: Lease, site: Site[QueueEntry] | None) -> Iterator[SiteClock]:
        for number, known in enumerate(lease.clocks):
            if site is None:
                yield known
            elif number == 0:
                error, at = lease.error if lease.error[0] else (known.last_error, known.error_at)
                yield replace(self._as_stored(known, site.clock, site.clock), last_error=error, error_at=at)
            elif site.address is not None:
                yield self._as_stored(known, site.address.clock, site.clock)

    def _as_stored(self, known: SiteClock, clock: Clock, paced: Clock) -> SiteClock:
        """Return a clock in wall-clock time; `paced` is the clock that has the delay."""
        now, wall = self._monotonic(), self._wall()
        delay, held = self._frontier.pace.explain_delay(paced, now), clock.hold_until > clock.due
        return replace(
            known,
            next_at=max(wall + clock.next_at - now, 0.0) if clock.next_at else known.next_at,
            asked=wall + clock.started - now if clock.started > NEVER else known.asked,
            delay=delay.seconds,
            why=HELD_BACK if held else str(delay),
            on_hold=held,
            errors=clock.errors,
            slowed=clock.backoff_delay,
        )
