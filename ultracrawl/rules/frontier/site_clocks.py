"""Politeness clocks: when each site may be requested again."""

from __future__ import annotations

from typing import Generic

from ultracrawl.rules.frontier.order import Order
from ultracrawl.rules.frontier.politeness.clock import NEVER
from ultracrawl.rules.frontier.reserve import Reserve
from ultracrawl.rules.frontier.site import E, Site
from ultracrawl.rules.frontier.site_registry import SiteRegistry


class SiteClocks(Generic[E]):
    """Updates the clocks of sites, and of the addresses that they share, after requests and responses.

    Times are seconds of the clock whose time callers pass to `Frontier.pop_entry`; `now` is the latest one passed.
    """

    def __init__(self, order: Order[E], registry: SiteRegistry[E], reserve: Reserve[E]) -> None:
        self.now = 0.0
        self._order = order
        self._registry = registry
        self._sites = registry.sites
        self._reserve = reserve

    # ---- turns

    def begin_request(self, site: Site[E], now: float) -> None:
        """Note that a request to a site starts."""
        delay = site.pace.current_delay(site.clock, now)
        site.clock.begin(now, delay)
        if site.address is not None:
            site.address.clock.begin(now, delay)

    def refund_turn(self, name: str) -> None:
        """Return the turn of the latest entry to its site: no request was made."""
        site = self._registry.site(name)
        delay = site.pace.current_delay(site.clock, self.now)
        site.clock.undo_begin(delay)
        site.consecutive = max(site.consecutive - 1, 0)
        if site.address is not None:
            site.address.clock.undo_begin(delay)
        self._order.reschedule_site(site)

    def claim_turn(self, name: str, now: float) -> float:
        """Use the next turn of a site for another request; returns the time at which that may start."""
        site = self._registry.site(name)
        at = site.pace.next_open(max(now, site.next_at))
        self.begin_request(site, at)
        self._order.reschedule_site(site)
        self._registry.retire_if_idle(site)
        return at

    # ---- responses

    def note_failure(self, name: str) -> bool:
        """Note that the latest request to a site failed on the network; True if the site is to be given up."""
        site = self._registry.site(name)
        self._reserve.note_failure(site)
        give_up = site.pace.backoff.fail(site.clock, site.pace.base_delay(site.clock, self.now))
        self._recompute_delay(site)
        return give_up

    def note_answer(self, name: str, latency: float = 0.0, *, well: bool = True) -> None:
        """Note that a site answered after `latency` seconds; `well` is False for error responses."""
        site = self._sites.get(name)
        if site is None:
            return
        self._reserve.note_answer(site)
        if not (site.clock.errors or site.clock.backoff_delay or site.pace.throttle):
            return
        if well:
            site.pace.backoff.recover(site.clock, site.pace.base_delay(site.clock, self.now))
        site.pace.learn_latency(site.clock, latency, well=well)
        self._recompute_delay(site)

    # ---- single sites

    def set_delay(self, name: str, seconds: float) -> None:
        """Set the delay of one site; it counts from the latest request on."""
        self._registry.own_delays[name] = seconds
        site = self._registry.site(name)
        site.clock.own_delay = seconds
        self._recompute_delay(site)
        self._registry.retire_if_idle(site)

    def reset_delay(self, name: str) -> None:
        """Return a site to the delay of the source."""
        if self._registry.own_delays.pop(name, None) is not None and name in self._sites:
            site = self._sites[name]
            site.clock.own_delay = None
            self._recompute_delay(site)

    def hold_site(self, name: str, until: float) -> None:
        """Hand out nothing of a site before a time (`Retry-After`, a further attempt)."""
        site = self._registry.site(name)
        site.clock.hold_until = max(site.clock.hold_until, until)
        self._reserve.end_request(site)  # a request that waits has no connection
        self._order.reschedule_site(site)
        self._registry.retire_if_idle(site)

    def end_hold(self, name: str, now: float) -> None:
        """End what `hold_site` began; the delay of the site still holds."""
        site = self._registry.site(name)
        site.clock.hold_until = min(site.clock.hold_until, now)
        self._order.reschedule_site(site)
        self._registry.retire_if_idle(site)

    def restore_site(
        self, name: str, until: float, errors: int = 0, slowed: float = 0.0, started: float = NEVER
    ) -> None:
        """Restore the state saved by another crawl: no request before `until`, or before `started` plus the delay."""
        site = self._registry.site(name)
        clock = site.clock
        clock.errors = errors
        clock.backoff_delay = slowed
        clock.started = max(clock.started, started)
        clock.due = max(clock.due, until, clock.started + site.pace.current_delay(clock, self.now))
        self._order.reschedule_site(site)
        self._registry.retire_if_idle(site)

    def restore_address(self, name: str, until: float) -> None:
        """Restore the time before which the address of a site must not be requested."""
        site = self._registry.site(name)
        if site.address is not None:
            site.address.clock.due = max(site.address.clock.due, until)
            self._order.reschedule_site(site)

    # ---- leases

    def lease_site(self, name: str) -> None:
        """Hand out entries of a site from now on: no other crawl requests it."""
        self._registry.unleased.discard(name)
        site = self._registry.site(name)
        site.leased = True
        self._order.schedule_site(site)
        self._registry.retire_if_idle(site)

    def end_lease(self, name: str) -> None:
        """Hand out nothing of a site until it is leased again."""
        site = self._sites.get(name)
        if site is None:
            return
        site.leased = False
        self._order.reschedule_site(site)
        if site.active and site.located:
            self._registry.unleased.add(name)

    def reset_site(self, name: str) -> None:
        """Clear the errors and delays of a site, since a mirror is requested in its place."""
        site = self._registry.site(name)
        site.clock.errors = 0
        site.clock.backoff_delay = site.clock.latency_delay = site.clock.hold_until = 0.0
        self._registry.own_delays.pop(name, None)
        site.clock.own_delay = None
        self._recompute_delay(site)
        self._registry.retire_if_idle(site)

    def set_address(self, name: str, address: str) -> None:
        """Set the IP address of a site; empty if it has none or shares it with no other site."""
        self._registry.unlocated.discard(name)
        site = self._sites.get(name)
        if site is None or site.located:
            return
        site.located = True
        if site.active and not site.leased:
            self._registry.unleased.add(name)
        if address:
            self._order.share_address(site, address)
        self._order.schedule_site(site)

    def own_delay(self, name: str) -> float | None:
        """Return the delay set for a site, None if it uses that of the source."""
        return self._registry.own_delays.get(name)

    def _recompute_delay(self, site: Site[E]) -> None:
        site.clock.apply_delay(site.pace.current_delay(site.clock, self.now))
        self._order.reschedule_site(site)
