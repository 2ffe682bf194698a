"""Chooses the next entry to request: refills the frontier from the store and has robots.txt fetched first."""

from __future__ import annotations

import asyncio
import sys
import time
from functools import partial

from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.rules.robots.rules import RobotsRules
from ultracrawl.run import CrawlContext
from ultracrawl.run.discovery.robots_cache import RobotsCache
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
    """Takes the next due entry from the frontier, and keeps the frontier filled from the store."""

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
        given: GivenUrls | None,
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
        """Return the next due entry whose robots.txt is known, or None; other sites spend their turn on robots.txt."""
        while True:
            self._refill()
            self._addresses.start_look_ups()
            self._pacing.leases.lease_wanted_sites()
            # The time is read here because the store calls above may have taken long.
            entry = self._frontier.pop_entry(time.monotonic())
            if entry is None:
                return None
            if self._given is not None and self._given.holds_back(entry):
                self._flight.return_turn(entry)
                continue
            if rule := self._ingest.refusal_rule(entry):
                self._flight.refuse_entry(entry, rule)
                continue
            self._pacing.note_request(entry.site)
            if self._barrier.robots_known(entry):
                if self._barrier.holds_back(entry):
                    continue
                return entry
            self._frontier.spend_turn(entry)
            task = self._robots.fetch(entry.url, has_turn=True)
            task.add_done_callback(partial(self._resume_site, entry))

    def _resume_site(self, entry: QueueEntry, task: asyncio.Task[RobotsRules]) -> None:
        """Resume a site whose robots.txt was fetched, with its rules and Crawl-delay."""
        if self._alarm.closed or task.cancelled():
            return
        if error := task.exception():
            self._context.run.fail(
                f"robots.txt of {entry.site} cannot be judged: {type(error).__name__}: {error}"
            )
            return
        self._pacing.apply_robots(entry.site, task.result())
        self._frontier.resume_site(entry.site)
        self._alarm.set_timer(0.0)

    def _refill(self) -> None:
        while self._frontier.hungry:
            site = next(iter(self._frontier.hungry))
            if self._barrier.is_waiting(site):
                self._frontier.hungry.discard(site)
                continue
            loaded = [self._refill_level(site, level) for level in self._frontier.hungry_levels(site)]
            self._activator.catch_up()
            if not all(loaded):
                # Continue in a later call: batch after batch would block everything else.
                self._frontier.mark_stored(site)
                self._alarm.set_timer(0.0)
                return

    def _refill_level(self, site: str, level: int) -> bool:
        """Load stored entries of a level for a site; returns False if a full batch held none that needs a request."""
        batch = self._frontier.batch_size
        levels = self._context.rules.levels.levels
        # A resumed run may have levels that the definition no longer has; they count as the last one.
        stop = level + 1 if level < levels else sys.maxsize
        stored = self._context.store.queue.entries_of(site, batch, range(level, stop))
        needed = self._barrier.needing_request(
            [entry for entry in stored if entry.key not in self._context.visits]
        )
        more = len(stored) == batch
        self._frontier.refill_site(site, needed, more=more, level=level)
        return bool(needed) or not more
