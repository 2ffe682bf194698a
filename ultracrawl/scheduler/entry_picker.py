"""Which entry goes out next: the frontier is kept filled, and each site knows its robots.txt first."""

from __future__ import annotations

import asyncio
import sys
import time
from functools import partial

from ultracrawl.crawl import CrawlContext
from ultracrawl.crawl.discovery.robots_cache import RobotsCache
from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.rules.robots.rules import RobotsRules
from ultracrawl.scheduler.addresses import AddressResolver
from ultracrawl.scheduler.alarm import Alarm
from ultracrawl.scheduler.candidates.link_ingest import LinkIngest
from ultracrawl.scheduler.candidates.recrawl_activator import RecrawlActivator
from ultracrawl.scheduler.flight import VisitsInFlight
from ultracrawl.scheduler.given_urls import GivenUrls
from ultracrawl.scheduler.pacing import Pacing
from ultracrawl.scheduler.sitemap_barrier import SitemapBarrier
from ultracrawl.stores import QueueEntry


class EntryPicker:
    """Takes entries out of the frontier that may be asked for now, and refills it from the store."""

    def __init__(
        self,
        context: CrawlContext,
        frontier: Frontier[QueueEntry],
        alarm: Alarm,
        pacing: Pacing,
        addresses: AddressResolver,
        ingest: LinkIngest,
        activator: RecrawlActivator,
        flight: VisitsInFlight,
        barrier: SitemapBarrier,
        robots: RobotsCache,
        given: GivenUrls,
    ) -> None:
        self._context = context
        self._frontier = frontier
        self._alarm = alarm
        self._pacing = pacing
        self._addresses = addresses
        self._ingest = ingest
        self._activator = activator
        self._flight = flight
        self._barrier = barrier
        self._robots = robots
        self._given = given

    def next_entry(self) -> QueueEntry | None:
        """Return the next entry whose robots.txt is known; a site without one spends its turn on fetching it."""
        while True:
            self._refill()
            self._addresses.attend()
            self._pacing.leases.attend()
            # Only now is it known when the request begins: stores may have kept us waiting.
            entry = self._frontier.pop_entry(time.monotonic())
            if entry is None:
                return None
            if self._given.keeps(entry):
                self._flight.return_turn(entry)
                continue
            if rule := self._ingest.refuses(entry):
                self._flight.refuse_entry(entry, rule)
                continue
            self._pacing.note_request(entry.site)
            if self._barrier.rules_known(entry):
                if self._barrier.keeps(entry):
                    continue
                return entry
            self._frontier.spend_turn(entry)
            task = self._robots.fetch(entry.url, has_turn=True)
            task.add_done_callback(partial(self._robots_known, entry))

    def _robots_known(self, entry: QueueEntry, task: asyncio.Task[RobotsRules]) -> None:
        """Release a site whose robots.txt has come, with its rules and its Crawl-delay."""
        if self._alarm.closed or task.cancelled():
            return
        if error := task.exception():
            self._context.run.fail(
                f"robots.txt of {entry.site} cannot be judged: {type(error).__name__}: {error}"
            )
            return
        self._pacing.robots_known(entry.site, task.result())
        self._frontier.resume_site(entry.site)
        self._alarm.set_timer(0.0)

    def _refill(self) -> None:
        while self._frontier.hungry:
            site = next(iter(self._frontier.hungry))
            if self._barrier.holds(site):
                self._frontier.hungry.discard(site)
                continue
            found = [self._refill_level(site, level) for level in self._frontier.entries.hungry_levels(site)]
            self._activator.catch_up()
            if not all(found):
                # A pause: one batch after the other would hold up everything else.
                self._frontier.entries.leave_stored(site)
                self._alarm.set_timer(0.0)
                return

    def _refill_level(self, site: str, level: int) -> bool:
        """Load stored entries of a level for a site; False if none of those that were read needs a request."""
        batch = self._frontier.entries.batch_size
        levels = self._context.rules.levels.levels
        # A resumed run may hold levels that the definition no longer has; they count as the last one.
        stop = level + 1 if level < levels else sys.maxsize
        stored = self._context.store.queue.entries_of(site, batch, range(level, stop))
        asked = self._barrier.asked([one for one in stored if one.key not in self._context.visits])
        more = len(stored) == batch
        self._frontier.entries.refill_site(site, asked, more=more, level=level)
        return bool(asked) or not more
