"""A reserve of concurrent requests for sites that answer, so that slow ones cannot use up all."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Generic

from ultracrawl.rules.frontier.site import E, Site

SLOW_AFTER = 3.0
"""Seconds without a response after which a site counts as slow."""


class Reserve(Generic[E]):
    """Limits the requests of slow sites together to `limit` (None: no limit).

    A site is slow until it has answered a request for a page, and again when one of its requests has failed or has
    waited for longer than `SLOW_AFTER`. Once a quarter of the limit is used, a slow site has one request at a time.
    It is parked while it may have none. `reschedule` is called with each site that may send more or fewer requests.
    """

    def __init__(self, limit: int | None, reschedule: Callable[[Site[E]], None]) -> None:
        self._limit = limit
        self._reschedule = reschedule
        self.taken = 0
        """Requests of slow sites in flight."""
        self._parked: deque[Site[E]] = deque()
        self._out: deque[tuple[float, Site[E], int]] = deque()
        """Requests of quick sites in the order of their start, with the answer count of the site at that time."""

    def admits(self, site: Site[E]) -> bool:
        """Return whether a site may send a request; if not, the site is parked."""
        if self._limit is None or site.quick:
            return True
        if self.taken < (self._limit // 4 if site.open_requests else self._limit):
            return True
        site.parked = True
        self._parked.append(site)
        return False

    def note_start(self, site: Site[E], now: float) -> None:
        """Note that a request starts."""
        if not site.quick:
            self.taken += 1
        elif self._limit is not None:
            self._out.append((now, site, site.answers))

    def note_end(self, site: Site[E]) -> None:
        """Note that a request has ended."""
        if not site.quick:
            self._free(1)

    def end_request(self, site: Site[E]) -> None:
        """Note the end of the request for robots.txt, if there is one."""
        if site.extra_request:
            site.extra_request = False
            self.note_end(site)

    def note_answer(self, site: Site[E]) -> None:
        """Note that a site answered: it is quick."""
        site.answers += 1
        if site.quick:
            return
        site.quick = True
        self._unpark(site)
        self._free(site.open_requests)

    def note_failure(self, site: Site[E]) -> None:
        """Note that a request failed or waits for too long: its site is slow."""
        if site.quick and self._limit is not None:
            site.quick = False
            self.taken += site.open_requests
            self._reschedule(site)

    def demote_silent_sites(self, now: float) -> None:
        """Make the quick sites slow that have not answered for `SLOW_AFTER`."""
        while self._out and self._out[0][0] <= now - SLOW_AFTER:
            _, site, answers = self._out.popleft()
            if site.open_requests and site.answers == answers:
                self.note_failure(site)

    def _free(self, number: int) -> None:
        self.taken -= number
        room = 0 if self._limit is None else self._limit - self.taken
        while self._parked and room > 0:
            site = self._parked.popleft()
            if site.parked:  # else it was unparked before
                self._unpark(site)
                room -= 1

    def _unpark(self, site: Site[E]) -> None:
        site.parked = False
        self._reschedule(site)
