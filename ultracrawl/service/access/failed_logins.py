"""Counts failed log-ins by the address that they come from."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Callable
from itertools import count

MAX_FAILED_LOGINS = 20
"""Failed log-ins of one address within `FAILURE_WINDOW` after which further ones are refused unchecked."""
FAILURE_WINDOW = 60.0
"""Seconds for which a failed log-in counts."""
_MAX_KEYS = 10_000
_MAX_RECORDED = 60


class RecentCounts:
    """Counts events by a key over the latest seconds; of more than `_MAX_KEYS` keys the oldest are forgotten."""

    def __init__(self, seconds: float, most: int, clock: Callable[[], float]) -> None:
        """Nothing is counted beyond `most`."""
        self._seconds = seconds
        self._most = most
        self._clock = clock
        self._events: dict[str, dict[object, float]] = {}
        self._number = count()

    def count_of(self, key: str) -> int:
        """Return how many events of a key there were."""
        since = self._clock() - self._seconds
        return sum(at > since for at in self._events.get(key, {}).values())

    def add(self, key: str, event: object = None) -> int:
        """Count an event and return how many there are now; equal events other than None are counted once."""
        now = self._clock()
        since = now - self._seconds
        events = {one: at for one, at in self._events.pop(key, {}).items() if at > since}
        events[next(self._number) if event is None else event] = now
        while len(events) > self._most:
            del events[next(iter(events))]
        if len(self._events) >= _MAX_KEYS:
            del self._events[next(iter(self._events))]
        self._events[key] = events
        return len(events)


class FailedLogins:
    """Counts failed log-ins by client address over `FAILURE_WINDOW`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._failures = RecentCounts(FAILURE_WINDOW, MAX_FAILED_LOGINS + 1, clock)
        self._recorded = RecentCounts(FAILURE_WINDOW, _MAX_RECORDED, clock)

    def too_many(self, address: str) -> bool:
        """Return whether an address has reached the limit."""
        return self._failures.count_of(network_of(address)) >= MAX_FAILED_LOGINS

    def note_failure(self, address: str) -> bool:
        """Count a failed log-in; return whether it is to be recorded: of a flood only a few are.

        Recorded are the first one of an address within `FAILURE_WINDOW`, and the one after which further ones are
        refused unchecked; of all addresses together at most `_MAX_RECORDED`.
        """
        if self._failures.add(network_of(address)) not in (1, MAX_FAILED_LOGINS):
            return False
        if self._recorded.count_of("") >= _MAX_RECORDED:
            return False
        self._recorded.add("")
        return True


def network_of(address: str) -> str:
    """Return what counts as one address: of IPv6 the first 64 bits, because everybody has 2^64 of them."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address):
        return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))
    return address
