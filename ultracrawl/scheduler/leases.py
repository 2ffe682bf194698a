"""Leases sites from the project store: a site is requested by the crawl of one source at a time, with one clock."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice

from ultracrawl.dataclass import dataclass, replace
from ultracrawl.errors import StateError, UserError, WorkError
from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.rules.frontier.mirrors import Mirrors
from ultracrawl.rules.frontier.politeness.clock import NEVER, Clock
from ultracrawl.rules.frontier.site import Site
from ultracrawl.run import CrawlContext
from ultracrawl.run.ports import RETRY_AFTER
from ultracrawl.stores import QueueEntry, SiteClock, SiteStore
from ultracrawl.stores.port.leases import LEASE_SECONDS, RENEW_SECONDS

logger = logging.getLogger(__name__)

HELD_BACK = "held back"
"""Stored as the reason for the delay of a site that asked for a pause, or has a URL to be retried; for display."""
LONG_WAIT = 10.0
"""Seconds from which a site that is left alone is told of."""
EXPIRY_MARGIN = LEASE_SECONDS / 10
"""Seconds before its leases expire from which a crawl sends no request, unless it renews them first."""
TURN_SECONDS = 5.0
"""Seconds of a lease after which a requested site passes to the next crawl that waits for it."""
DRAIN_TIMEOUT = 30.0
"""Seconds for which requests in flight keep a site whose turn is over."""
POLL_INTERVAL = 0.5
"""Seconds between checks of the sites that other crawls, and this one, wait for."""
MAX_SITES_PER_POLL = 200
"""Limit of sites that one check asks for again; the others follow with the next check."""


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
    """Text and time (by the store) of the latest network error."""


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


class EarlierFailures:
    """The leased sites that earlier crawls have left with a back-off: this one tries each of them at once.

    Until the first answer, or failure, such a site has one request at a time and its delay without back-off. A good
    answer ends the back-off; anything else restores it.
    """

    def __init__(self, frontier: Frontier[QueueEntry]) -> None:
        self._frontier = frontier
        self.tried: dict[str, tuple[SiteClock, int]] = {}
        """By site, its stored clock and the limit of its concurrent requests."""

    def add_site(self, name: str, known: SiteClock) -> None:
        """Try a site whose clock was restored without its back-off."""
        site = self._frontier.site(name)
        if site is not None and name not in self.tried:
            self.tried[name] = known, site.max_requests
            self._frontier.limit_site(name, 1)

    def end_trial(self, name: str, *, well: bool) -> None:
        """End or restore the back-off by the first answer (`well`) or failure of a site; later ones change nothing."""
        if name not in self.tried:
            return
        known, _ = self.tried[name]
        self.forget_sites([name])
        if well:
            self._frontier.restore_site(name, 0.0, errors=1)  # the answer takes it off
        else:
            self._frontier.restore_site(name, 0.0, known.errors, known.slowed)

    def forget_sites(self, names: Iterable[str]) -> None:
        """Forget sites whose trial has ended, or whose lease ends before it."""
        for name in names:
            if (tried := self.tried.pop(name, None)) is not None:
                self._frontier.limit_site(name, tried[1])

    def backoff_of(self, name: str) -> float | None:
        """Return the back-off that a failure restores, in seconds; None if a site is not tried."""
        return self.tried[name][0].slowed if name in self.tried else None


class ClockExchange:
    """Copies clocks from the store to the frontier and back.

    The frontier counts in monotonic seconds; the store has a clock that all crawls share. `failures` gets the sites
    that have not failed since `began` (by the store), when this crawl registered.
    """

    def __init__(
        self,
        frontier: Frontier[QueueEntry],
        mirrors: Mirrors,
        held: LeasedSites,
        shared: Callable[[], float],
        monotonic: Callable[[], float],
        source: str,
    ) -> None:
        self.failures = EarlierFailures(frontier)
        self.began = 0.0
        self._frontier = frontier
        self._mirrors = mirrors
        self._source_key = f"source:{source}"
        """Lease key for URLs without a host, unique to the source."""
        self._held = held
        self._shared = shared
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
        if clock.requested or clock.next_at or clock.errors:
            self._restore_site(site, clock)
        for address in addresses:
            if address.slowed and address.requested < self.began:
                address = self._without_backoff(site, address)  # noqa: PLW2901 - the same clock
            wait = min(
                address.next_at - self._shared(), max(address.delay, self._frontier.pace.at(site).delay)
            )
            self._frontier.restore_address(site, self._monotonic() + max(wait, 0.0))

    def _restore_site(self, site: str, known: SiteClock) -> None:
        now, shared, pace = self._monotonic(), self._shared(), self._frontier.pace.at(site)
        stored, is_earlier = known, known.slowed > 0 and known.error_at < self.began
        if is_earlier:
            known = self._without_backoff(site, known)
        # The shared clock may have jumped: no site waits longer than its delays justify.
        longest = max(
            pace.longest_delay(Clock(own_delay=self._frontier.own_delay(site), backoff_delay=known.slowed)),
            known.delay,
        )
        if known.on_hold:
            longest = max(longest, pace.longest_retry_after)
        wait = max(min(known.next_at - shared, longest), 0.0)
        started = now + min(known.requested - shared, wait) if known.requested else NEVER
        self._frontier.restore_site(
            site, now if known.on_hold else now + wait, known.errors, known.slowed, started
        )
        if known.on_hold and wait:
            self._frontier.hold_site(site, now + wait)
        if is_earlier:
            self.failures.add_site(site, stored)

    def _without_backoff(self, site: str, known: SiteClock) -> SiteClock:
        own = Clock(own_delay=self._frontier.own_delay(site))
        return known.without_backoff(self._frontier.pace.at(site).base_delay(own, self._monotonic()))

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
                clock = replace(self._as_stored(known, site.clock, site), last_error=error, error_at=at)
                slowed = self.failures.backoff_of(site.name)
                yield clock if slowed is None else replace(clock, slowed=slowed)
            elif site.address is not None:
                yield self._as_stored(known, site.address.clock, site)

    def _as_stored(self, known: SiteClock, clock: Clock, paced: Site[QueueEntry]) -> SiteClock:
        """Return a clock in the time of the store; `paced` is the site that has the delay."""
        now, shared = self._monotonic(), self._shared()
        delay, held = paced.pace.explain_delay(paced.clock, now), clock.hold_until > clock.due
        return replace(
            known,
            next_at=max(shared + clock.next_at - now, 0.0) if clock.next_at else known.next_at,
            requested=shared + clock.started - now if clock.started > NEVER else known.requested,
            delay=delay.seconds,
            why=HELD_BACK if held else str(delay),
            on_hold=held,
            errors=clock.errors,
            slowed=paced.clock.backoff_delay,
        )


class LeaseRenewal:
    """Registers a crawl with the store of sites and renews its leases.

    How old they are is counted from before the request that renewed them, by the monotonic clock; by that of the store
    too, since the monotonic one stands still while a machine is suspended.
    """

    def __init__(self, store: SiteStore, source: str, monotonic: Callable[[], float]) -> None:
        self._store = store
        self._source = source
        self._monotonic = monotonic
        self._renewed = (NEVER, NEVER)
        """When the leases were renewed, by both clocks."""
        self._beside: SiteStore | None = None
        """The store in the thread that renews the leases when the crawl is late."""
        self.number = 0
        """The fencing token: once the crawl has a new number, nothing is stored under the old one."""

    def enlist(self) -> None:
        """Register the crawl under a new number."""
        asked = self._clocks()
        self.number = self._store.register_crawl(self._source, LEASE_SECONDS)
        self._renewed = asked

    def _clocks(self) -> tuple[float, float]:
        return self._monotonic(), self._store.now()

    def lease_age(self) -> float:
        """Return how many seconds ago the leases were renewed."""
        monotonic, shared = self._renewed
        return max(self._monotonic() - monotonic, self._store.now() - shared)

    @property
    def is_valid(self) -> bool:
        """Whether the leases have not expired."""
        return self.lease_age() < LEASE_SECONDS - EXPIRY_MARGIN

    @property
    def is_due(self) -> bool:
        """Whether the leases should be renewed."""
        return self.lease_age() >= RENEW_SECONDS

    def renew(self) -> bool:
        """Renew the leases; returns False if they had expired, and the crawl holds no site any more."""
        asked = self._clocks()
        if self._store.renew_leases(self.number, LEASE_SECONDS):
            self._renewed = asked
            return True
        logger.warning("%s did not renew its leases in time; it has to lease its sites again", self._source)
        return False

    def renew_beside(self) -> None:
        """Renew the leases in another thread; the crawl itself notices if they had expired."""
        number, asked = self.number, self._clocks()
        try:
            self._beside = self._beside or self._store.beside()
            renewed = self._beside is not None and self._beside.renew_leases(number, LEASE_SECONDS)
        except StateError:
            self.end_beside()
            raise
        if renewed and number == self.number:
            self._renewed = asked

    def end_beside(self) -> None:
        """Close the store of the other thread."""
        if self._beside is not None:
            self._beside.close()
            self._beside = None

    def close_crawl(self) -> None:
        """Unregister the crawl: it holds no lease and waits for none."""
        number, self.number = self.number, 0
        self._store.close_crawl(number)
        self._renewed = (float("inf"), float("inf"))  # never again


class LeaseTurns:
    """Ends the turns of leased sites for which other crawls wait."""

    def __init__(
        self,
        frontier: Frontier[QueueEntry],
        leases: LeasedSites,
        monotonic: Callable[[], float],
        paused: Callable[[], bool],
    ) -> None:
        self._frontier = frontier
        self._leases = leases
        self._monotonic = monotonic
        self._paused = paused
        self._leaving: set[str] = set()
        """Sites whose turn is over and whose requests are still in flight."""

    def end_turns(self, wanted: Iterable[str]) -> list[str]:
        """End finished turns of the sites that other crawls wait for; returns those without requests in flight."""
        now = self._monotonic()
        for name in self._leases.sites_with(wanted):
            lease = self._leases[name]
            if not lease.ended_at and self._is_turn_over(name, lease, now):
                lease.ended_at = now
                self._leaving.add(name)
                self._frontier.end_lease(name)
        self._leaving = {
            name for name in self._leaving if name in self._leases and self._leases[name].ended_at
        }
        return [name for name in self._leaving if self._is_drained(name, now - self._leases[name].ended_at)]

    def _is_turn_over(self, name: str, lease: Lease, now: float) -> bool:
        site = self._frontier.site(name)
        if site is None or site.idle or self._paused():
            return True
        if now - lease.since < TURN_SECONDS:
            return False
        # With long delays a turn has at least one request, but an unused turn ends too.
        return site.clock.started > lease.started or now >= max(site.next_at, lease.since) + TURN_SECONDS

    def _is_drained(self, name: str, seconds: float) -> bool:
        site = self._frontier.site(name)
        return site is None or not (site.in_flight or site.extra_request) or seconds >= DRAIN_TIMEOUT


class SiteLeases:
    """Leases the sites of a crawl from the project store, and gives them back.

    While the crawl has a site, its clock is kept by the frontier, in memory. A site is given back when the frontier
    forgets it, when it is idle or its turn is over and another crawl waits, and at the end. `wake` has the scheduler
    look for the next request; `paused` returns whether the crawl sends no requests for now.
    """

    def __init__(
        self,
        context: CrawlContext,
        frontier: Frontier[QueueEntry],
        mirrors: Mirrors,
        wake: Callable[[], None],
        paused: Callable[[], bool] = lambda: False,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        source = context.source.name
        self._fail = context.run.fail
        self._context = context
        self._store = context.sites
        self._renewal = LeaseRenewal(self._store, source, monotonic)
        self._keep = context.leases.keep
        self._frontier = frontier
        self._wake = wake
        self._paused = paused
        self._monotonic = monotonic
        self._leases = LeasedSites()
        self._clocks = ClockExchange(frontier, mirrors, self._leases, self._store.now, monotonic, source)
        self.failures = self._clocks.failures
        self._turns = LeaseTurns(frontier, self._leases, monotonic, paused)
        self._waiting: dict[str, None] = {}
        self._lease_waiters: defaultdict[str, list[asyncio.Future[None]]] = defaultdict(list)
        """Futures of requests that wait for a site and are not queue entries."""
        self._next_poll_at = 0.0

    def begin(self) -> None:
        """Register the crawl with the store; ends it if another one of its source may still run."""
        try:
            self._renewal.enlist()
        except UserError as error:
            self._fail(error)
            return
        self._clocks.began = self._store.now()
        self._keep(self._renewal)

    def __contains__(self, name: str) -> bool:
        """Return whether a site may be requested now."""
        return name in self._leases and self._renewal.is_valid

    # ---- leasing sites

    def lease_wanted_sites(self) -> None:
        """Lease the sites that the frontier wants; called before each choice of an entry."""
        if not self._renewal.is_valid:
            self._renew()
        if self._frontier.forgotten:
            self._release_forgotten()
        asked: set[str] = set()
        while self._frontier.unleased and (wanted := self._frontier.unleased - asked):
            asked |= wanted
            self._request([name for name in wanted if name not in self._leases and name not in self._waiting])
            for name in wanted & self._frontier.unleased:
                self._frontier.unleased.discard(name)
                if name not in self._leases:
                    self._waiting[name] = None
                self._frontier.yield_slot(name)

    async def take_turn(self, name: str) -> None:
        """Wait for the turn of a site, for a request that the frontier does not hand out."""
        while True:
            await self._wait_for_lease(name)
            now = self._monotonic()
            at = self._frontier.claim_turn(name, now)
            if at > now:
                await asyncio.sleep(at - now)
            if name in self:
                return

    async def _wait_for_lease(self, name: str) -> None:
        self.lease_wanted_sites()
        if name not in self._leases:
            self._request([name])
        if name not in self._leases:
            waiter = asyncio.get_running_loop().create_future()
            self._lease_waiters[name].append(waiter)
            self._waiting[name] = None
            await waiter

    def _request(self, names: Collection[str]) -> None:
        if not names:
            return
        wanted = {name: self._clocks.keys_of(name) for name in names}
        for name, clocks in self._store.lease_sites(self._renewal.number, wanted).items():
            self._add_lease(name, clocks)

    def _add_lease(self, name: str, clocks: list[SiteClock]) -> None:
        self._clocks.restore_clocks(name, clocks)
        self._waiting.pop(name, None)
        self._frontier.lease_site(name)
        site = self._frontier.site(name)
        started = site.clock.started if site is not None else NEVER
        wait = site.next_at - self._monotonic() if site is not None else 0.0
        if wait >= LONG_WAIT:
            why = RETRY_AFTER if clocks[0].on_hold else clocks[0].why
            self._context.run.note_wait(name, why, self._context.clock() + wait)
        self._leases.add_lease(name, Lease(clocks, self._monotonic(), started))
        for waiter in self._lease_waiters.pop(name, ()):
            if not waiter.done():
                waiter.set_result(None)

    # ---- periodic work

    def tick(self) -> None:
        """Renew the leases, end turns that others wait for, and ask again for the sites that this crawl waits for."""
        now = self._monotonic()
        if now < self._next_poll_at:
            return
        self._next_poll_at = now + POLL_INTERVAL
        if self._renewal.is_due:
            self._renew()
        if self._frontier.forgotten:
            self._release_forgotten()
        if self._leases:
            quiet = self._turns.end_turns(self._store.contended_sites(self._renewal.number))
            if quiet:
                self.give_back(quiet)
                self._wake()  # this crawl may still want them
        if self._waiting:
            self._retry_waiting()

    def note_error(self, name: str, error: str) -> None:
        """Note a network error of a site."""
        if name in self._leases:
            self._leases[name].error = (error, self._store.now())

    def store_clocks(self, names: Iterable[str]) -> None:
        """Store the current clocks of leased sites."""
        if leased := [name for name in names if name in self._leases]:
            self._store.put_clocks(self._renewal.number, self._clocks.clocks_of(leased))

    def _renew(self) -> None:
        if self._renewal.renew():
            return
        for name in self._leases:
            self._frontier.end_lease(name)
        self.failures.forget_sites(self._leases)
        self._leases.clear()
        self._frontier.forgotten.clear()
        try:
            self._renewal.enlist()
        except UserError as error:
            raise WorkError(str(error)) from error

    def _retry_waiting(self) -> None:
        """Ask again for sites that other crawls had, and stop waiting for sites without entries."""
        if self._paused():  # a waiting crawl that sends no requests would block the others
            self._stop_waiting(self._waiting)
            return
        names = list(islice(self._waiting, MAX_SITES_PER_POLL))
        unwanted = [name for name in names if not self._is_wanted(name)]
        self._stop_waiting(unwanted)
        for name in names:
            del self._waiting[name]
            if name not in unwanted:
                self._waiting[name] = None  # moves to the end
        self._request(set(names) - set(unwanted))
        if any(name in self._leases for name in names):
            self._wake()

    def _stop_waiting(self, names: Collection[str]) -> None:
        if names:
            self._store.stop_waiting(
                self._renewal.number, [key for name in names for key in self._clocks.keys_of(name)]
            )

    def _is_wanted(self, name: str) -> bool:
        site = self._frontier.site(name)
        return bool(self._lease_waiters.get(name)) or (site is not None and site.active)

    # ---- giving sites back

    def give_back(self, names: Collection[str]) -> None:
        """Give sites back; those with entries are asked for again."""
        self._release(names, self._clocks.clocks_of(names))
        for name in names:
            self._frontier.end_lease(name)

    def change_host(self, name: str) -> None:
        """Switch a site to another host (its mirror), which other crawls lease as a site of its own."""
        if name in self._leases:
            self._release([name], self._clocks.clocks_of([name]))
        self._frontier.reset_site(name)
        self._frontier.end_lease(name)
        self._wake()

    def _release_forgotten(self) -> None:
        gone = {site.name: site for site in self._frontier.forgotten if site.name in self._leases}
        self._frontier.forgotten.clear()
        if gone:
            self._release(gone, self._clocks.clocks_of(gone.keys(), gone))

    def _release(self, names: Collection[str], clocks: Iterable[SiteClock]) -> None:
        """Remove leases and store the final clocks of the keys that no other site needs."""
        self.failures.forget_sites(names)
        unused = self._leases.remove_leases(names)
        if unused:
            last = {clock.site: clock for clock in clocks if clock.site in unused}
            self._store.release_sites(self._renewal.number, last.values())

    def close(self) -> None:
        """Give all sites back and unregister the crawl."""
        self._release_forgotten()
        self.give_back(list(self._leases))
        self._renewal.close_crawl()
        self._next_poll_at = float("inf")
