"""Chooses the next entry to request: refills the frontier from the store, waits for robots.txt and sitemaps."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

from ultracrawl.model import CauseCode
from ultracrawl.rules.candidates.rules import pattern_rule
from ultracrawl.rules.candidates.traps import TrapPatterns
from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.rules.recrawl.change import proves_unchanged
from ultracrawl.rules.robots.rules import RobotsRules
from ultracrawl.run import CrawlContext
from ultracrawl.run.discovery.robots_cache import RobotsCache
from ultracrawl.run.discovery.sitemap_manager import SitemapManager
from ultracrawl.scheduler.alarm import Alarm
from ultracrawl.scheduler.flight import VisitsInFlight
from ultracrawl.scheduler.pacing import Pacing
from ultracrawl.scheduler.recrawl import RecrawlActivator
from ultracrawl.stores import QueueEntry

MAX_SLOW = 20_000
"""Entries of patterns that may be traps that wait at most; further ones are requested in their turn."""


class RobotsBarrier:
    """Holds entries back until the robots.txt of their site is known; their site spends its turn on that."""

    def __init__(
        self,
        context: CrawlContext,
        frontier: Frontier[QueueEntry],
        pacing: Pacing,
        alarm: Alarm,
        robots: RobotsCache,
        sitemaps: SitemapManager,
    ) -> None:
        self._context = context
        self._frontier = frontier
        self._pacing = pacing
        self._alarm = alarm
        self._robots = robots
        self._sitemaps = sitemaps

    def holds_back(self, entry: QueueEntry) -> bool:
        """Return whether an entry was put back, because its robots.txt has to be fetched first."""
        self._pacing.note_request(entry.site)
        if self._is_known(entry):
            return False
        self._frontier.spend_turn(entry)
        task = self._robots.fetch(entry.url, has_turn=True)
        task.add_done_callback(partial(self._resume_site, entry))
        return True

    def _is_known(self, entry: QueueEntry) -> bool:
        """Return whether robots.txt is known as far as needed; one that is not obeyed may still name sitemaps."""
        if not self._robots.ready(entry.url):
            return False
        named_there = self._sitemaps.discovers and self._sitemaps.needs_discovery(entry)
        return not named_there or self._robots.known(entry.url) is not None

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


class TrapBarrier:
    """Keeps new URLs of crawler traps from being requested, and those of what may be one while their site has others.

    What waits stays in the store, as what `VisitsInFlight` has set aside; both are in this collection of keys. URLs
    that were fetched before, and start URLs, are requested in any case.
    """

    def __init__(
        self,
        context: CrawlContext,
        frontier: Frontier[QueueEntry],
        flight: VisitsInFlight,
        patterns: TrapPatterns,
        is_finished: Callable[[str], bool],
    ) -> None:
        """Initialise; `is_finished` returns whether nothing more of a site may be fetched."""
        self._context = context
        self._frontier = frontier
        self._flight = flight
        self._patterns = patterns
        self._is_finished = is_finished
        self._waiting: dict[int, QueueEntry] = {}
        self._sites: set[str] = set()
        """The sites of these entries."""
        self._released: set[int] = set()

    def __len__(self) -> int:
        """Return how many entries stay in the store."""
        return len(self._waiting) + len(self._flight.second)

    def __contains__(self, key: object) -> bool:
        """Return whether the entry of the URL with a key stays in the store."""
        return key in self._waiting or key in self._flight.second

    def holds_back(self, entry: QueueEntry) -> bool:
        """Return whether an entry was ended, or waits now."""
        patterns, context = self._patterns, self._context
        if not patterns.suspects or not entry.seq or entry.url in context.rules.seeds:
            return False
        trap = patterns.bounding(entry.url)
        if not trap and (entry.key in self._released or not patterns.slowing(entry.url)):
            self._released.discard(entry.key)
            return False
        record = context.store.records.get_record(entry.key)
        if (record is not None and record.last_fetched) or self._flight.must_fetch(entry.key):
            return False
        if trap:
            limit = context.rules.traps.at(entry.site).trap_pages or 0
            self._flight.refuse_entry(entry, pattern_rule(limit, trap))
        elif len(self._waiting) >= MAX_SLOW:
            return False
        else:
            self._waiting[entry.key] = entry
            self._sites.add(entry.site)
            self._flight.return_turn(entry)
        return True

    def release(self) -> bool:
        """Let what waits follow at the sites that have nothing else to request; returns whether anything does."""
        idle = {name for name in self._sites if self._is_idle(name)}
        if not idle:
            return False
        followed = [entry for entry in self._waiting.values() if entry.site in idle]
        for entry in followed:
            del self._waiting[entry.key]
        self._sites -= idle
        self._released.update(entry.key for entry in followed)
        goes_on = [entry for entry in followed if not self._is_finished(entry.site)]
        for entry in goes_on:
            self._frontier.add_entry(entry)
        return bool(goes_on)

    def _is_idle(self, name: str) -> bool:
        site = self._frontier.site(name)
        is_empty = site is None or not (site.levels or site.stored or site.open_requests)
        return is_empty and all(visit.entry.site != name for visit in self._context.visits.values())


class SitemapBarrier:
    """Holds back the pages of sites whose sitemaps are still to be read, as the `SitemapManager` decides.

    `must_fetch` returns whether this run has to fetch the URL of a key; `aside` has what stays in the store.
    """

    def __init__(
        self,
        context: CrawlContext,
        frontier: Frontier[QueueEntry],
        manager: SitemapManager,
        robots: RobotsCache,
        must_fetch: Callable[[int], bool],
        aside: TrapBarrier,
    ) -> None:
        self._context = context
        self._frontier = frontier
        self._manager = manager
        self._robots = robots
        self._must_fetch = must_fetch
        self._aside = aside

    def is_waiting(self, site: str) -> bool:
        """Return whether the pages of a site wait for its sitemaps."""
        return site in self._manager.waiting_sites

    def holds_back(self, entry: QueueEntry) -> bool:
        """Look for the sitemaps of a site; returns whether its entries were put back to wait for them."""
        if not self._manager.needs_discovery(entry):
            return False
        if not self._manager.discover_sitemaps(entry, self._robots.known(entry.url)):
            return False
        self._frontier.refund_turn(entry.site)
        self._frontier.finish_entry(entry.site)
        for waiting in self._frontier.withdraw_site(entry.site):
            if not waiting.seq:  # stored entries are loaded again later
                self._frontier.add_first(waiting)
        return True

    @property
    def number_aside(self) -> int:
        """How many entries stay in the store until nothing else is left."""
        return len(self._aside)

    def needing_request(self, entries: list[QueueEntry]) -> list[QueueEntry]:
        """Return the entries that need a request now, which those that were set aside do not.

        Pages that a sitemap reports as unchanged get their outcome here.
        """
        if self._aside:
            entries = [entry for entry in entries if entry.key not in self._aside]
        sites = self._context.store.sites
        if not sites.dates_announced or not self._manager.trusts_dates:
            return entries
        dates = sites.announced_dates([entry.key for entry in entries])
        return [
            entry
            for entry in entries
            if entry.key not in dates or not self._is_vouched_for(entry, dates[entry.key])
        ]

    def _is_vouched_for(self, entry: QueueEntry, latest: int) -> bool:
        context = self._context
        if self._must_fetch(entry.key) or context.run.makes_anew(entry.site):
            return False
        record = context.store.records.get_record(entry.key)
        if record is None or not record.indexed or record.removal or record.cause.code is CauseCode.EXPIRES:
            return False
        rules = self._robots.known(entry.url)
        if context.rules.robots.obey and (rules is None or rules.blocks(entry.url)):
            return False
        if self._robots.reserves(entry.url):
            return False
        if not proves_unchanged(latest, record, context.clock()):
            return False
        context.endings.skip_unchanged(entry, record)
        return True


class Refill:
    """Keeps the frontier filled with stored entries; `settle` stores those that wait for a look-up before it reads."""

    def __init__(
        self,
        context: CrawlContext,
        frontier: Frontier[QueueEntry],
        barrier: SitemapBarrier,
        activator: RecrawlActivator,
        wake: Callable[[], None],
        settle: Callable[[], object],
    ) -> None:
        self._context = context
        self._frontier = frontier
        self._barrier = barrier
        self._activator = activator
        self._wake = wake
        self._settle = settle

    def fill(self) -> None:
        """Load entries of the sites that have some in the store only."""
        while self._frontier.hungry:
            site = next(iter(self._frontier.hungry))
            if self._barrier.is_waiting(site):
                self._frontier.hungry.discard(site)
                continue
            self._settle()
            loaded = [self._fill_level(site, level) for level in self._frontier.hungry_levels(site)]
            self._activator.catch_up()
            if not all(loaded):
                # Continue in a later call: batch after batch would block everything else.
                self._frontier.mark_stored(site)
                self._wake()
                return

    def _fill_level(self, site: str, level: int) -> bool:
        """Load stored entries of a level for a site; returns False if a full batch held none that needs a request."""
        batch = self._frontier.batch_size + self._barrier.number_aside
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


class EntryPicker:
    """Takes the next due entry from the frontier that none of the `barriers` holds back.

    A barrier is called with an entry that was handed out; it returns whether it put the entry back, or ended it.
    `settle` is called when nothing is left: it returns whether links waited that may have added entries. `release` is
    called when nothing is due: it returns whether entries that were held back may follow.
    """

    def __init__(
        self,
        frontier: Frontier[QueueEntry],
        refill: Refill,
        pacing: Pacing,
        barriers: Sequence[Callable[[QueueEntry], bool]],
        settle: Callable[[], bool] = lambda: False,
        release: Callable[[], bool] = lambda: False,
    ) -> None:
        self._frontier = frontier
        self._refill = refill
        self._pacing = pacing
        self._barriers = barriers
        self._settle = settle
        self._release = release

    def next_entry(self) -> QueueEntry | None:
        """Return the next due entry, None if there is none now."""
        while True:
            self._refill.fill()
            self._pacing.prepare_sites()
            # The time is read here because the store calls above may have taken long.
            entry = self._frontier.pop_entry(time.monotonic())
            if entry is None and (self._release() or (not self._frontier.pending and self._settle())):
                continue
            if entry is None or not any(holds_back(entry) for holds_back in self._barriers):
                return entry
