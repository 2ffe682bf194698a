"""The one timer of the scheduler: rings when the next site falls due."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from scrapy.utils.asyncio import call_later

if TYPE_CHECKING:
    from scrapy.utils.asyncio import CallLaterResult


class Alarm:
    """Calls `ring` once at the earliest time that was asked for; silent for good once it is closed."""

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring
        self._call: CallLaterResult | None = None
        self._at = 0.0
        self.closed = False

    def set(self, seconds: float) -> None:
        """Ring after that many seconds, if it would not ring earlier anyway."""
        at = time.monotonic() + seconds
        if self.closed or (self._call is not None and self._at <= at):
            return
        if self._call is not None:
            self._call.cancel()
        self._at = at
        self._call = call_later(seconds, self._ring_now)

    def close(self) -> None:
        """Ring no more."""
        self.closed = True
        if self._call is not None:
            self._call.cancel()

    def _ring_now(self) -> None:
        self._call = None
        self._ring()
