"""The sites that a crawl has leased, and their clocks on the way between the frontier and the store of the project."""

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
"""Why a site waits that asked to be left alone, or whose URL is to be tried again; for people to read."""


@dataclass(slots=True)
class Lease:
    """A site that this crawl may ask; times are monotonic seconds."""

    clocks: list[SiteClock]
    """What was known of it, and of its address if that counts, when the lease began."""
    since: float
    started: float
    """When the site had been asked before."""
    over: float = 0.0
    """When its turn ended; requests in flight keep it a little longer. 0 if it goes on."""
    error: tuple[str, float] = ("", 0.0)
    """Text and time (epoch) of the latest network error."""


class LeasedSites:
    """The leases of a crawl by site, and the sites by what is leased for them: several may share an address."""

    def __init__(self) -> None:
        self._leases: dict[str, Lease] = {}
        self._sites: defaultdict[str, set[str]] = defaultdict(set)

    def __len__(self) -> int:
        """Return how many sites are leased."""
        return len(self._leases)

    def __iter__(self) -> Iterator[str]:
        """Yield the sites."""
        return iter(self._leases)

    def __contains__(self, site: object) -> bool:
        """Whether a site is leased."""
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
        """Remove the leases of sites; returns what needs not be leased for any site now."""
        left = set()
        for site in sites:
            for clock in self._leases.pop(site).clocks:
                sharing = self._sites[clock.site]
                sharing.discard(site)
                if not sharing:
                    left.add(clock.site)
                    del self._sites[clock.site]
        return left

    def clear(self) -> None:
        """Remove all leases."""
        self._leases.clear()
        self._sites.clear()

    def sites_with(self, leased: Iterable[str]) -> set[str]:
        """Return the sites for which something of this is leased."""
        return {site for one in leased for site in self._sites.get(one, ())}


class ClockExchange:
    """Gives clocks of the store to the frontier, and those of the frontier to the store.

    The frontier counts in monotonic seconds, the store by the clock on the wall, which all crawls share.
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
        self._own = f"source:{source}"
        """What is leased for URLs without a host: other sources have others."""
        self._held = held
        self._wall = wall
        self._monotonic = monotonic

    def keys_of(self, name: str) -> list[str]:
        """Return what has to be leased for a site: the host that is asked, and its address where sites share it."""
        site = self._frontier.site(name)
        address = site.address if site is not None else None
        asked = self._mirrors.stand_in(name) or name or self._own
        return [asked] if address is None else [asked, f"ip:{address.name}"]

    def restore_clocks(self, site: str, known: list[SiteClock]) -> None:
        """Let a site go on from its clock, and its address from that of the address."""
        clock, *addresses = known
        if clock.asked or clock.next_at or clock.errors:
            self._restore_site(site, clock)
        for address in addresses:
            wait = min(address.next_at - self._wall(), max(address.delay, self._frontier.pace.delay))
            self._frontier.clocks.restore_address(site, self._monotonic() + max(wait, 0.0))

    def _restore_site(self, site: str, known: SiteClock) -> None:
        now, wall, pace = self._monotonic(), self._wall(), self._frontier.pace
        clocks = self._frontier.clocks
        # Whatever the wall clock did meanwhile, no site waits longer than there is a reason for.
        longest = max(pace.longest(Clock(own=clocks.own_delay(site), slowed=known.slowed)), known.delay)
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
        """Return the clocks of leased sites, and of their addresses, by which another crawl could go on."""
        return [
            clock
            for name in names
            for clock in self._as_left(
                self._held[name], forgotten[name] if forgotten else self._frontier.site(name)
            )
        ]

    def _as_left(self, lease: Lease, site: Site[QueueEntry] | None) -> Iterator[SiteClock]:
        for number, known in enumerate(lease.clocks):
            if site is None:
                yield known
            elif number == 0:
                error, at = lease.error if lease.error[0] else (known.last_error, known.error_at)
                yield replace(self._as_stored(known, site.clock, site.clock), last_error=error, error_at=at)
            elif site.address is not None:
                yield self._as_stored(known, site.address.clock, site.clock)

    def _as_stored(self, known: SiteClock, clock: Clock, paced: Clock) -> SiteClock:
        """Return a clock in times of the wall; `paced` is the clock that knows the delay."""
        now, wall = self._monotonic(), self._wall()
        delay, held = self._frontier.pace.in_force(paced, now), clock.held > clock.due
        return replace(
            known,
            next_at=max(wall + clock.next_at - now, 0.0) if clock.next_at else known.next_at,
            asked=wall + clock.started - now if clock.started > NEVER else known.asked,
            delay=delay.seconds,
            why=HELD_BACK if held else str(delay),
            on_hold=held,
            errors=clock.errors,
            slowed=clock.slowed,
        )
