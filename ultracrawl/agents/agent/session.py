"""The thread that runs an agent: sequential calls of plain and async methods, with a timeout."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from inspect import isawaitable
from queue import SimpleQueue
from typing import Any

from ultracrawl.agents.agent.crawler_agent import AgentError
from ultracrawl.errors import WorkError

_Call = tuple[Callable[[], Any], "Future[Any]"]


class AgentThread:
    """Calls the methods of an agent in a daemon thread of its own."""

    def __init__(self, name: str, timeout: float) -> None:
        """`name` is used in messages; a call may take `timeout` seconds."""
        self._name = name
        self._timeout = timeout
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._stuck = False
        threading.Thread(target=self._work, name=f"agent {name}", daemon=True).start()

    def call_agent(self, method: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of a method. Raises a one-line `WorkError` for any exception, and on timeout.

        After a timeout the agent is not called any more.
        """
        problem = f"the agent {self._name} failed in {method.__name__}()"
        if self._stuck:
            raise WorkError(f"{problem}: an earlier call has not returned")
        future: Future[Any] = Future()
        self._calls.put((lambda: method(*arguments), future))
        try:
            return future.result(self._timeout)
        except AgentError as error:
            raise WorkError(f"{problem}: {_line(error)}") from error
        except BaseException as error:  # user code may raise anything, even `SystemExit`
            if not future.done():
                self._stuck = True
                raise WorkError(f"{problem}: it did not return within {self._timeout:g} s") from error
            raise WorkError(f"{problem}: {type(error).__name__}: {_line(error)}") from error

    def end_thread(self) -> None:
        """Let the thread end after the current call."""
        self._calls.put(None)

    def _work(self) -> None:
        runner = asyncio.Runner()  # creates its loop with the first coroutine
        while (call := self._calls.get()) is not None:
            function, future = call
            try:
                result = function()
                future.set_result(runner.run(_awaited(result)) if isawaitable(result) else result)
            except BaseException as error:  # `SystemExit` of an agent ends its run, not the process
                future.set_exception(error)
        runner.close()


async def _awaited(awaitable: Any) -> Any:
    return await awaitable


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())
