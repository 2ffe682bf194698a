"""The places for searches, shared out fairly among requesters."""

from __future__ import annotations

import math
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from anyio import CapacityLimiter, fail_after, to_thread

from ultracrawl.service.searching.orders import SearchRefusedError

MAX_CONCURRENT_SEARCHES = max(2, 2 * (os.cpu_count() or 1))
"""Concurrent searches; further ones are queued."""
_MAX_SHARE = max(1, MAX_CONCURRENT_SEARCHES - 1)
"""Concurrent searches of one requester."""
_MAX_WAITING = 200
"""Searches of one requester that wait; further ones are refused."""
_PATIENCE = 20.0
"""Seconds that a search waits for its turn."""
Found = TypeVar("Found")


class SearchPlaces:
    """The places for searches. One requester never takes them all, and those that wait get places in their order."""

    def __init__(self, places: int = MAX_CONCURRENT_SEARCHES, share: int = _MAX_SHARE) -> None:
        self._places = CapacityLimiter(places)
        self._share = share
        self._shares: dict[str, CapacityLimiter] = {}
        self._threads = CapacityLimiter(math.inf)

    async def run(self, requester: str, search: Callable[[], Found]) -> Found:
        """Return the result of a search, run in a thread. Raises `SearchRefusedError` if it gets no place in time."""
        share = self._shares.setdefault(requester, CapacityLimiter(self._share))
        if share.statistics().tasks_waiting >= _MAX_WAITING:
            raise SearchRefusedError(f"{_MAX_WAITING} searches of this requester wait already", 1)
        async with _place(share, "this requester"), _place(self._places, "all requesters"):
            return await to_thread.run_sync(search, limiter=self._threads)


@asynccontextmanager
async def _place(limiter: CapacityLimiter, whose: str) -> AsyncIterator[None]:
    try:
        with fail_after(_PATIENCE):
            await limiter.acquire()
    except TimeoutError:
        raise SearchRefusedError(
            f"as many searches as may run at a time, of {whose}, took more than {_PATIENCE:.0f} s", 5
        ) from None
    try:
        yield
    finally:
        limiter.release()
