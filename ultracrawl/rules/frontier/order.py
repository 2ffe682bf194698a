"""The order in which sites take turns, by their own clocks and by those of shared IP addresses."""

from __future__ import annotations

from typing import Generic

from ultracrawl.rules.frontier.levels import LevelSelector
from ultracrawl.rules.frontier.politeness.pace import Pace
from ultracrawl.rules.frontier.ready_queue import ReadyQueue
from ultracrawl.rules.frontier.site import Address, E, Site

NO_WAIT = float("-inf")


class Order(Generic[E]):
    """Chooses the next site and its level.

    Sites without a shared address are queued directly; sites of a shared address are queued in the queue of the
    address, which is queued in their place.
    """

    def __init__(self, pace: Pace, selector: LevelSelector) -> None:
        self._pace = pace
        self._selector = selector
        self._turns: ReadyQueue[Site[E] | Address[E]] = ReadyQueue(selector.levels)
        self._addresses: dict[str, Address[E]] = {}

    def choose_site(self, now: float) -> tuple[Site[E], int] | None:
        """Remove the next site from its queue and return it with the bit of its level; None if no site is ready."""
        while (member := self._turns.pop_due(now)) is not None:
            if isinstance(member, Site):
                self._enqueue_or_schedule(member, self._turns, now)
            else:
                self._enqueue_address(member, now)
        level = self._selector.choose(self._turns.first_ready)
        if level is None:
            return None
        member = self._turns.pop_first(level)
        if isinstance(member, Address):
            member.ready = False
            member = member.turns.pop_first(level)
        return member, 1 << level - 1

    def _enqueue_or_schedule(
        self, site: Site[E], turns: ReadyQueue[Site[E] | Address[E]] | ReadyQueue[Site[E]], now: float
    ) -> None:
        if not site.can_go:
            return
        at = site.pace.next_start(site.clock, now)
        if at > now:
            turns.schedule(site, at)
        else:
            site.ready = True
            turns.enqueue(site, site.levels)

    def _enqueue_address(self, address: Address[E], now: float) -> None:
        """Queue the sites of an address that are due in its queue, and the address itself."""
        while (site := address.turns.pop_due(now)) is not None:
            self._enqueue_or_schedule(site, address.turns, now)
        if address.in_flight >= self._pace.concurrency:
            return
        if address.clock.next_at > now:
            self._turns.schedule(address, address.clock.next_at)
            return
        address.ready = True
        self._turns.enqueue(address, address.turns.ready_levels)
        next_due = address.turns.next_at(_can_go)
        if next_due is not None:
            self._turns.schedule(address, next_due)

    def next_at(self, now: float) -> float | None:
        """Return the earliest time at which `choose_site` may find a site; `now` if one is ready."""
        return now if self._turns.ready_levels else self._turns.next_at(_can_go)

    def schedule_site(self, site: Site[E]) -> None:
        """Schedule a site for the time of its next request, unless it is scheduled, ready, or may not go."""
        if site.ready or site.heap_number or not site.can_go:
            return
        if site.address is None:
            self._turns.schedule(site, site.clock.next_at)
        else:
            site.address.turns.schedule(site, site.clock.next_at)
            self.schedule_address(site.address)

    def pass_over(self, site: Site[E], bit: int) -> None:
        """Undo the choice of a site: nothing is taken from it now."""
        self._selector.refund(bit.bit_length())
        self.reschedule_site(site)

    def reschedule_site(self, site: Site[E]) -> None:
        """Schedule a site again after its time has changed; its older heap item becomes invalid."""
        site.ready = False
        site.heap_number = 0
        self.schedule_site(site)
        if site.address is not None:
            site.address.ready = False
            self.schedule_address(site.address)

    def schedule_address(self, address: Address[E]) -> None:
        """Schedule an address for the time at which the first of its sites may go."""
        if address.in_flight >= self._pace.concurrency:
            return
        at = NO_WAIT if address.turns.ready_levels else address.turns.next_at(_can_go)
        if at is not None:
            address.heap_number = 0
            self._turns.schedule(address, max(at, address.clock.next_at))

    def enqueue(self, site: Site[E], bit: int) -> None:
        """Queue a ready site on a further level."""
        if site.address is None:
            self._turns.enqueue(site, bit)
            return
        site.address.turns.enqueue(site, bit)
        if site.address.ready:
            self._turns.enqueue(site.address, bit)

    def share_address(self, site: Site[E], name: str) -> None:
        """Make a site share the clock of an address."""
        address = self._addresses.get(name)
        if address is None:
            address = self._addresses[name] = Address(name, ReadyQueue(self._selector.levels))
        site.address = address
        address.sites += 1
        address.clock.due = max(address.clock.due, site.clock.due)

    def forget_address(self, address: Address[E]) -> None:
        """Forget an address that no site has."""
        del self._addresses[address.name]


def _can_go(member: Site[E] | Address[E]) -> bool:
    return not isinstance(member, Site) or member.can_go
