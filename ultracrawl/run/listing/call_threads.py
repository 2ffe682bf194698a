"""Daemon threads for the blocking code of listers and fetchers."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from typing import Any, TypeVar

_Made = TypeVar("_Made")
_making = threading.Lock()


def made_alone(make: Callable[[], _Made]) -> _Made:
    """Return what `make` makes while no other lister or fetcher is made.

    The first one imports its libraries, and two threads that import a package with cyclic imports at once fail.
    """
    with _making:
        return make()


class CallThreads(Executor):
    """An executor with a few daemon threads, so that a call that hangs does not keep the process from ending."""

    def __init__(self, name: str, number: int = 1) -> None:
        self._name = name
        self._number = number
        self._work: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._begun = False

    async def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return the result of a function, called in a thread; coroutine functions run in the event loop."""
        if inspect.iscoroutinefunction(function):
            return await function(*args)
        return await asyncio.get_running_loop().run_in_executor(self, function, *args)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Schedule a call (the protocol of executors)."""
        if not self._begun:
            self._begun = True
            for _ in range(self._number):
                threading.Thread(target=self._call_all, name=self._name, daemon=True).start()
        done: Future[Any] = Future()
        self._work.put((done, lambda: fn(*args, **kwargs)))
        return done

    def close(self) -> None:
        """End the threads after the calls that wait."""
        for _ in range(self._number if self._begun else 0):
            self._work.put(None)

    def _call_all(self) -> None:
        while (work := self._work.get()) is not None:
            done, call = work
            if not done.set_running_or_notify_cancel():
                continue
            try:
                done.set_result(call())
            except BaseException as error:  # code of a plug-in may raise anything; the caller gets it
                done.set_exception(error)
