"""The choice of the next URL: pure policy over times that are handed in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic

from ultracrawl.rules.frontier.entries import WaitingEntries
from ultracrawl.rules.frontier.levels import LevelSelector
from ultracrawl.rules.frontier.order import NO_WAIT, Order
from ultracrawl.rules.frontier.politeness.pace import Pace
from ultracrawl.rules.frontier.reserve import Reserve
from ultracrawl.rules.frontier.site import E, Site
from ultracrawl.rules.frontier.site_clocks import SiteClocks
from ultracrawl.rules.frontier.site_registry import SiteRegistry, Watch


class Frontier(Generic[E]):
    """A queue per site; a site is ready when it has a place, its delay is over and fewer than its number are out.

    Sites take turns: the one that has waited longest is next. Choosing costs O(log sites), whatever the
    number of URLs. Times are seconds of one monotonic clock. `entries` is what waits, `clocks` when sites may go.

    Sites that do not answer take at most `slow` places together (`Reserve`; None: any number).

    At most `max_sites` sites have a place (None: all); one gives its place back when its queue is empty, when it
    is withdrawn or given up, and after `max_inter_docs` entries if others wait. Of the entries that may go out now,
    `selector` chooses the level; within a level sites take turns. What is idle and whose delay is over is forgotten.

    Requests that others make to a site (robots.txt) keep its delay too: they take a turn of the site, by `spend_turn`
    for one that `pop_entry` gave, by `clocks.claim_turn` for a further one.

    With `leases` nothing of a site goes out before `clocks.lease_site`, and after `clocks.end_lease`: other crawls may
    ask the same sites.
    """

    def __init__(
        self,
        pace: Pace | None = None,
        *,
        delay: float = 0.0,
        concurrency: int = 2,
        capacity: int = 50_000,
        slow: int | None = None,
        max_sites: int | None = None,
        max_inter_docs: int | None = None,
        selector: LevelSelector | None = None,
        level_of: Callable[[E], int] | None = None,
        leases: bool = False,
    ) -> None:
        self.pace = pace or Pace(delay, concurrency)
        selector = selector or LevelSelector()
        self._in_a_row = max_inter_docs
        self._order: Order[E] = Order(self.pace, selector)
        self._registry: SiteRegistry[E] = SiteRegistry(
            self.pace, self._order, max_sites, (1 << selector.levels) - 1, leases=leases
        )
        self._reserve: Reserve[E] = Reserve(slow, self._order.relist_site)
        self._slots = self._registry.slots
        self.entries: WaitingEntries[E] = WaitingEntries(
            self._registry,
            self._order,
            capacity,
            levels=selector.levels,
            level_of=level_of,
            max_inter_docs=max_inter_docs,
        )
        self.clocks: SiteClocks[E] = SiteClocks(self.pace, self._order, self._registry, self._reserve)
        self.given_up = self.entries.given_up
        """Sites from which nothing more goes out in this run."""
        self.hungry = self._registry.hungry
        """Sites with a place that have entries in the store and room for them: give them some by `entries`."""
        self.unlocated = self._registry.unlocated
        """Sites that wait for their address: tell it by `clocks.set_address`."""
        self.unleased = self._registry.unleased
        """Sites with a place that have no lease: get one for them, and say so by `clocks.lease_site`."""
        self.forgotten = self._registry.forgotten
        """Sites that were forgotten with their lease: give it back, and empty the list."""
        self._out = 0
        self._closed_until = NO_WAIT

    def __len__(self) -> int:
        """Return the number of entries in memory that wait."""
        return self.entries.size

    @property
    def in_flight(self) -> int:
        """The number of entries that were handed out and are not done."""
        return self._out

    @property
    def pending(self) -> bool:
        """Whether anything waits, in memory or in the store, that may still go out."""
        return bool(self.entries.size or self.hungry or len(self._slots))

    @property
    def remembered(self) -> int:
        """The number of sites of which something is kept, those apart whose entries wait in the store only."""
        return len(self._registry.sites)

    @property
    def waiting(self) -> int:
        """The number of sites that wait for a place."""
        return len(self._slots)

    @property
    def concurrency(self) -> int:
        """Requests to a site that may run at once."""
        return self.pace.concurrency

    def watch_sites(self, watch: Watch) -> None:
        """Have somebody told of the sites that get a place or lose it from now on."""
        self._registry.watch = watch

    def site(self, name: str) -> Site[E] | None:
        """Return what is remembered of a site."""
        return self._registry.sites.get(name)

    def limit_site(self, name: str, places: int) -> None:
        """Let at most `places` entries of a site be out at once from now on."""
        self._registry.caps[name] = places
        site = self._registry.sites.get(name)
        if site is not None:
            site.places = places

    def pop_entry(self, now: float) -> E | None:
        """Hand out the next entry, or None if nothing may be fetched at this time."""
        self.clocks.now = now
        self._registry.forget_idle(now)
        if self.pace.week:
            self._closed_until = self.pace.opens(now)
            if self._closed_until > now:
                return None
        self._reserve.find_silent_sites(now)
        while (chosen := self._order.choose_site(now)) is not None:
            if self._reserve.admits(chosen[0]):
                return self._hand_out(*chosen, now)
            self._order.relist_site(chosen[0])
        return None

    def next_at(self) -> float | None:
        """Return the time at which `pop_entry` may have an entry again, None if only another call can change that."""
        at = self._order.next_at(self.clocks.now)
        return at if at is None else max(at, self._closed_until)

    def finish_entry(self, name: str) -> None:
        """Free the place of an entry of a site that was handed out."""
        site = self._registry.site(name)
        self._come_back(site)
        self._reserve.give_place_back(site)
        self._order.list_site(site)
        self._registry.settle_site(site)

    def spend_turn(self, entry: E) -> None:
        """Take back an entry: its turn is spent on something else, and the site is suspended until `resume_site`."""
        site = self._registry.place_site(entry.site)
        self._come_back(site)
        site.suspended = site.asking = True
        self.entries.put_back(site, entry)

    def resume_site(self, name: str) -> None:
        """Let entries of a suspended site out again, each when its time has come."""
        site = self._registry.site(name)
        site.suspended = False
        self._reserve.end_request(site)
        self._order.list_site(site)
        self._registry.settle_site(site)

    def step_back(self, name: str) -> None:
        """Let a site give its place to one that waits for it, if there is one, and wait behind the others."""
        site = self._registry.sites.get(name)
        if site is not None and site.active and len(self._slots):
            self._registry.step_back(site)

    def _hand_out(self, site: Site[E], bit: int, now: float) -> E:
        entry = site.take_entry(bit)
        self.entries.size -= 1
        self._out += 1
        site.in_flight += 1
        self._reserve.take_place(site, now)
        site.in_a_row += 1
        site.ready = False
        self.clocks.begin_request(site, now)
        if site.hunger & bit:
            self.hungry.add(site.name)
        if self._in_a_row and site.in_a_row >= self._in_a_row and len(self._slots):
            self._registry.step_back(site)
        if site.address is not None:
            site.address.in_flight += 1
            self._order.relist_site(site)
        else:
            self._order.list_site(site)
        return entry

    def _come_back(self, site: Site[E]) -> None:
        site.in_flight -= 1
        self._out -= 1
        if site.address is not None:
            site.address.in_flight -= 1
            self._order.list_address(site.address)
