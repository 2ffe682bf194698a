"""The frontier chooses the next entry; it performs no I/O, and callers pass the time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic

from ultracrawl.dataclass import dataclass
from ultracrawl.rules.frontier.entries import WaitingEntries
from ultracrawl.rules.frontier.levels import LevelSelector
from ultracrawl.rules.frontier.order import NO_WAIT, Order
from ultracrawl.rules.frontier.politeness.pace import Pace
from ultracrawl.rules.frontier.reserve import Reserve
from ultracrawl.rules.frontier.site import E, Site
from ultracrawl.rules.frontier.site_clocks import SiteClocks
from ultracrawl.rules.frontier.site_registry import SiteRegistry, SlotListener


@dataclass(frozen=True, slots=True)
class FrontierLimits:
    """How much a frontier holds and hands out."""

    capacity: int = 50_000
    """Maximum number of entries in memory; further ones wait in the store."""
    slow: int | None = None
    """Maximum requests in flight of all slow sites together (`Reserve`); None: any number."""
    max_sites: int | None = None
    """Maximum number of sites with a slot; None: all."""
    max_inter_docs: int | None = None
    """Entries after which a site releases its slot if others wait for one; None: any number."""


class Frontier(Generic[E]):
    """A queue per site; a site is ready when it has a slot, its delay is over and its concurrency is not used up.

    Sites take turns: the one that has waited longest is next. Choosing costs O(log sites), whatever the
    number of URLs. Times are seconds of one monotonic clock. The methods about queued entries are those of
    `WaitingEntries`, those about delays of `SiteClocks`.

    A site releases its slot when its queue is empty, when it is withdrawn or given up, and when its turn is over
    (`FrontierLimits`). `selector` chooses the level among the entries that may be fetched now; within a level sites
    take turns. Idle sites are forgotten after their delay.

    Other requests to a site (robots.txt) respect its delay too: they use a turn of the site, with `spend_turn`
    in place of an entry that `pop_entry` returned, with `claim_turn` otherwise.

    With `leases`, entries of a site are handed out only between `lease_site` and `end_lease`, since other crawls may
    request the same sites.
    """

    def __init__(
        self,
        pace: Pace | None = None,
        limits: FrontierLimits = FrontierLimits(),
        *,
        selector: LevelSelector | None = None,
        level_of: Callable[[E], int] | None = None,
        leases: bool = False,
    ) -> None:
        self.pace = pace or Pace()
        selector = selector or LevelSelector()
        self._max_consecutive = limits.max_inter_docs
        self._order: Order[E] = Order(self.pace, selector)
        self._registry: SiteRegistry[E] = SiteRegistry(
            self.pace, self._order, limits.max_sites, (1 << selector.levels) - 1, leases=leases
        )
        self._reserve: Reserve[E] = Reserve(limits.slow, self._order.reschedule_site)
        self._slots = self._registry.slots
        self._entries: WaitingEntries[E] = WaitingEntries(
            self._registry,
            self._order,
            limits.capacity,
            levels=selector.levels,
            level_of=level_of,
            max_inter_docs=limits.max_inter_docs,
        )
        self._clocks: SiteClocks[E] = SiteClocks(self._order, self._registry, self._reserve)
        self._bind_parts()
        self.given_up = self._entries.given_up
        """Sites from which nothing more goes out in this run."""
        self.hungry = self._registry.hungry
        """Sites with a slot that have entries only in the store: the caller passes some to `refill_site`."""
        self.unlocated = self._registry.unlocated
        """Sites whose IP address is unknown: the caller passes it to `set_address`."""
        self.unleased = self._registry.unleased
        """Sites with a slot but no lease: the caller gets one and calls `lease_site`."""
        self.forgotten = self._registry.forgotten
        """Forgotten sites that had a lease: the caller returns the lease and empties the list."""
        self._out = 0
        self._closed_until = NO_WAIT

    def _bind_parts(self) -> None:
        """Take over the methods that one part implements alone."""
        entries, clocks = self._entries, self._clocks
        self.add_entry, self.add_first, self.mark_stored = (
            entries.add_entry,
            entries.add_first,
            entries.mark_stored,
        )
        self.hungry_levels, self.refill_site = entries.hungry_levels, entries.refill_site
        self.withdraw_site, self.give_up_site = entries.withdraw_site, entries.give_up_site
        self.readmit_site = entries.readmit_site
        self.refund_turn, self.claim_turn = clocks.refund_turn, clocks.claim_turn
        self.note_answer, self.note_failure = clocks.note_answer, clocks.note_failure
        self.set_delay, self.reset_delay, self.own_delay = (
            clocks.set_delay,
            clocks.reset_delay,
            clocks.own_delay,
        )
        self.hold_site, self.end_hold, self.reset_site = (
            clocks.hold_site,
            clocks.end_hold,
            clocks.reset_site,
        )
        self.restore_site, self.restore_address = clocks.restore_site, clocks.restore_address
        self.lease_site, self.end_lease, self.set_address = (
            clocks.lease_site,
            clocks.end_lease,
            clocks.set_address,
        )

    def __len__(self) -> int:
        """Return the number of entries queued in memory."""
        return self._entries.size

    @property
    def in_flight(self) -> int:
        """The number of entries handed out and not finished."""
        return self._out

    @property
    def pending(self) -> bool:
        """Whether any entry, in memory or in the store, may still be handed out."""
        return bool(self._entries.size or self.hungry or len(self._slots))

    @property
    def remembered(self) -> int:
        """The number of sites in memory; sites with entries only in the store are not counted."""
        return len(self._registry.sites)

    @property
    def waiting(self) -> int:
        """The number of sites that wait for a slot."""
        return len(self._slots)

    @property
    def concurrency(self) -> int:
        """The number of concurrent requests to a site."""
        return self.pace.concurrency

    @property
    def batch_size(self) -> int:
        """The number of entries to read from the store for a hungry site."""
        return self._entries.batch_size

    def set_slot_listener(self, listener: SlotListener) -> None:
        """Call a listener whenever a site gets or loses its slot."""
        self._registry.slot_listener = listener

    def site(self, name: str) -> Site[E] | None:
        """Return a site, None if it is not in memory."""
        return self._registry.sites.get(name)

    def limit_site(self, name: str, max_requests: int) -> None:
        """Limit the concurrent requests to a site from now on."""
        self._registry.request_limits[name] = max_requests
        site = self._registry.sites.get(name)
        if site is not None:
            site.max_requests = max_requests

    def pop_entry(self, now: float) -> E | None:
        """Return the next entry, None if nothing may be fetched now."""
        self._clocks.now = now
        self._registry.forget_idle(now)
        if self.pace.week and not self.pace.overlays:
            self._closed_until = self.pace.next_open(now)
            if self._closed_until > now:
                return None
        self._reserve.demote_silent_sites(now)
        while (chosen := self._order.choose_site(now)) is not None:
            if self._reserve.admits(chosen[0]) and not self._is_closed(chosen[0], now):
                return self._hand_out(*chosen, now)
            self._order.pass_over(*chosen)
        return None

    def _is_closed(self, site: Site[E], now: float) -> bool:
        """Return whether a site is suspended by its own time spans; those of all sites are looked at before."""
        return bool(self.pace.overlays) and site.pace.next_open(now) > now

    def next_at(self) -> float | None:
        """Return when `pop_entry` may return an entry again, None if only another call can change that."""
        at = self._order.next_at(self._clocks.now)
        return at if at is None else max(at, self._closed_until)

    def finish_entry(self, name: str) -> None:
        """Note that the request of an entry that was handed out has ended."""
        site = self._registry.site(name)
        self._note_end(site)
        self._reserve.note_end(site)
        self._order.schedule_site(site)
        self._registry.retire_if_idle(site)

    def spend_turn(self, entry: E) -> None:
        """Requeue an entry, use its turn for another request, and suspend the site until `resume_site`."""
        site = self._registry.ensure_slot(entry.site)
        self._note_end(site)
        site.suspended = site.extra_request = True
        self._entries.put_back(site, entry)

    def resume_site(self, name: str) -> None:
        """End the suspension of a site."""
        site = self._registry.site(name)
        site.suspended = False
        self._reserve.end_request(site)
        self._order.schedule_site(site)
        self._registry.retire_if_idle(site)

    def yield_slot(self, name: str) -> None:
        """Release the slot of a site if other sites wait for one; the site waits behind them."""
        site = self._registry.sites.get(name)
        if site is not None and site.active and len(self._slots):
            self._registry.yield_slot(site)

    def _hand_out(self, site: Site[E], bit: int, now: float) -> E:
        entry = site.take_entry(bit)
        self._entries.size -= 1
        self._out += 1
        site.in_flight += 1
        self._reserve.note_start(site, now)
        site.consecutive += 1
        site.ready = False
        self._clocks.begin_request(site, now)
        if site.levels_to_refill & bit:
            self.hungry.add(site.name)
        if self._max_consecutive and site.consecutive >= self._max_consecutive and len(self._slots):
            self._registry.yield_slot(site)
        if site.address is not None:
            site.address.in_flight += 1
            self._order.reschedule_site(site)
        else:
            self._order.schedule_site(site)
        return entry

    def _note_end(self, site: Site[E]) -> None:
        site.in_flight -= 1
        self._out -= 1
        if site.address is not None:
            site.address.in_flight -= 1
            self._order.schedule_address(site.address)
