"""Renewal of a crawl's leases, and the end of turns for which other crawls wait."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.scheduler.leasing.leased_sites import Lease, LeasedSites
from ultracrawl.stores import QueueEntry, SiteStore

logger = logging.getLogger(__name__)

LEASE_SECONDS = 20.0
"""Seconds after its last renewal for which a crawl keeps its sites."""
EXPIRY_MARGIN = 2.0
"""Seconds before its leases expire from which a crawl sends no request, unless it renews them first."""
RENEW_INTERVAL = 5.0
TURN_SECONDS = 5.0
"""Seconds of a lease after which a requested site passes to the next crawl that waits for it."""
DRAIN_TIMEOUT = 30.0
"""Seconds for which requests in flight keep a site whose turn is over."""


class LeaseRenewal:
    """Registers a crawl with the store of sites and renews its leases."""

    def __init__(self, store: SiteStore, source: str, wall: Callable[[], float]) -> None:
        self._store = store
        self._source = source
        self._wall = wall
        self._renewed = 0.0
        self._until = 0.0
        self.number = 0
        """The fencing token: once the crawl has a new number, nothing is stored under the old one."""

    def enlist(self) -> None:
        """Register the crawl under a new number."""
        now = self._wall()
        self._renewed, self._until = now, now + LEASE_SECONDS
        self.number = self._store.register_crawl(self._source, now, self._until)

    @property
    def is_valid(self) -> bool:
        """Whether the leases have not expired."""
        return self._wall() < self._until - EXPIRY_MARGIN

    @property
    def is_due(self) -> bool:
        """Whether the leases should be renewed."""
        return not 0 <= self._wall() - self._renewed < RENEW_INTERVAL

    def renew(self) -> bool:
        """Renew the leases; returns False if they had expired, and the crawl holds no site any more."""
        now = self._wall()
        if self._store.renew_leases(self.number, now + LEASE_SECONDS):
            self._renewed, self._until = now, now + LEASE_SECONDS
            return True
        logger.warning("%s did not renew its leases in time; it has to lease its sites again", self._source)
        return False

    def close_crawl(self) -> None:
        """Unregister the crawl: it holds no lease and waits for none."""
        self._store.close_crawl(self.number)
        self._until = float("inf")


class LeaseTurns:
    """Ends the turns of leased sites for which other crawls wait."""

    def __init__(
        self,
        frontier: Frontier[QueueEntry],
        leases: LeasedSites,
        monotonic: Callable[[], float],
        paused: Callable[[], bool],
    ) -> None:
        self._frontier = frontier
        self._leases = leases
        self._monotonic = monotonic
        self._paused = paused
        self._leaving: set[str] = set()
        """Sites whose turn is over and whose requests are still in flight."""

    def end_turns(self, wanted: Iterable[str]) -> list[str]:
        """End finished turns of the sites that other crawls wait for; returns those without requests in flight."""
        now = self._monotonic()
        for name in self._leases.sites_with(wanted):
            lease = self._leases[name]
            if not lease.ended_at and self._is_turn_over(name, lease, now):
                lease.ended_at = now
                self._leaving.add(name)
                self._frontier.end_lease(name)
        self._leaving = {
            name for name in self._leaving if name in self._leases and self._leases[name].ended_at
        }
        return [name for name in self._leaving if self._is_drained(name, now - self._leases[name].ended_at)]

    def _is_turn_over(self, name: str, lease: Lease, now: float) -> bool:
        site = self._frontier.site(name)
        if site is None or site.idle or self._paused():
            return True
        if now - lease.since < TURN_SECONDS:
            return False
        # With long delays a turn has at least one request, but an unused turn ends too.
        return site.clock.started > lease.started or now >= max(site.next_at, lease.since) + TURN_SECONDS

    def _is_drained(self, name: str, seconds: float) -> bool:
        site = self._frontier.site(name)
        return site is None or not (site.in_flight or site.extra_request) or seconds >= DRAIN_TIMEOUT
