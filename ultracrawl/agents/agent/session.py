"""The thread in which an agent lives: every call, plain or async, one after the other, none longer than it may take."""

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
    """Calls the methods of an agent in a thread of its own, which does not keep the process from ending."""

    def __init__(self, name: str, timeout: float) -> None:
        """`name` is what messages call the agent; a call may take `timeout` seconds."""
        self._name = name
        self._timeout = timeout
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._stuck = False
        threading.Thread(target=self._work, name=f"agent {name}", daemon=True).start()

    def call_agent(self, method: Callable[..., Any], *given: Any) -> Any:
        """Return what a method returns. Raises `WorkError` with a line for whatever it raises, or if it takes too long.

        An agent that does not return is not called any more.
        """
        what = f"the agent {self._name} failed in {method.__name__}()"
        if self._stuck:
            raise WorkError(f"{what}: an earlier call has not returned")
        future: Future[Any] = Future()
        self._calls.put((lambda: method(*given), future))
        try:
            return future.result(self._timeout)
        except AgentError as error:
            raise WorkError(f"{what}: {_line(error)}") from error
        except BaseException as error:  # the edge to somebody's class; its thread catches everything
            if not future.done():
                self._stuck = True
                raise WorkError(f"{what}: it did not return within {self._timeout:g} s") from error
            raise WorkError(f"{what}: {type(error).__name__}: {_line(error)}") from error

    def end_thread(self) -> None:
        """Let the thread end when the call in hand is over."""
        self._calls.put(None)

    def _work(self) -> None:
        runner = asyncio.Runner()  # makes its loop for the first coroutine
        while (call := self._calls.get()) is not None:
            function, future = call
            try:
                found = function()
                future.set_result(runner.run(_awaited(found)) if isawaitable(found) else found)
            except BaseException as error:  # an agent that wants to end the process ends its run alone
                future.set_exception(error)
        runner.close()


async def _awaited(found: Any) -> Any:
    return await found


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())
