"""Leases sites from the project store: a site is requested by the crawl of one source at a time, with one clock."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from itertools import islice

from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.rules.frontier.mirrors import Mirrors
from ultracrawl.rules.frontier.politeness.clock import NEVER
from ultracrawl.scheduler.leasing.lease_turns import LeaseRenewal, LeaseTurns
from ultracrawl.scheduler.leasing.leased_sites import ClockExchange, Lease, LeasedSites
from ultracrawl.stores import QueueEntry, SiteClock, SiteStore

POLL_INTERVAL = 0.5
"""Seconds between checks of the sites that other crawls, and this one, wait for."""
MAX_SITES_PER_POLL = 200
"""Limit of sites that one check asks for again; the others follow with the next check."""


class SiteLeases:
    """Leases the sites of a crawl from the project store, and gives them back.

    While the crawl has a site, its clock is kept by the frontier, in memory. A site is given back when the frontier
    forgets it, when it is idle or its turn is over and another crawl waits, and at the end. `wake` has the scheduler
    look for the next request; `paused` returns whether the crawl sends no requests for now.
    """

    def __init__(
        self,
        store: SiteStore,
        source: str,
        frontier: Frontier[QueueEntry],
        mirrors: Mirrors,
        *,
        wake: Callable[[], None],
        paused: Callable[[], bool] = lambda: False,
        wall: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._renewal = LeaseRenewal(store, source, wall)
        self._frontier = frontier
        self._wake = wake
        self._paused = paused
        self._wall = wall
        self._monotonic = monotonic
        self._leases = LeasedSites()
        self._clocks = ClockExchange(frontier, mirrors, self._leases, wall, monotonic, source)
        self._turns = LeaseTurns(frontier, self._leases, monotonic, paused)
        self._waiting: dict[str, None] = {}
        self._lease_waiters: defaultdict[str, list[asyncio.Future[None]]] = defaultdict(list)
        """Futures of requests that wait for a site and are not queue entries."""
        self._next_poll_at = 0.0

    def begin(self) -> None:
        """Register the crawl with the store."""
        self._renewal.enlist()

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
        for name, clocks in self._store.lease_sites(self._renewal.number, wanted, self._wall()).items():
            self._add_lease(name, clocks)

    def _add_lease(self, name: str, clocks: list[SiteClock]) -> None:
        self._clocks.restore_clocks(name, clocks)
        self._waiting.pop(name, None)
        self._frontier.lease_site(name)
        site = self._frontier.site(name)
        started = site.clock.started if site is not None else NEVER
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
            self._leases[name].error = (error, self._wall())

    def store_clocks(self, names: Iterable[str]) -> None:
        """Store the current clocks of leased sites."""
        if leased := [name for name in names if name in self._leases]:
            self._store.put_clocks(self._renewal.number, self._clocks.clocks_of(leased))

    def _renew(self) -> None:
        if self._renewal.renew():
            return
        for name in self._leases:
            self._frontier.end_lease(name)
        self._leases.clear()
        self._frontier.forgotten.clear()
        self._renewal.enlist()

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
