"""An event loop in a thread of its own, for the blocking calls of an asynchronous library."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable
from typing import TypeVar

R = TypeVar("R")


class LoopThread:
    """Runs coroutines for other threads; the thread is a daemon, so it does not keep a process from ending."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    def call(self, work: Awaitable[R], timeout: float) -> R:
        """Return the result of an operation. Raises what it raises, and `TimeoutError` after so many seconds."""
        return asyncio.run_coroutine_threadsafe(asyncio.wait_for(work, timeout), self._loop).result()

    def close(self) -> None:
        """End the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(1.0)
