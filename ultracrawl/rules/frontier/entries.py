"""The entries that wait: which are in memory, which wait in the store only, and which sites want theirs back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic

from ultracrawl.rules.frontier.levels import nearest
from ultracrawl.rules.frontier.order import Order
from ultracrawl.rules.frontier.site import E, Site
from ultracrawl.rules.frontier.site_registry import SiteRegistry

BATCH = 2000
"""Most entries of one site that are taken from the store at once."""
LEAST_BATCH = 16
"""Entries that are worth a query of the store, however many sites share the memory."""


class WaitingEntries(Generic[E]):
    """Queues entries by site and level; at most `capacity` of them are in memory.

    A site whose entries do not fit is told so by `add_entry`, and is named in `hungry` when it has room again.
    `level_of` gives the level of an entry; without it all are on level 1.
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
        """Entries in memory."""
        self.given_up: set[str] = set()
        """Sites from which nothing more goes out in this run."""
        self._registry = registry
        self._sites = registry.sites
        self._slots = registry.slots
        self._hungry = registry.hungry
        self._order = order
        self._capacity = capacity
        self._levels = levels
        self._every = (1 << levels) - 1
        self._level_of = level_of if levels > 1 else None
        self._in_a_row = max_inter_docs

    @property
    def batch_size(self) -> int:
        """How many entries of a hungry site are worth taking from the store."""
        share = self._capacity // (self._slots.limit or 1)
        return min(BATCH, max(share, LEAST_BATCH), self._in_a_row or BATCH)

    def add_entry(self, entry: E) -> bool:
        """Queue an entry behind the others of its site; False if it must wait in the store instead."""
        name = entry.site
        if name in self.given_up:
            return False
        # Sites without a place may take half of the memory, so that those with one find room.
        site = self._sites.get(name)
        if site is None or not site.active:
            site = self._registry.enter_site(name, keep=self.size < self._capacity // 2)
        if site is None:
            return False
        bit = self._level_bit(entry)
        if site.stored & bit or self.size >= (self._capacity if site.active else self._capacity // 2):
            self._note_stored(site, bit)
            return False
        site.append_entry(entry, bit)
        self.size += 1
        if site.ready:
            self._order.stand_in_line(site, bit)
        elif not site.listed:
            self._order.list_site(site)
        return True

    def add_first(self, entry: E) -> None:
        """Queue an entry ahead of all others of its site; it must not be in the store."""
        site = self._registry.place_site(entry.site)
        self._put_first(site, entry, 1)
        self._order.list_site(site)

    def put_back(self, site: Site[E], entry: E) -> None:
        """Queue an entry that was handed out ahead of the others of its level."""
        self._put_first(site, entry, self._level_bit(entry))

    def leave_stored(self, name: str) -> None:
        """Note that entries of a site wait in the store only; the site turns up in `hungry` when it has room."""
        if name in self.given_up:
            return
        site = self._sites.get(name)
        if site is None or not site.active:
            site = self._registry.enter_site(name, keep=False)
        if site is not None:
            self._note_stored(site, self._every)

    def hungry_levels(self, name: str) -> list[int]:
        """Return the levels of which a hungry site wants entries."""
        site = self._sites.get(name)
        wanted = site.hunger if site else 0
        return [level for level in range(1, self._levels + 1) if wanted & 1 << level - 1]

    def refill_site(self, name: str, entries: list[E], *, more: bool, level: int = 1) -> None:
        """Give a hungry site its next stored entries of a level; `more`: others of it are left in the store."""
        site = self._registry.site(name)
        bit = 1 << level - 1
        site.stored = site.stored | bit if more else site.stored & ~bit
        for entry in entries:
            site.append_entry(entry, bit)
        self.size += len(entries)
        if site.hunger & ~bit:
            self._hungry.add(name)
        else:
            self._hungry.discard(name)
        self._order.list_site(site)
        self._registry.settle_site(site)

    def withdraw_site(self, name: str) -> list[E]:
        """Take all entries of a site that wait in memory out of the queue; what waits in the store is not asked for."""
        self._hungry.discard(name)
        self._slots.drop_site(name)
        site = self._sites.get(name)
        if site is None:
            return []
        entries = list(site.take_entries())
        self.size -= len(entries)
        site.stored = 0
        self._registry.settle_site(site)
        return entries

    def give_up_site(self, name: str) -> list[E]:
        """Let nothing more of a site out in this run; what waits stays in the store. Returns what was in memory."""
        self.given_up.add(name)
        return self.withdraw_site(name)

    def _level_bit(self, entry: E) -> int:
        if self._level_of is None:
            return 1
        return 1 << nearest(self._level_of(entry), self._levels) - 1

    def _put_first(self, site: Site[E], entry: E, bit: int) -> None:
        site.prepend_entry(entry, bit)
        self.size += 1
        self._registry.note_hunger(site)
        if site.ready:
            self._order.stand_in_line(site, bit)

    def _note_stored(self, site: Site[E], bits: int) -> None:
        site.stored |= bits
        self._registry.note_hunger(site)
