"""The timer that wakes the scheduler when the next site is due."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from scrapy.utils.asyncio import call_later

if TYPE_CHECKING:
    from scrapy.utils.asyncio import CallLaterResult


class Alarm:
    """A timer that calls `ring` once, at the earliest of the times that were set, and never after `close`."""

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring
        self._call: CallLaterResult | None = None
        self._at = 0.0
        self.closed = False

    def set_timer(self, seconds: float) -> None:
        """Call `ring` in `seconds`; does nothing if the timer is set for an earlier time or was closed."""
        at = time.monotonic() + seconds
        if self.closed or (self._call is not None and self._at <= at):
            return
        if self._call is not None:
            self._call.cancel()
        self._at = at
        self._call = call_later(seconds, self._ring_now)

    def close(self) -> None:
        """Cancel the timer for good."""
        self.closed = True
        if self._call is not None:
            self._call.cancel()

    def _ring_now(self) -> None:
        self._call = None
        self._ring()
