"""Which sites this crawl may ask: none is asked by the crawls of two sources at a time, and its clock goes along."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from itertools import islice

from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.rules.frontier.mirrors import Mirrors
from ultracrawl.rules.frontier.politeness.clock import NEVER
from ultracrawl.scheduler.leasing.lease_turns import LeaseTurns, SignOfLife
from ultracrawl.scheduler.leasing.leased_sites import ClockExchange, Lease, LeasedSites
from ultracrawl.stores import QueueEntry, SiteClock, SiteStore

LOOK_EVERY = 0.5
"""Seconds between two looks: at sites for which others wait, and at sites for which this crawl waits."""
MOST_ASKED = 200
"""Most sites for which a look asks again; the others have their turn with the next one."""


class SiteLeases:
    """Gets the sites of a crawl from the store of the project, and gives them back.

    While the crawl has a site, the clock of it is that of the frontier, in memory. A site goes back when the frontier
    forgets it, when it has nothing to do and another crawl waits, after a turn if another crawl waits, and at the end.
    `wake` has the scheduler look for the next request; `paused` tells whether the crawl asks nobody for now.
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
        self._sign = SignOfLife(store, source, wall)
        self._frontier = frontier
        self._wake = wake
        self._paused = paused
        self._wall = wall
        self._monotonic = monotonic
        self._held = LeasedSites()
        self._clocks = ClockExchange(frontier, mirrors, self._held, wall, monotonic, source)
        self._turns = LeaseTurns(frontier, self._held, monotonic, paused)
        self._waiting: dict[str, None] = {}
        self._arrivals: defaultdict[str, list[asyncio.Future[None]]] = defaultdict(list)
        """Who waits for a site beside its entries."""
        self._look_at = 0.0

    def begin(self) -> None:
        """Enlist with the store."""
        self._sign.enlist()

    def __contains__(self, name: str) -> bool:
        """Whether a site may be asked now."""
        return name in self._held and self._sign.lasts

    # ---- getting sites

    def attend(self) -> None:
        """Get the sites that the frontier wants; called before each choice of an entry."""
        if not self._sign.lasts:
            self._renew()
        if self._frontier.forgotten:
            self._give_forgotten_back()
        asked: set[str] = set()
        while self._frontier.unleased and (wanted := self._frontier.unleased - asked):
            asked |= wanted
            self._ask([name for name in wanted if name not in self._held and name not in self._waiting])
            for name in wanted & self._frontier.unleased:
                self._frontier.unleased.discard(name)
                if name not in self._held:
                    self._waiting[name] = None
                self._frontier.step_back(name)

    async def take_turn(self, name: str) -> None:
        """Wait until it is the turn of a request to a site that the frontier does not hand out."""
        while True:
            await self._arrival(name)
            now = self._monotonic()
            at = self._frontier.clocks.claim_turn(name, now)
            if at > now:
                await asyncio.sleep(at - now)
            if name in self:
                return

    async def _arrival(self, name: str) -> None:
        self.attend()
        if name not in self._held:
            self._ask([name])
        if name not in self._held:
            arrived = asyncio.get_running_loop().create_future()
            self._arrivals[name].append(arrived)
            self._waiting[name] = None
            await arrived

    def _ask(self, names: Collection[str]) -> None:
        if not names:
            return
        wanted = {name: self._clocks.keys_of(name) for name in names}
        for name, clocks in self._store.ask_sites(self._sign.number, wanted, self._wall()).items():
            self._take(name, clocks)

    def _take(self, name: str, clocks: list[SiteClock]) -> None:
        self._clocks.restore_clocks(name, clocks)
        self._waiting.pop(name, None)
        self._frontier.clocks.lease_site(name)
        site = self._frontier.site(name)
        started = site.clock.started if site is not None else NEVER
        self._held.add_lease(name, Lease(clocks, self._monotonic(), started))
        for arrived in self._arrivals.pop(name, ()):
            if not arrived.done():
                arrived.set_result(None)

    # ---- meanwhile

    def tick(self) -> None:
        """Say that the crawl lives, and look what others wait for, and what has become free."""
        now = self._monotonic()
        if now < self._look_at:
            return
        self._look_at = now + LOOK_EVERY
        if self._sign.due:
            self._renew()
        if self._frontier.forgotten:
            self._give_forgotten_back()
        if self._held:
            quiet = self._turns.end_turns(self._store.waited_sites(self._sign.number))
            if quiet:
                self.give_back(quiet)
                self._wake()  # they may be wanted again
        if self._waiting:
            self._ask_again()

    def note_error(self, name: str, error: str) -> None:
        """Take note of a network error of a site."""
        if name in self._held:
            self._held[name].error = (error, self._wall())

    def store_clocks(self, names: Iterable[str]) -> None:
        """Store the clocks of sites as they are now."""
        if held := [name for name in names if name in self._held]:
            self._store.put_clocks(self._sign.number, self._clocks.clocks_of(held))

    def _renew(self) -> None:
        if self._sign.renew():
            return
        for name in self._held:
            self._frontier.clocks.end_lease(name)
        self._held.clear()
        self._frontier.forgotten.clear()
        self._sign.enlist()

    def _ask_again(self) -> None:
        """Ask for sites that others had, and for nothing that is not wanted any more."""
        if self._paused():  # who waits and asks nobody would hold up the others in line
            self._stop_waiting(self._waiting)
            return
        names = list(islice(self._waiting, MOST_ASKED))
        unwanted = [name for name in names if not self._is_wanted(name)]
        self._stop_waiting(unwanted)
        for name in names:
            del self._waiting[name]
            if name not in unwanted:
                self._waiting[name] = None  # behind the others
        self._ask(set(names) - set(unwanted))
        if any(name in self._held for name in names):
            self._wake()

    def _stop_waiting(self, names: Collection[str]) -> None:
        if names:
            self._store.stop_waiting(
                self._sign.number, [key for name in names for key in self._clocks.keys_of(name)]
            )

    def _is_wanted(self, name: str) -> bool:
        site = self._frontier.site(name)
        return bool(self._arrivals.get(name)) or (site is not None and site.active)

    # ---- giving sites back

    def give_back(self, names: Collection[str]) -> None:
        """Give sites back; those that are still wanted are asked for again."""
        self._release(names, self._clocks.clocks_of(names))
        for name in names:
            self._frontier.clocks.end_lease(name)

    def change_host(self, name: str) -> None:
        """Go on with another host for a site, which stands in for the one before: it is a site of its own to others."""
        if name in self._held:
            self._release([name], self._clocks.clocks_of([name]))
        self._frontier.clocks.renew_site(name)
        self._frontier.clocks.end_lease(name)
        self._wake()

    def _give_forgotten_back(self) -> None:
        gone = {site.name: site for site in self._frontier.forgotten if site.name in self._held}
        self._frontier.forgotten.clear()
        if gone:
            self._release(gone, self._clocks.clocks_of(gone.keys(), gone))

    def _release(self, names: Collection[str], clocks: Iterable[SiteClock]) -> None:
        left = self._held.remove_leases(names)
        if left:
            last = {clock.site: clock for clock in clocks if clock.site in left}
            self._store.release_sites(self._sign.number, last.values())

    def close(self) -> None:
        """Give all back: nothing more is asked."""
        self._give_forgotten_back()
        self.give_back(list(self._held))
        self._sign.strike_off()
        self._look_at = float("inf")
