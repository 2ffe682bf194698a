"""Places that are kept for sites that answer, so that silent ones cannot take all."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Generic

from ultracrawl.rules.frontier.site import E, Site

PATIENCE = 3.0
"""Seconds after which a request without an answer makes its site a slow one."""


class Reserve(Generic[E]):
    """Lets requests of slow sites take at most `most` places (None: any number).

    A site is slow until it has answered a request for a page, and again when one of its requests has failed, or has
    waited for longer than `PATIENCE`. Once a quarter of the places is taken, a slow site has one request at a time.
    It is parked while it may have none. `relist` is called with each site that may do more, or less, than before.
    """

    def __init__(self, most: int | None, relist: Callable[[Site[E]], None]) -> None:
        self._most = most
        self._relist = relist
        self.taken = 0
        """Places that slow sites hold."""
        self._parked: deque[Site[E]] = deque()
        self._out: deque[tuple[float, Site[E], int]] = deque()
        """Requests of quick sites in the order of their start, with the answers that their site had given before."""

    def admits(self, site: Site[E]) -> bool:
        """Return whether a request to a site may go out; if not, the site is parked."""
        if self._most is None or site.quick or self.taken < (self._most // 4 if site.held else self._most):
            return True
        site.parked = True
        self._parked.append(site)
        return False

    def take_place(self, site: Site[E], now: float) -> None:
        """Note that a place is taken for a request that begins."""
        if not site.quick:
            self.taken += 1
        elif self._most is not None:
            self._out.append((now, site, site.answers))

    def give_place_back(self, site: Site[E]) -> None:
        """Note that a place was given back."""
        if not site.quick:
            self._free(1)

    def end_request(self, site: Site[E]) -> None:
        """Note that a request beside those for entries has ended, if there was one."""
        if site.asking:
            site.asking = False
            self.give_place_back(site)

    def note_answer(self, site: Site[E]) -> None:
        """Note that a site answered: it is a quick one."""
        site.answers += 1
        if site.quick:
            return
        site.quick = True
        self._let_go(site)
        self._free(site.held)

    def note_failure(self, site: Site[E]) -> None:
        """Note that a request failed, or waits for too long: its site is a slow one."""
        if site.quick and self._most is not None:
            site.quick = False
            self.taken += site.held
            self._relist(site)

    def find_silent_sites(self, now: float) -> None:
        """Find the quick sites that have not answered for a while."""
        while self._out and self._out[0][0] <= now - PATIENCE:
            _, site, answers = self._out.popleft()
            if site.held and site.answers == answers:
                self.note_failure(site)

    def _free(self, number: int) -> None:
        self.taken -= number
        room = 0 if self._most is None else self._most - self.taken
        while self._parked and room > 0:
            site = self._parked.popleft()
            if site.parked:  # else it was let go before
                self._let_go(site)
                room -= 1

    def _let_go(self, site: Site[E]) -> None:
        site.parked = False
        self._relist(site)
