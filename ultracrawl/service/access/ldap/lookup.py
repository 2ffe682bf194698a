"""For how long the groups of a directory count, and what holds while it is silent: nobody is in any."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import UserError, WorkError

logger = logging.getLogger(__name__)
RETRY = 30.0
"""Seconds after a failure for which the directory is not asked, so that searches do not wait for it."""
_MOST_KNOWN = 10_000
_AT_A_TIME = 4
"""Questions that wait for the directory at a time."""


@dataclass(frozen=True, slots=True)
class _Known:
    groups: tuple[str, ...]
    ends: float


class GroupLookup:
    """Asks for the groups of users, and keeps the answers for `expiry` seconds, in memory."""

    def __init__(
        self,
        ask: Callable[[str], tuple[str, ...]],
        expiry: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`ask` returns the groups of a name. Raises `WorkError` or `UserError` if it cannot."""
        self._ask = ask
        self._expiry = expiry
        self._clock = clock
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(_AT_A_TIME)
        self._known: dict[str, _Known] = {}
        self._rests_until = 0.0
        self._is_failing = False

    def groups_of(self, name: str) -> tuple[str, ...]:
        """Return the groups of a user; none if they cannot be known now."""
        known = self._known.get(name)
        if known is not None and self._clock() < known.ends:
            return known.groups
        with self._places:
            return self._asked(name) if self._may_ask() else ()

    def _may_ask(self) -> bool:
        """Return whether the directory may be asked; while it fails, by one question after each rest."""
        with self._lock:
            now = self._clock()
            if now < self._rests_until:
                return False
            if self._is_failing:
                self._rests_until = now + RETRY
            return True

    def _asked(self, name: str) -> tuple[str, ...]:
        began = self._clock()
        try:
            groups = self._ask(name)
        except (UserError, WorkError) as error:
            with self._lock:
                is_first, self._is_failing = not self._is_failing, True
                self._rests_until = self._clock() + RETRY
                self._known.pop(name, None)
            if is_first:
                logger.warning("groups of users cannot be read, so that they are in none: %s", error)
            return ()
        with self._lock:
            if self._is_failing:
                logger.warning("groups of users are read again")
            self._is_failing, self._rests_until = False, 0.0
            self._known.pop(name, None)
            self._known[name] = _Known(groups, began + self._expiry)
            while len(self._known) > _MOST_KNOWN:
                del self._known[next(iter(self._known))]
        return groups
