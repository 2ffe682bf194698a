"""Threads in which code of a kind of sources is called that waits for files, servers and databases."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import SimpleQueue
from typing import Any


class CallThreads(Executor):
    """A few threads that call one function after the other; one that hangs does not keep the process from ending."""

    def __init__(self, name: str, number: int = 1) -> None:
        self._name = name
        self._number = number
        self._work: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._begun = False

    async def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return what a function returns; one that is a coroutine runs in the event loop."""
        if inspect.iscoroutinefunction(function):
            return await function(*args)
        return await asyncio.get_running_loop().run_in_executor(self, function, *args)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Have a function called (the protocol of executors)."""
        if not self._begun:
            self._begun = True
            for _ in range(self._number):
                threading.Thread(target=self._call_all, name=self._name, daemon=True).start()
        done: Future[Any] = Future()
        self._work.put((done, lambda: fn(*args, **kwargs)))
        return done

    def close(self) -> None:
        """Have the threads end once they have called what waits."""
        for _ in range(self._number if self._begun else 0):
            self._work.put(None)

    def _call_all(self) -> None:
        while (work := self._work.get()) is not None:
            done, call = work
            if not done.set_running_or_notify_cancel():
                continue
            try:
                done.set_result(call())
            except BaseException as error:  # the edge to code of a kind; it is raised where it was called
                done.set_exception(error)
