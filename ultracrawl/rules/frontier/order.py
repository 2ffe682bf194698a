"""The order in which sites take turns: each by its own clock, those of one address by a common one besides."""

from __future__ import annotations

from typing import Generic

from ultracrawl.rules.frontier.levels import LevelSelector
from ultracrawl.rules.frontier.politeness.pace import Pace
from ultracrawl.rules.frontier.ready_queue import ReadyQueue
from ultracrawl.rules.frontier.site import Address, E, Site

NO_WAIT = float("-inf")


class Order(Generic[E]):
    """Knows which site is next on which level.

    Sites without a shared address take turns directly; the sites of an address take turns among themselves, and
    the address takes turns for them.
    """

    def __init__(self, pace: Pace, selector: LevelSelector) -> None:
        self._pace = pace
        self._selector = selector
        self._turns: ReadyQueue[Site[E] | Address[E]] = ReadyQueue(selector.levels)
        self._addresses: dict[str, Address[E]] = {}

    def choose_site(self, now: float) -> tuple[Site[E], int] | None:
        """Take the site whose turn it is out of its line; with the bit of the level."""
        while (member := self._turns.take_due(now)) is not None:
            if isinstance(member, Site):
                self._arrive(member, self._turns, now)
            else:
                self._arrive_at(member, now)
        level = self._selector.choose(self._turns.first_in_line)
        if level is None:
            return None
        member = self._turns.take_first(level)
        if isinstance(member, Address):
            member.ready = False
            member = member.turns.take_first(level)
        return member, 1 << level - 1

    def _arrive(
        self, site: Site[E], turns: ReadyQueue[Site[E] | Address[E]] | ReadyQueue[Site[E]], now: float
    ) -> None:
        if not site.may_go:
            return
        at = self._pace.start(site.clock, now)
        if at > now:
            turns.list_member(site, at)
        else:
            site.ready = True
            turns.stand_in_line(site, site.levels)

    def _arrive_at(self, address: Address[E], now: float) -> None:
        """Let the sites of an address stand in line among themselves, and the address for them all."""
        while (site := address.turns.take_due(now)) is not None:
            self._arrive(site, address.turns, now)
        if address.in_flight >= self._pace.concurrency:
            return
        if address.clock.next_at > now:
            self._turns.list_member(address, address.clock.next_at)
            return
        address.ready = True
        self._turns.stand_in_line(address, address.turns.offers)
        later = address.turns.next_at(_waits)
        if later is not None:
            self._turns.list_member(address, later)

    def next_at(self, now: float) -> float | None:
        """Return the earliest time at which `choose_site` may find a site; `now` if one stands in line."""
        return now if self._turns.offers else self._turns.next_at(_waits)

    def list_site(self, site: Site[E]) -> None:
        """List a site for its time, unless it is listed, stands in line, or may not go."""
        if site.ready or site.listed or not site.may_go:
            return
        if site.address is None:
            self._turns.list_member(site, site.clock.next_at)
        else:
            site.address.turns.list_member(site, site.clock.next_at)
            self.list_address(site.address)

    def relist_site(self, site: Site[E]) -> None:
        """List a site anew whose time has changed; its older place in the heap no longer counts."""
        site.ready = False
        site.listed = 0
        self.list_site(site)
        if site.address is not None:
            site.address.ready = False
            self.list_address(site.address)

    def list_address(self, address: Address[E]) -> None:
        """List an address for the time at which the first of its sites may go."""
        if address.in_flight >= self._pace.concurrency:
            return
        at = NO_WAIT if address.turns.offers else address.turns.next_at(_waits)
        if at is not None:
            address.listed = 0
            self._turns.list_member(address, max(at, address.clock.next_at))

    def stand_in_line(self, site: Site[E], bit: int) -> None:
        """Let a site that stands in line stand in that of a further level too."""
        if site.address is None:
            self._turns.stand_in_line(site, bit)
            return
        site.address.turns.stand_in_line(site, bit)
        if site.address.ready:
            self._turns.stand_in_line(site.address, bit)

    def share_address(self, site: Site[E], name: str) -> None:
        """Let a site share the clock of an address."""
        address = self._addresses.get(name)
        if address is None:
            address = self._addresses[name] = Address(name, ReadyQueue(self._selector.levels))
        site.address = address
        address.sites += 1
        address.clock.due = max(address.clock.due, site.clock.due)

    def forget_address(self, address: Address[E]) -> None:
        """Forget an address that no site has."""
        del self._addresses[address.name]


def _waits(member: Site[E] | Address[E]) -> bool:
    return not isinstance(member, Site) or member.may_go
