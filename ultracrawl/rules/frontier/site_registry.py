"""The sites that are known at a time: who has a place, who wants entries, who may be forgotten."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from heapq import heappop, heappush
from typing import Generic

from ultracrawl.rules.frontier.order import Order
from ultracrawl.rules.frontier.politeness.pace import Pace
from ultracrawl.rules.frontier.site import Address, E, Site
from ultracrawl.rules.frontier.slots import SiteSlots


class Move(Enum):
    """What happened to the place of a site."""

    PLACED = auto()
    """It has one now."""
    LEFT = auto()
    """It has none any more: none of its URLs wait, or nothing more of it goes out."""
    WAITS = auto()
    """It gave its place to another site and waits for the next one."""


Watch = Callable[[str, Move], None]
"""Is told of each move of a site."""


class SiteRegistry(Generic[E]):
    """Sites come when something is to be remembered of them, and go when that is over.

    A site that waits for a place, and whose entries all stand in the store, is a name in the line of `slots` and
    nothing else. `every` is the bits of all levels. With `leases` nothing of a site goes out until it is leased.
    """

    def __init__(
        self, pace: Pace, order: Order[E], limit: int | None, every: int, *, leases: bool = False
    ) -> None:
        self.slots = SiteSlots(limit)
        self.sites: dict[str, Site[E]] = {}
        self.hungry: set[str] = set()
        self.unlocated: set[str] = set()
        self.unleased: set[str] = set()
        self.forgotten: list[Site[E]] = []
        """Sites with a lease that are not remembered any more; emptied by who gives the leases back."""
        self.own: dict[str, float] = {}
        """Delays of single sites; they outlive their site."""
        self.caps: dict[str, int] = {}
        """Requests at once of single sites; they outlive their site."""
        self.watch: Watch | None = None
        """Told of sites that get a place or lose it."""
        self._pace = pace
        self._order = order
        self._every = every
        self._leases = leases
        self._parting: list[tuple[float, int, Site[E] | Address[E]]] = []
        self._partings = 0

    def site(self, name: str) -> Site[E]:
        """Return a site, a new one if it is not remembered."""
        site = self.sites.get(name)
        if site is None:
            site = self.sites[name] = Site(name, self.caps.get(name, self._pace.concurrency))
            site.clock.own = self.own.get(name)
            site.located = not self._pace.per_address
            site.leased = not self._leases
            if self.slots.has_waiting(name):  # until now its entries stood in the store only
                site.stored = self._every
        return site

    # ---- places

    def enter_site(self, name: str, *, keep: bool) -> Site[E] | None:
        """Return a site that has a place, or waits for one; None if it waits and nothing of it is to be kept."""
        if keep:
            self.site(name)
        if self.slots.ask_place(name):
            return self._activate(name)
        return self.sites.get(name)

    def place_site(self, name: str) -> Site[E]:
        """Return a site that has a place, or waits for one."""
        site = self.site(name)
        if not site.active and self.slots.ask_place(name):
            self._activate(name)
        return site

    def step_back(self, site: Site[E]) -> None:
        """Let a site give its place to the one that has waited longest, and wait behind the others."""
        waits = bool(site.levels or site.stored)
        self._leave(site, Move.WAITS if waits else Move.LEFT)
        self.hungry.discard(site.name)
        if waits:
            self.slots.wait_for_place(site.name)
        self._fill_place()

    def note_hunger(self, site: Site[E]) -> None:
        """List a site as hungry, or not."""
        if site.active and site.hunger:
            self.hungry.add(site.name)
        else:
            self.hungry.discard(site.name)

    def _activate(self, name: str) -> Site[E]:
        site = self.site(name)
        site.active = True
        site.in_a_row = 0
        if not site.located:
            self.unlocated.add(name)
        elif not site.leased:
            self.unleased.add(name)
        if self.watch is not None:
            self.watch(name, Move.PLACED)
        return site

    def _leave(self, site: Site[E], move: Move) -> None:
        site.active = False
        site.ready = False
        self.unleased.discard(site.name)
        self.slots.give_place_back()
        if self.watch is not None:
            self.watch(site.name, move)

    def _fill_place(self) -> None:
        name = self.slots.next_site()
        if name is None:
            return
        only_stored = name not in self.sites
        site = self._activate(name)
        if only_stored:
            site.stored = self._every
        self.note_hunger(site)
        self._order.list_site(site)

    # ---- forgetting

    def settle_site(self, site: Site[E]) -> None:
        """Take the place of a site that has nothing left, and see to it that the site is forgotten in time."""
        if not site.idle:
            return
        if site.active:
            self._leave(site, Move.LEFT)
            self._fill_place()
        if not site.parting and not site.clock.errors:
            self._part(site)

    def forget_idle(self, now: float) -> None:
        """Forget the sites that are still idle when their delay is over, and the addresses without sites."""
        while self._parting and self._parting[0][0] <= now:
            one = heappop(self._parting)[2]
            one.parting = False
            if isinstance(one, Address):
                if not one.sites:
                    self._order.forget_address(one)
            elif one.idle and not one.active and not one.clock.errors:
                self._forget_site(one, now)

    def _forget_site(self, site: Site[E], now: float) -> None:
        if site.clock.next_at > now:
            self._part(site)
            return
        del self.sites[site.name]
        self.unlocated.discard(site.name)
        self.unleased.discard(site.name)
        if self._leases and site.leased:
            self.forgotten.append(site)
        if site.address is not None:
            site.address.sites -= 1
            if not site.address.sites and not site.address.parting:
                self._part(site.address)

    def _part(self, one: Site[E] | Address[E]) -> None:
        one.parting = True
        self._partings += 1
        heappush(self._parting, (one.clock.next_at, self._partings, one))
