"""When each site may be asked again: its clock, its delay, its errors, its address."""

from __future__ import annotations

from typing import Generic

from ultracrawl.rules.frontier.order import Order
from ultracrawl.rules.frontier.politeness.clock import NEVER
from ultracrawl.rules.frontier.politeness.pace import Pace
from ultracrawl.rules.frontier.reserve import Reserve
from ultracrawl.rules.frontier.site import E, Site
from ultracrawl.rules.frontier.site_registry import SiteRegistry


class SiteClocks(Generic[E]):
    """Moves the clocks of sites, and of the addresses that they share, by what happens to their requests.

    Times are seconds of the clock by which `Frontier.pop_entry` is called; `now` is the latest of them.
    """

    def __init__(self, pace: Pace, order: Order[E], registry: SiteRegistry[E], reserve: Reserve[E]) -> None:
        self.now = 0.0
        self._pace = pace
        self._order = order
        self._registry = registry
        self._sites = registry.sites
        self._reserve = reserve

    # ---- turns

    def begin_request(self, site: Site[E], now: float) -> None:
        """Take note that a request to a site begins."""
        delay = self._pace.seconds(site.clock, now)
        site.clock.begin(now, delay)
        if site.address is not None:
            site.address.clock.begin(now, delay)

    def refund_turn(self, name: str) -> None:
        """Give a site the turn of its latest entry back: no request was made after all."""
        site = self._registry.site(name)
        delay = self._pace.seconds(site.clock, self.now)
        site.clock.take_back(delay)
        site.in_a_row = max(site.in_a_row - 1, 0)
        if site.address is not None:
            site.address.clock.take_back(delay)
        self._order.relist_site(site)

    def claim_turn(self, name: str, now: float) -> float:
        """Take the next turn of a site for a request made elsewhere; returns the time at which it may start."""
        site = self._registry.site(name)
        at = self._pace.opens(max(now, site.next_at))
        self.begin_request(site, at)
        self._order.relist_site(site)
        self._registry.settle_site(site)
        return at

    # ---- answers

    def note_failure(self, name: str) -> bool:
        """Note that the latest request to a site failed on the network; True if it is to be given up for that."""
        site = self._registry.site(name)
        self._reserve.note_failure(site)
        hopeless = self._pace.backoff.fail(site.clock, self._pace.base(site.clock, self.now))
        self._recount(site)
        return hopeless

    def note_answer(self, name: str, latency: float = 0.0, *, well: bool = True) -> None:
        """Note that a site answered, after `latency` seconds; `well` is False for error answers."""
        site = self._sites.get(name)
        if site is None:
            return
        self._reserve.note_answer(site)
        if not (site.clock.errors or site.clock.slowed or self._pace.throttle):
            return
        if well:
            self._pace.backoff.recover(site.clock, self._pace.base(site.clock, self.now))
        self._pace.learn(site.clock, latency, well=well)
        self._recount(site)

    # ---- single sites

    def delay_of(self, name: str) -> float:
        """Return the seconds between the starts of two requests to a site."""
        site = self._sites.get(name)
        if site is None:
            return self._registry.own.get(name, self._pace.delay)
        return self._pace.seconds(site.clock, self.now)

    def set_delay(self, name: str, seconds: float) -> None:
        """Give a site a delay of its own, which counts from its latest request on."""
        self._registry.own[name] = seconds
        site = self._registry.site(name)
        site.clock.own = seconds
        self._recount(site)
        self._registry.settle_site(site)

    def reset_delay(self, name: str) -> None:
        """Let the delay of the source hold for a site again."""
        if self._registry.own.pop(name, None) is not None and name in self._sites:
            site = self._sites[name]
            site.clock.own = None
            self._recount(site)

    def hold_site(self, name: str, until: float) -> None:
        """Let nothing of a site out before a time (`Retry-After`, a further attempt)."""
        site = self._registry.site(name)
        site.clock.held = max(site.clock.held, until)
        self._reserve.end_request(site)  # who waits until then has no connection
        self._order.relist_site(site)
        self._registry.settle_site(site)

    def restore_site(
        self, name: str, until: float, errors: int = 0, slowed: float = 0.0, started: float = NEVER
    ) -> None:
        """Take up what another crawl knew of a site; nothing goes out before `until`, and the delay after `started`."""
        site = self._registry.site(name)
        clock = site.clock
        clock.errors = errors
        clock.slowed = slowed
        clock.started = max(clock.started, started)
        clock.due = max(clock.due, until, clock.started + self._pace.seconds(clock, self.now))
        self._order.relist_site(site)
        self._registry.settle_site(site)

    def restore_address(self, name: str, until: float) -> None:
        """Take up when the address of a site may be asked again."""
        site = self._registry.site(name)
        if site.address is not None:
            site.address.clock.due = max(site.address.clock.due, until)
            self._order.relist_site(site)

    # ---- leases

    def lease_site(self, name: str) -> None:
        """Let entries of a site out from now on: no other crawl asks it."""
        self._registry.unleased.discard(name)
        site = self._registry.site(name)
        site.leased = True
        self._order.list_site(site)
        self._registry.settle_site(site)

    def end_lease(self, name: str) -> None:
        """Let nothing of a site out until it is leased again."""
        site = self._sites.get(name)
        if site is None:
            return
        site.leased = False
        self._order.relist_site(site)
        if site.active and site.located:
            self._registry.unleased.add(name)

    def renew_site(self, name: str) -> None:
        """Let a site go on as one without errors and without a delay of its own: another host stands in for it."""
        site = self._registry.site(name)
        site.clock.errors = 0
        site.clock.slowed = site.clock.learned = site.clock.held = 0.0
        self._registry.own.pop(name, None)
        site.clock.own = None
        self._recount(site)
        self._registry.settle_site(site)

    def set_address(self, name: str, address: str) -> None:
        """Tell the network address of a site; empty if it has none, or shares it with nobody."""
        self._registry.unlocated.discard(name)
        site = self._sites.get(name)
        if site is None or site.located:
            return
        site.located = True
        if site.active and not site.leased:
            self._registry.unleased.add(name)
        if address:
            self._order.share_address(site, address)
        self._order.list_site(site)

    def own_delay(self, name: str) -> float | None:
        """Return the delay that was set for a site, None if it has that of the source."""
        return self._registry.own.get(name)

    def _recount(self, site: Site[E]) -> None:
        site.clock.count(self._pace.seconds(site.clock, self.now))
        self._order.relist_site(site)
