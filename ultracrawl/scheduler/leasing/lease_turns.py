"""How long a crawl keeps a site: it has to show signs of life, and to take turns with crawls that wait."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.scheduler.leasing.leased_sites import Lease, LeasedSites
from ultracrawl.stores import QueueEntry, SiteStore

logger = logging.getLogger(__name__)

LEASE = 20.0
"""Seconds for which the sites of a crawl that shows no sign of life are kept from others."""
MARGIN = 2.0
"""Seconds before the end of its leases from which a crawl asks nobody, unless it renews them first."""
RENEW_EVERY = 5.0
TURN = 5.0
"""Seconds after which a site goes to the next crawl that waits for it, once it was asked."""
PATIENCE = 30.0
"""Seconds for which requests in flight keep a site whose turn is over."""


class SignOfLife:
    """The number of a crawl in the store of sites, and until when its leases last."""

    def __init__(self, store: SiteStore, source: str, wall: Callable[[], float]) -> None:
        self._store = store
        self._source = source
        self._wall = wall
        self._renewed = 0.0
        self._until = 0.0
        self.number = 0
        """The fencing token: under another number nothing of this crawl is stored any more."""

    def enlist(self) -> None:
        """Begin, under a new number."""
        now = self._wall()
        self._renewed, self._until = now, now + LEASE
        self.number = self._store.enlist_crawl(self._source, now, self._until)

    @property
    def lasts(self) -> bool:
        """Whether sites may be asked by what was said last."""
        return self._wall() < self._until - MARGIN

    @property
    def due(self) -> bool:
        """Whether it is time for the next sign."""
        return not 0 <= self._wall() - self._renewed < RENEW_EVERY

    def renew(self) -> bool:
        """Say that the crawl lives; False if it was taken for dead, and has no site any more."""
        now = self._wall()
        if self._store.renew_leases(self.number, now + LEASE):
            self._renewed, self._until = now, now + LEASE
            return True
        logger.warning(
            "%s gave no sign of life for too long; its sites have to be asked for again", self._source
        )
        return False

    def strike_off(self) -> None:
        """End: no site is leased any more, and none is asked for."""
        self._store.strike_off(self.number)
        self._until = float("inf")


class LeaseTurns:
    """Ends the turns of leased sites for which other crawls wait."""

    def __init__(
        self,
        frontier: Frontier[QueueEntry],
        held: LeasedSites,
        monotonic: Callable[[], float],
        paused: Callable[[], bool],
    ) -> None:
        self._frontier = frontier
        self._held = held
        self._monotonic = monotonic
        self._paused = paused
        self._leaving: set[str] = set()
        """Sites whose turn is over, and whose requests are not."""

    def end_turns(self, waited: Iterable[str]) -> list[str]:
        """End turns that are over, of sites for which others wait; returns the sites whose requests are done."""
        now = self._monotonic()
        for name in self._held.sites_with(waited):
            lease = self._held[name]
            if not lease.over and self._is_over(name, lease, now):
                lease.over = now
                self._leaving.add(name)
                self._frontier.clocks.end_lease(name)
        self._leaving = {name for name in self._leaving if name in self._held and self._held[name].over}
        return [name for name in self._leaving if self._is_quiet(name, now - self._held[name].over)]

    def _is_over(self, name: str, lease: Lease, now: float) -> bool:
        site = self._frontier.site(name)
        if site is None or site.idle or self._paused():
            return True
        if now - lease.since < TURN:
            return False
        # Long delays: a turn has one request at least, but who does not use it does not keep it.
        return site.clock.started > lease.started or now >= max(site.next_at, lease.since) + TURN

    def _is_quiet(self, name: str, seconds: float) -> bool:
        site = self._frontier.site(name)
        return site is None or not (site.in_flight or site.asking) or seconds >= PATIENCE
