"""Between the frontier and what outlives it: answers and errors go in, the clocks of sites are kept durable."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracrawl.crawl import CrawlContext, Visit
from ultracrawl.model import UrlOutcome
from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.rules.frontier.mirrors import Mirrors
from ultracrawl.rules.frontier.politeness.clock import Clock
from ultracrawl.rules.urls.canonical import site_of
from ultracrawl.sources import compile_level_selector
from ultracrawl.stores import QueueEntry, StoredSite

if TYPE_CHECKING:
    from ultracrawl.rules.robots.rules import RobotsRules

logger = logging.getLogger(__name__)

DURABLE_FROM = 0.25
"""Seconds of delay from which a request is noted durably before it is made; a restart takes longer than that."""
HELD_BACK = "held back"
"""Why a site waits that asked to be left alone, or whose URL is to be tried again."""


def make_frontier(context: CrawlContext, at_once: int) -> Frontier[QueueEntry]:
    """Return the frontier of a source, as its definition says; `at_once` requests may be out (0: any number)."""
    source = context.source
    pace = replace(context.rules.pace, wall=lambda at: at - time.monotonic() + context.clock())
    return Frontier(
        pace,
        slow=max(at_once // 2, 1) if at_once else None,
        max_sites=source.sites.max_sites,
        max_inter_docs=source.sites.max_inter_docs,
        selector=compile_level_selector(source),
        level_of=_level_of,
    )


def _level_of(entry: QueueEntry) -> int:
    return entry.level


class Pacing:
    """Tells the frontier how requests went, and remembers sites in the state store.

    After a restart a site is not asked before its delay is over, and goes on with the errors it had. A site with too
    many network errors is given up for this run: what waits of it stays in the queue. `abandon` is
    called with the key of a sitemap that will not be fetched.
    """

    def __init__(
        self, context: CrawlContext, frontier: Frontier[QueueEntry], abandon: Callable[[int], None]
    ) -> None:
        self._context = context
        self._frontier = frontier
        self._abandon = abandon
        self.mirrors = Mirrors(context.source.sites.aliases)
        """Which copy of a site is asked, once the site itself was given up."""
        self._asked: dict[int, str] = {}
        """The copies that are asked by visits in flight, by key; not those that ask the site itself."""
        self._changed: set[str] = set()
        self._errors: dict[str, tuple[str, float]] = {}
        """Text and time of errors that are not stored yet."""

    def begin(self) -> None:
        """Load what earlier runs stored about sites."""
        context = self._context
        context.hooks.before_flush.append(self.store_sites)
        now, wall = time.monotonic(), context.clock()
        for row in context.store.sites.delayed_sites(wall):
            if row.stand_in:
                self.mirrors.recall(row.site, row.stand_in)
            if row.given_up == context.mark.number:
                self._frontier.given_up.add(row.site)
            else:
                self._recall(row, now, wall)

    def _recall(self, row: StoredSite, now: float, wall: float) -> None:
        policy, pace = self._context.rules.robots, self._frontier.pace
        if row.own_delay is not None and policy.obey_delay:
            self._frontier.clocks.set_delay(row.site, row.own_delay)
        # Whatever the wall clock did meanwhile, no site waits longer than there is a reason for.
        longest = pace.longest(Clock(own=row.own_delay, slowed=row.slowed))
        held = row.why == HELD_BACK  # sentence: its column holds a word of ours, or the origin of a delay
        if held:
            longest = max(longest, pace.longest_retry_after)
        wait = max(min(row.next_at - wall, longest), 0.0)
        if wait or row.errors:
            self._frontier.clocks.restore_site(row.site, now if held else now + wait, row.errors, row.slowed)
        if held and wait:
            self._frontier.clocks.hold_site(row.site, now + wait)

    # ---- what happens to sites

    def visit_begun(self, visit: Visit) -> None:
        """Note which copy of its site a visit asks."""
        if mirror := self.mirrors.stand_in(visit.entry.site):
            self._asked[visit.entry.key] = mirror

    def note_request(self, site: str) -> None:
        """Note that a request to a site is about to be made."""
        if self._frontier.clocks.delay_of(site) >= DURABLE_FROM:
            self._put(site, at_once=True)
            self._frontier.clocks.correct_start(
                site, time.monotonic()
            )  # a first write takes as long as the disk does
        else:
            self._changed.add(site)

    def claim_turn(self, site: str, now: float) -> float:
        """Take a turn of a site for a request that the frontier does not hand out."""
        site = self.mirrors.queue_of(site)
        at = self._frontier.clocks.claim_turn(site, now)
        self.note_request(site)
        return at

    def hold_site(self, site: str, seconds: float) -> None:
        """Send a site no requests for as many seconds as it asked for (`Retry-After`)."""
        site = self.mirrors.queue_of(site)
        self._frontier.clocks.hold_site(site, time.monotonic() + seconds)
        self._changed.add(site)

    def visit_ended(self, visit: Visit) -> None:
        """Learn from the end of a visit, or of an attempt; a site that fails too often is given up."""
        site, mirror = visit.entry.site, self._asked.pop(visit.entry.key, "")
        if not visit.asked or mirror != self.mirrors.stand_in(site):
            return
        self._changed.add(site)
        if visit.fetch.status:
            well = visit.fetch.status < 500 and visit.fetch.status != 429
            self._frontier.clocks.note_answer(site, visit.fetch.latency, well=well)
            if visit.fetch.retry_after:
                self.hold_site(site, visit.fetch.retry_after)
        elif visit.fetch.error and visit.outcome in (None, UrlOutcome.NETWORK_ERROR):
            self._failed(site, visit.fetch.error)

    def _failed(self, site: str, error: str) -> None:
        self._errors[site] = (error, self._context.clock())
        if not self._frontier.clocks.note_failure(site) or site in self._frontier.given_up:
            return
        if self.switch_copy(site, error):
            return
        withdrawn = self._frontier.entries.give_up_site(site)
        for entry in withdrawn:
            if not entry.seq:  # it stands in no store
                self._abandon(entry.key)
        limit = self._frontier.pace.backoff.limit
        logger.warning(
            "%s is given up for this run after %d network errors, the last: %s", site, limit, error
        )
        self._put(site, at_once=False)

    def switch_copy(self, site: str, error: str) -> bool:
        """Ask the next copy of a site from now on, which begins without errors; False if there is none left."""
        before = self.mirrors.stand_in(site) or site
        copy = self.mirrors.switch(site)
        if not copy:
            return False
        logger.warning("%s is given up for this run (%s); its copy %s stands in for it", before, error, copy)
        self._frontier.clocks.renew_site(site)
        self._put(site, at_once=True)
        return True

    def robots_recalled(self, url: str, rules: RobotsRules) -> None:
        """Apply the stored robots.txt rules of a URL to the pace of its site."""
        self.robots_known(self.mirrors.queue_of(site_of(url)), rules)

    def robots_known(self, site: str, rules: RobotsRules) -> None:
        """Apply the Crawl-delay of a site's robots.txt; if that cannot be read, switch to a mirror of the site."""
        if rules.unavailable and self.switch_copy(site, rules.unavailable):
            return
        policy = self._context.rules.robots
        asked = policy.delay(rules, -1.0)
        if policy.obey_delay and asked >= 0:
            self._frontier.clocks.set_delay(site, asked)
        else:
            self._frontier.clocks.reset_delay(site)
        known = self._context.store.sites.get_site(site) or StoredSite(site)
        # Without a time it would be taken for one of long ago when the next run begins.
        next_at = known.next_at or self._context.clock()
        self._context.store.sites.put_site(replace(known, robots=_in_words(rules), next_at=next_at))
        self._changed.add(site)

    def report_given_up(self) -> None:
        """Report the sites that were given up, with the number of their URLs that wait for the next run."""
        for site in sorted(self._frontier.given_up):
            waiting = self._context.store.queue.number_by_level(site)
            self._context.counters.note_given_up(site, sum(waiting.values()))

    # ---- the table of sites

    def store_sites(self) -> None:
        """Hand the sites that changed to the state store; called before each of its flushes."""
        changed, self._changed = self._changed, set()
        for site in changed:
            self._put(site, at_once=False)

    def _put(self, name: str, *, at_once: bool) -> None:
        site = self._frontier.site(name)
        if site is None and name not in self._errors:
            return
        sites = self._context.store.sites
        row = sites.get_site(name) or StoredSite(name)
        if site is not None:
            clock, now = site.clock, time.monotonic()
            held = clock.held > clock.due
            why = HELD_BACK if held else str(self._frontier.pace.in_force(clock, now))
            next_at = self._context.clock() + site.next_at - now
            row = replace(
                row, next_at=next_at, why=why, own_delay=clock.own, errors=clock.errors, slowed=clock.slowed
            )
        row = replace(row, stand_in=self.mirrors.stand_in(name))
        error, at = self._errors.pop(name, (row.last_error, row.error_at))
        given_up = self._context.mark.number if name in self._frontier.given_up else 0
        sites.put_site(replace(row, last_error=error, error_at=at, given_up=given_up), at_once=at_once)


def _in_words(rules: RobotsRules) -> str:
    return rules.unavailable or (f"{len(rules.rules)} rules" if rules.rules else "forbids nothing")
