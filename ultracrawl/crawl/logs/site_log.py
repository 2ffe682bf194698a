"""The life of each site in a crawl: start, idle, suspend, resume, refresh, done, with its numbers (FAST 5.6 site)."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ultracrawl.model import UrlOutcome
from ultracrawl.rules.frontier.site_registry import Move

if TYPE_CHECKING:
    from ultracrawl.crawl.logs.columns import ColumnLog
    from ultracrawl.crawl.visit import Visit

_ITEMS = frozenset({UrlOutcome.NEW, UrlOutcome.MODIFIED, UrlOutcome.PENDING})
_ERRORS = frozenset({UrlOutcome.HTTP_ERROR, UrlOutcome.NETWORK_ERROR, UrlOutcome.FAILED, UrlOutcome.GONE})


@dataclass(slots=True)
class _Numbers:
    """What a site delivered in this run."""

    fetched: int = 0
    size: int = 0
    items: int = 0
    errors: int = 0


class SiteLog:
    """Has a line for each event of a site: what happened, its name, downloads, bytes, new items, errors so far.

    `start` is the first place of a site in a run, `refresh` that of a site that an earlier run has asked; `idle` is a
    queue that has run empty, `suspend` a site that waits for others or was given up, `resume` one that goes on,
    `done` its end in this run.
    """

    def __init__(self, log: ColumnLog, known: Callable[[str], bool], given_up: Container[str]) -> None:
        self._log = log
        self._known = known
        self._given_up = given_up
        self._sites: dict[str, _Numbers] = {}

    def moved(self, site: str, move: Move) -> None:
        """Note that a site got its place, or lost it."""
        if move is Move.PLACED:
            first = site not in self._sites
            self._add("resume" if not first else "refresh" if self._known(site) else "start", site)
        else:
            self._add("suspend" if move is Move.WAITS or site in self._given_up else "idle", site)

    def note_visit(self, visit: Visit) -> None:
        """Count the end of a visit."""
        if not visit.asked or not visit.entry.seq:
            return
        numbers = self._of(visit.entry.site)
        numbers.fetched += bool(visit.fetch.status)
        numbers.size += visit.fetch.size
        numbers.items += visit.outcome in _ITEMS
        numbers.errors += visit.outcome in _ERRORS

    def note_run_end(self) -> None:
        """Note the end of the run for each site."""
        for site in self._sites:
            self._add("done", site)

    def _of(self, site: str) -> _Numbers:
        numbers = self._sites.get(site)
        if numbers is None:
            numbers = self._sites[site] = _Numbers()
        return numbers

    def _add(self, event: str, site: str) -> None:
        numbers = self._of(site)
        self._log.add(event, site, numbers.fetched, numbers.size, numbers.items, numbers.errors)
