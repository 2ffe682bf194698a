"""The delays of sites: their addresses, what answers and robots.txt change, and what is stored of them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from ipaddress import ip_address
from operator import attrgetter
from typing import TYPE_CHECKING

from ultracrawl.errors import WorkError
from ultracrawl.model import UrlOutcome
from ultracrawl.rules.frontier.frontier import Frontier, FrontierLimits
from ultracrawl.rules.frontier.mirrors import Mirrors
from ultracrawl.rules.urls.canonical import host_of, site_of
from ultracrawl.run import CrawlContext, Visit
from ultracrawl.run.hooks import Feature
from ultracrawl.run.ports import RETRY_AFTER
from ultracrawl.run.transport.host_addresses import HostAddresses
from ultracrawl.scheduler.leases import LONG_WAIT, SiteLeases
from ultracrawl.sources import compile_level_selector
from ultracrawl.sources.kinds import kind_schemes
from ultracrawl.stores import QueueEntry, StoredSite

if TYPE_CHECKING:
    from ultracrawl.rules.robots.rules import RobotsRules
    from ultracrawl.stores.control_channel import SiteWait

logger = logging.getLogger(__name__)

SAME_TIME = 1.0
"""Seconds by which the end of a wait and the time of the next request may differ, since clocks are read twice."""
LISTED_CONCURRENCY = 64
"""Concurrent documents of a source whose lister delivers the content itself."""


class AddressResolver:
    """Looks up the addresses of the sites that the frontier lists as `unlocated`, in threads.

    The lowest of several addresses counts, IPv4 before IPv6: hosts with the same addresses share one clock whatever
    the order of a DNS answer. A site without an address has its own clock. `wake` schedules the next look for a
    request.
    """

    def __init__(
        self, hosts: HostAddresses, frontier: Frontier[QueueEntry], wake: Callable[[], None]
    ) -> None:
        self._hosts = hosts
        self._frontier = frontier
        self._wake = wake

    def start_look_ups(self) -> None:
        """Start the look-up of every site whose address is not known."""
        while self._frontier.unlocated:
            site = self._frontier.unlocated.pop()
            loop = asyncio.get_running_loop()
            look_up = self._hosts.begin_look_up(host_of(f"http://{site}/"))
            look_up.add_done_callback(partial(self._hand_to_loop, loop, site))

    def _hand_to_loop(
        self, loop: asyncio.AbstractEventLoop, site: str, look_up: Future[tuple[str, ...]]
    ) -> None:
        if not (look_up.cancelled() or loop.is_closed()):
            loop.call_soon_threadsafe(self._set_address, site, look_up.result())

    def _set_address(self, site: str, addresses: Iterable[str]) -> None:
        self._frontier.set_address(site, lowest_address(addresses))
        self._wake()


def lowest_address(addresses: Iterable[str]) -> str:
    """Return the lowest address, IPv4 before IPv6; the empty string if there is none."""
    known = [ip_address(address) for address in addresses]
    return str(min(known, key=lambda address: (address.version, int(address)))) if known else ""


def make_frontier(context: CrawlContext, concurrency: int) -> Frontier[QueueEntry]:
    """Return the frontier of a source; `concurrency` is the limit of requests in flight (0: none)."""
    source = context.source
    pace = context.rules.pace.with_wall_clock(lambda at: at - time.monotonic() + context.clock())
    limits = FrontierLimits(
        slow=max(concurrency // 2, 1) if concurrency else None,
        max_sites=source.sites.max_sites,
        max_inter_docs=source.sites.max_inter_docs,
    )
    return Frontier(
        pace,
        limits,
        selector=compile_level_selector(source),
        level_of=attrgetter("level"),
        leases=True,
    )


class Pacing(Feature):
    """Updates the clocks of the frontier after each request, and stores what is known of sites.

    Clocks are stored for all sources, everything else for this one. A site with too many network errors or walls is
    given up for this run; its entries stay in the queue. `abandon` is called with the key of a sitemap that will not be
    fetched; `paused` returns whether the crawl sends no requests for now.
    """

    def __init__(
        self,
        context: CrawlContext,
        frontier: Frontier[QueueEntry],
        hosts: HostAddresses,
        abandon: Callable[[int], None],
        *,
        wake: Callable[[], None],
        paused: Callable[[], bool],
    ) -> None:
        self._context = context
        self._frontier = frontier
        self._abandon = abandon
        self.wake = wake
        """Has the scheduler look for the next request."""
        self._paused = paused
        self._addresses = AddressResolver(hosts, frontier, wake)
        self.mirrors = Mirrors(context.source.sites.aliases)
        """Which mirror of a site is requested after the site itself was given up."""
        self._mirrors_in_use: dict[int, str] = {}
        """The mirror that each visit in flight requests, by key; visits to the site itself are not included."""
        self._changed: set[str] = set()

    def begin(self) -> None:
        """Load what earlier runs stored about sites, and register for leases."""
        context = self._context
        context.sites.reset_site_errors(context.store.sites.renewed)
        self.leases = SiteLeases(context, self._frontier, self.mirrors, self.wake, self._paused)
        self.leases.begin()
        if kind_schemes(context.source.type):
            # Documents that a lister delivers belong to a site with the name of the source.
            self._frontier.set_delay(context.source.name, 0.0)
            self._frontier.limit_site(context.source.name, LISTED_CONCURRENCY)
        for row in context.store.sites.special_sites():
            if row.stand_in:
                self.mirrors.restore_mirror(row.site, row.stand_in)
            if row.given_up == context.mark.number:
                self._frontier.given_up.add(row.site)
            elif row.own_delay is not None and context.rules.robots.obey_delay:
                self._frontier.set_delay(row.site, row.own_delay)

    def tick(self) -> None:
        """Renew the leases of sites, look for those that were wanted, and tell which one the crawl waits for."""
        self.leases.tick()
        run = self._context.run
        if run.waits or run.wait:
            run.set_wait(None if self._frontier.in_flight else self._current_wait())

    def _current_wait(self) -> SiteWait | None:
        """Return the wait that ends with the next request, as far as that is known."""
        now, at = self._context.clock(), self._frontier.next_at()
        wait = self._context.run.next_wait(now)
        if wait is None or at is None or wait.until - now > at - time.monotonic() + SAME_TIME:
            return None
        return wait

    def resumed(self) -> None:
        """Look for the next request."""
        self.wake()

    def prepare_sites(self) -> None:
        """Look up addresses, and lease sites, as far as the frontier needs them for its next choice."""
        self._addresses.start_look_ups()
        self.leases.lease_wanted_sites()

    # ---- events of sites

    def visit_begun(self, visit: Visit) -> None:
        """Note which mirror a visit requests."""
        if mirror := self.mirrors.active_mirror(visit.entry.site):
            self._mirrors_in_use[visit.entry.key] = mirror

    def note_request(self, site: str) -> None:
        """Note that a request to a site is about to be made."""
        self._changed.add(site)

    async def take_turn(self, site: str) -> None:
        """Wait for the turn of a site, for a request that the frontier does not hand out."""
        site = self.mirrors.queue_site(site)
        await self.leases.take_turn(site)
        self._changed.add(site)

    def hold_site(self, site: str, seconds: float, why: str = RETRY_AFTER) -> None:
        """Send no requests to a site for as many seconds as it asked for (`Retry-After`)."""
        site = self.mirrors.queue_site(site)
        self._frontier.hold_site(site, time.monotonic() + seconds)
        self._changed.add(site)
        if seconds >= LONG_WAIT:
            self._context.run.note_wait(site, why, self._context.clock() + seconds)

    def end_hold(self, site: str) -> None:
        """Send requests to a site again that `hold_site` holds."""
        site = self.mirrors.queue_site(site)
        self._frontier.end_hold(site, time.monotonic())
        self._context.run.waits.pop(site, None)
        self._changed.add(site)
        self.wake()

    def note_end(self, visit: Visit) -> None:
        """Update the clock of the site after a visit or an attempt; a site that fails too often is given up."""
        site, mirror = visit.entry.site, self._mirrors_in_use.pop(visit.entry.key, "")
        if not visit.requested or mirror != self.mirrors.active_mirror(site):
            return
        self._changed.add(site)
        if visit.fetch.status:
            well = visit.fetch.status < 500 and visit.fetch.status != 429 and not visit.fetch.wall
            if self.leases.failures.tried:
                self.leases.failures.end_trial(site, well=well)
            self._frontier.note_answer(site, visit.fetch.latency, well=well)
            if self._context.run.waits:
                self._context.run.end_failure(site)
            if visit.fetch.retry_after:
                self.hold_site(site, visit.fetch.retry_after)
            if visit.fetch.wall:
                self._note_failure(site, visit.fetch.wall)
        elif visit.fetch.error and visit.outcome in (None, UrlOutcome.NETWORK_ERROR):
            self.leases.failures.end_trial(site, well=False)
            self._note_failure(site, visit.fetch.error)

    def _note_failure(self, site: str, error: str) -> None:
        self.leases.note_error(site, error)
        is_over = self._frontier.note_failure(site)
        if site in self._frontier.given_up:
            return
        if not is_over:
            self._tell_failure(site, error)
            return
        self._context.run.end_failure(site)
        if self.switch_mirror(site, error):
            return
        limit = self._frontier.pace.at(site).error_limit
        logger.warning("%s is given up for this run after %d errors, the last: %s", site, limit, error)
        self.leave_out(site)

    def _tell_failure(self, site: str, error: str) -> None:
        state = self._frontier.site(site)
        if state is not None and state.clock.backoff_delay >= LONG_WAIT:
            until = self._context.clock() + max(state.next_at - time.monotonic(), 0.0)
            self._context.run.note_failing_site(site, error, state.clock.errors, until)

    def leave_out(self, site: str) -> None:
        """Request nothing more of a site in this run; its entries stay in the stored queue."""
        for entry in self._frontier.give_up_site(site):
            if not entry.seq:  # not in the stored queue
                self._abandon(entry.key)
        self._store_site(site)

    def readmit(self, site: str) -> None:
        """Send requests to a site again that was left out of this run, or given up."""
        self._frontier.readmit_site(site)
        self._store_site(site)
        self.wake()

    def switch_mirror(self, site: str, error: str) -> bool:
        """Switch to the next mirror of a site, with a clean error count; returns False if there is none left."""
        before = self.mirrors.active_mirror(site) or site
        mirror = self.mirrors.switch_mirror(site)
        if not mirror:
            return False
        logger.warning(
            "%s is given up for this run (%s); its mirror %s is used instead", before, error, mirror
        )
        self.leases.change_host(site)
        self._store_site(site)
        return True

    def apply_stored_robots(self, url: str, rules: RobotsRules) -> None:
        """Apply the stored robots.txt rules of a URL to the clock of its site."""
        self.apply_robots(self.mirrors.queue_site(site_of(url)), rules)

    def apply_robots(self, site: str, rules: RobotsRules) -> None:
        """Apply the Crawl-delay of robots.txt to a site; if robots.txt is unavailable, switch to a mirror."""
        if rules.unavailable and self.switch_mirror(site, rules.unavailable):
            return
        policy = self._context.rules.robots
        asked = policy.delay(rules, -1.0)
        if policy.obey_delay and asked >= 0:
            self._frontier.set_delay(site, asked)
        else:
            self._frontier.reset_delay(site)
        known = self._context.store.sites.get_site(site) or StoredSite(site, self._context.clock())
        self._context.store.sites.put_site(replace(known, robots=_summary_of(rules)))
        self._changed.add(site)

    def release_sites(self) -> None:
        """Give all leases back, and count the waiting URLs of sites that were given up."""
        try:
            self.before_flush()
            self.leases.close()
            if self._frontier.given_up:
                self._context.flush()
        except WorkError as error:
            self._context.run.note_problem(error)
        for site in sorted(self._frontier.given_up):
            waiting = self._context.store.queue.number_by_level(site)
            self._context.counters.note_given_up(site, sum(waiting.values()))

    # ---- the table of sites

    def before_flush(self) -> None:
        """Write changed sites to the stores."""
        changed, self._changed = self._changed, set()
        for site in changed:
            self._store_site(site)
        self.leases.store_clocks(changed)

    def _store_site(self, name: str) -> None:
        sites, site = self._context.store.sites, self._frontier.site(name)
        row = sites.get_site(name) or StoredSite(name)
        given_up = self._context.mark.number if name in self._frontier.given_up else 0
        row = replace(
            row, seen=self._context.clock(), stand_in=self.mirrors.active_mirror(name), given_up=given_up
        )
        sites.put_site(row if site is None else replace(row, own_delay=site.clock.own_delay))


def _summary_of(rules: RobotsRules) -> str:
    return rules.unavailable or (f"{len(rules.rules)} rules" if rules.rules else "forbids nothing")
