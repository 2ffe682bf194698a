"""The queued entries: which are in memory, and which sites have further ones in the store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic

from ultracrawl.rules.frontier.levels import clamp_level
from ultracrawl.rules.frontier.order import Order
from ultracrawl.rules.frontier.site import E, Site
from ultracrawl.rules.frontier.site_registry import SiteRegistry

MAX_BATCH = 2000
"""Maximum number of entries of one site read from the store at once."""
MIN_BATCH = 16
"""Minimum number of entries per query of the store, however many sites share the memory."""


class WaitingEntries(Generic[E]):
    """Queues entries by site and level, at most `capacity` of them in memory.

    If an entry does not fit, `add_entry` returns False, and the site is added to `hungry` when it has room again.
    `level_of` returns the level of an entry; without it all entries are on level 1.
    """

    def __init__(
        self,
        registry: SiteRegistry[E],
        order: Order[E],
        capacity: int,
        *,
        levels: int = 1,
        level_of: Callable[[E], int] | None = None,
        max_inter_docs: int | None = None,
    ) -> None:
        self.size = 0
        """Number of entries in memory."""
        self.given_up: set[str] = set()
        """Sites from which nothing more is handed out in this run."""
        self._registry = registry
        self._sites = registry.sites
        self._slots = registry.slots
        self._hungry = registry.hungry
        self._order = order
        self._capacity = capacity
        self._levels = levels
        self._every = (1 << levels) - 1
        self._level_of = level_of if levels > 1 else None
        self._max_consecutive = max_inter_docs

    @property
    def batch_size(self) -> int:
        """The number of entries to read from the store for a hungry site."""
        share = self._capacity // (self._slots.limit or 1)
        return min(MAX_BATCH, max(share, MIN_BATCH), self._max_consecutive or MAX_BATCH)

    def add_entry(self, entry: E) -> bool:
        """Queue an entry behind the others of its site; False if it must wait in the store."""
        name = entry.site
        if name in self.given_up:
            return False
        # Sites without a slot may use half of the memory, so that there is room for those with one.
        site = self._sites.get(name)
        if site is None or not site.active:
            site = self._registry.enter_site(name, keep=self.size < self._capacity // 2)
        if site is None:
            return False
        bit = self._level_bit(entry)
        if site.stored & bit or self.size >= (self._capacity if site.active else self._capacity // 2):
            self._mark_stored(site, bit)
            return False
        site.append_entry(entry, bit)
        self.size += 1
        if site.ready:
            self._order.enqueue(site, bit)
        elif not site.heap_number:
            self._order.schedule_site(site)
        return True

    def add_first(self, entry: E) -> None:
        """Queue an entry ahead of all others of its site; it must not be in the store."""
        site = self._registry.ensure_slot(entry.site)
        self._put_first(site, entry, 1)
        self._order.schedule_site(site)

    def put_back(self, site: Site[E], entry: E) -> None:
        """Requeue an entry that was handed out, ahead of the others of its level."""
        self._put_first(site, entry, self._level_bit(entry))

    def mark_stored(self, name: str) -> None:
        """Note that a site has entries in the store; it is added to `hungry` when it has room."""
        if name in self.given_up:
            return
        site = self._sites.get(name)
        if site is None or not site.active:
            site = self._registry.enter_site(name, keep=False)
        if site is not None:
            self._mark_stored(site, self._every)

    def hungry_levels(self, name: str) -> list[int]:
        """Return the levels for which a hungry site needs entries."""
        site = self._sites.get(name)
        mask = site.levels_to_refill if site else 0
        return [level for level in range(1, self._levels + 1) if mask & 1 << level - 1]

    def refill_site(self, name: str, entries: list[E], *, more: bool, level: int = 1) -> None:
        """Queue the next stored entries of a level of a hungry site; `more`: the store has further ones."""
        site = self._registry.site(name)
        bit = 1 << level - 1
        site.stored = site.stored | bit if more else site.stored & ~bit
        for entry in entries:
            site.append_entry(entry, bit)
        self.size += len(entries)
        if site.levels_to_refill & ~bit:
            self._hungry.add(name)
        else:
            self._hungry.discard(name)
        self._order.schedule_site(site)
        self._registry.retire_if_idle(site)

    def withdraw_site(self, name: str) -> list[E]:
        """Remove all entries of a site from memory and return them; those in the store are no longer requested."""
        self._hungry.discard(name)
        self._slots.drop_site(name)
        site = self._sites.get(name)
        if site is None:
            return []
        entries = list(site.take_entries())
        self.size -= len(entries)
        site.stored = 0
        self._registry.retire_if_idle(site)
        return entries

    def give_up_site(self, name: str) -> list[E]:
        """Hand out nothing more of a site in this run; returns its entries in memory. Those in the store stay there."""
        self.given_up.add(name)
        return self.withdraw_site(name)

    def readmit_site(self, name: str) -> None:
        """Hand out entries of a site again that was given up: those in the store."""
        if name in self.given_up:
            self.given_up.discard(name)
            self.mark_stored(name)

    def _level_bit(self, entry: E) -> int:
        if self._level_of is None:
            return 1
        return 1 << clamp_level(self._level_of(entry), self._levels) - 1

    def _put_first(self, site: Site[E], entry: E, bit: int) -> None:
        site.prepend_entry(entry, bit)
        self.size += 1
        self._registry.update_hungry(site)
        if site.ready:
            self._order.enqueue(site, bit)

    def _mark_stored(self, site: Site[E], bits: int) -> None:
        site.stored |= bits
        self._registry.update_hungry(site)
