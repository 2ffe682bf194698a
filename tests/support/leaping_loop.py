"""An asyncio loop on which nothing waits: when all that runs waits for the time alone, the clock leaps there."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from support import clock


class LeapingSelector(selectors.DefaultSelector):  # type: ignore[misc, valid-type]  # it depends on the system
    """Selects what is ready now; else it waits for work outside of the loop, or leaps."""

    def __init__(self) -> None:
        super().__init__()
        self.outside: set[Future[Any]] = set()
        """What is worked on in threads and processes, in true time."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if timeout is None or any(not work.done() for work in self.outside):
            return super().select(timeout)
        self.outside.clear()
        clock.leap(timeout)
        return ready


class LeapingLoop(asyncio.SelectorEventLoop):
    """The loop; what is given to threads is done at once, in this one."""

    def __init__(self) -> None:
        self._leaping = LeapingSelector()
        super().__init__(self._leaping)

    def wait_for(self, work: Future[Any]) -> None:
        """Leap over nothing before this is done."""
        self._leaping.outside.add(work)

    @contextmanager
    def true_time(self) -> Iterator[None]:
        """Leap over nothing meanwhile."""
        done: Future[None] = Future()
        self.wait_for(done)
        try:
            yield
        finally:
            done.set_result(None)

    def run_in_executor(self, executor: object, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future
