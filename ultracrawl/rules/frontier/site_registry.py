"""The registry of sites in memory: slots, sites that need entries, and expiry of idle sites."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from heapq import heappop, heappush
from typing import Generic

from ultracrawl.rules.frontier.order import Order
from ultracrawl.rules.frontier.politeness.pace import Pace
from ultracrawl.rules.frontier.site import Address, E, Site
from ultracrawl.rules.frontier.slots import SiteSlots


class SlotChange(Enum):
    """A change of the slot of a site."""

    GRANTED = auto()
    RELEASED = auto()
    """Its queue is empty, or it was withdrawn or given up."""
    YIELDED = auto()
    """Another site gets the slot; this one waits for the next."""


SlotListener = Callable[[str, SlotChange], None]
"""Called with the name of a site and the change of its slot."""


class SiteRegistry(Generic[E]):
    """Creates sites on first use and forgets idle ones.

    A site that waits for a slot and has all its entries in the store is only a name in `slots`. `every` is the bit
    mask of all levels. With `leases` nothing of a site is handed out until it is leased.
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
        """Forgotten sites with a lease; the code that returns the leases empties the list."""
        self.own_delays: dict[str, float] = {}
        """Delays set for single sites, kept when the site is forgotten."""
        self.request_limits: dict[str, int] = {}
        """Maximum concurrent requests of single sites, kept when the site is forgotten."""
        self.slot_listener: SlotListener | None = None
        self._pace = pace
        self._order = order
        self._every = every
        self._leases = leases
        self._expiring: list[tuple[float, int, Site[E] | Address[E]]] = []
        self._expiry_count = 0

    def site(self, name: str) -> Site[E]:
        """Return a site, a new one if it is not in memory."""
        site = self.sites.get(name)
        if site is None:
            pace = self._pace.at(name)
            site = self.sites[name] = Site(name, self.request_limits.get(name, pace.concurrency), pace)
            site.clock.own_delay = self.own_delays.get(name)
            site.located = not self._pace.per_address
            site.leased = not self._leases
            if self.slots.is_waiting(name):  # until now all its entries were in the store
                site.stored = self._every
        return site

    # ---- slots

    def enter_site(self, name: str, *, keep: bool) -> Site[E] | None:
        """Claim a slot for a site and return it; None if it must wait, unless it is in memory or `keep` is set."""
        if keep:
            self.site(name)
        if self.slots.claim_slot(name):
            return self._activate(name)
        return self.sites.get(name)

    def ensure_slot(self, name: str) -> Site[E]:
        """Claim a slot for a site unless it has one, and return the site; it may have to wait."""
        site = self.site(name)
        if not site.active and self.slots.claim_slot(name):
            self._activate(name)
        return site

    def yield_slot(self, site: Site[E]) -> None:
        """Pass the slot of a site to the one that has waited longest; the site waits behind all others."""
        has_entries = bool(site.levels or site.stored)
        self._release_slot(site, SlotChange.YIELDED if has_entries else SlotChange.RELEASED)
        self.hungry.discard(site.name)
        if has_entries:
            self.slots.wait_for_slot(site.name)
        self._grant_free_slot()

    def update_hungry(self, site: Site[E]) -> None:
        """Add a site to `hungry`, or remove it."""
        if site.active and site.levels_to_refill:
            self.hungry.add(site.name)
        else:
            self.hungry.discard(site.name)

    def _activate(self, name: str) -> Site[E]:
        site = self.site(name)
        site.active = True
        site.consecutive = 0
        if not site.located:
            self.unlocated.add(name)
        elif not site.leased:
            self.unleased.add(name)
        if self.slot_listener is not None:
            self.slot_listener(name, SlotChange.GRANTED)
        return site

    def _release_slot(self, site: Site[E], change: SlotChange) -> None:
        site.active = False
        site.ready = False
        self.unleased.discard(site.name)
        self.slots.release_slot()
        if self.slot_listener is not None:
            self.slot_listener(site.name, change)

    def _grant_free_slot(self) -> None:
        name = self.slots.grant_next()
        if name is None:
            return
        only_stored = name not in self.sites
        site = self._activate(name)
        if only_stored:
            site.stored = self._every
        self.update_hungry(site)
        self._order.schedule_site(site)

    # ---- expiry

    def retire_if_idle(self, site: Site[E]) -> None:
        """If a site is idle, release its slot and schedule its expiry."""
        if not site.idle:
            return
        if site.active:
            self._release_slot(site, SlotChange.RELEASED)
            self._grant_free_slot()
        if not site.expiring and not site.clock.errors:
            self._schedule_expiry(site)

    def forget_idle(self, now: float) -> None:
        """Forget the sites that are still idle when their delay is over, and the addresses without sites."""
        while self._expiring and self._expiring[0][0] <= now:
            member = heappop(self._expiring)[2]
            member.expiring = False
            if isinstance(member, Address):
                if not member.sites:
                    self._order.forget_address(member)
            elif member.idle and not member.active and not member.clock.errors:
                self._forget_site(member, now)

    def _forget_site(self, site: Site[E], now: float) -> None:
        if site.clock.next_at > now:
            self._schedule_expiry(site)
            return
        del self.sites[site.name]
        self.unlocated.discard(site.name)
        self.unleased.discard(site.name)
        if self._leases and site.leased:
            self.forgotten.append(site)
        if site.address is not None:
            site.address.sites -= 1
            if not site.address.sites and not site.address.expiring:
                self._schedule_expiry(site.address)

    def _schedule_expiry(self, member: Site[E] | Address[E]) -> None:
        member.expiring = True
        self._expiry_count += 1
        heappush(self._expiring, (member.clock.next_at, self._expiry_count, member))
