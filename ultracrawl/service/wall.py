"""The clock on the wall, for what waits in the service."""

from __future__ import annotations

import asyncio
import time


class WallClock:
    """The time as it is, and real waiting."""

    def now(self) -> float:
        """Return the seconds since 1970."""
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Return when so much time has gone by."""
        await asyncio.sleep(seconds)
