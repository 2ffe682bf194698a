"""Begins crawls in processes of their own, and hears how they go and end."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, ForkServerProcess
from typing import Any

from pydantic import TypeAdapter

from ultracrawl.errors import WorkError
from ultracrawl.model import RunReport
from ultracrawl.service.metrics.machine import resident_bytes
from ultracrawl.service.orders import CrawlEnd, CrawlOrder
from ultracrawl.service.supervisor.messages import ChildOrder, Live

_PROGRAM = "ultracrawl.service.supervisor.child"
_LOOK_EVERY = 1.0
"""Seconds between two looks at the memory of a process."""
_GRACE = 20.0
"""Seconds that a process which takes too much memory has to end cleanly; at once if it takes another quarter."""
_LONGEST_END = 600.0
"""Seconds that a process has to end cleanly which was told to; a commit of a large segment takes minutes."""
_PIECE = 1 << 20
_LONGEST_MESSAGE = 16 << 20

Prepare = Callable[[CrawlOrder], ChildOrder]
"""Makes of an order what its process has to know. Raises `UserError`."""


class ProcessLauncher:
    """Begins each crawl in a process that is forked from one which has loaded everything, and does nothing else.

    So a crawl begins within milliseconds, and what all have in common is in memory once. It gets the definition that
    was validated. A process that takes more memory than `processes.memory` of that is ended.
    """

    def __init__(self, prepare: Prepare) -> None:
        self._prepare = prepare
        self._context: ForkServerContext = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([_PROGRAM])

    async def launch(self, order: CrawlOrder) -> ChildCrawl:
        """Begin a crawl. Raises `UserError`, `WorkError`."""
        return await self._begin(order, self._prepare(order))

    async def complete_dead(self, order: CrawlOrder, death: str) -> ChildCrawl | None:
        """Begin the command of a source whose crawl died, which cannot run it itself; None if there is none.

        Raises `UserError`, `WorkError`.
        """
        prepared = self._prepare(order)
        if not prepared.source.completion.command:
            return None
        return await self._begin(order, replace(prepared, death=death))

    async def _begin(self, order: CrawlOrder, prepared: ChildOrder) -> ChildCrawl:
        ours, theirs = self._context.Pipe()
        child = self._context.Process(target=_run, args=(prepared, theirs), name=order.source)
        try:
            await asyncio.to_thread(child.start)
        except OSError as error:
            ours.close()
            why = error.strerror or error
            raise WorkError(f"source {order.source!r}: its process cannot be started: {why}") from error
        finally:
            theirs.close()
        return ChildCrawl(order, child, ours, prepared.project.processes.memory)


def _run(order: ChildOrder, parent: Connection) -> None:
    from ultracrawl.service.supervisor.child import crawl_in_child  # noqa: PLC0415 - Scrapy is for children

    with parent:  # closed as soon as all is said: the parent knows then that nothing but its end is left
        crawl_in_child(order, parent)


class ChildCrawl:
    """A crawl in a process of its own."""

    def __init__(
        self, order: CrawlOrder, child: ForkServerProcess, ours: Connection, memory: int | None
    ) -> None:
        self.order = order
        self.begun = time.time()
        self.live = Live()
        """How it goes, as it said last."""
        self.mistake = False
        """Whether it could not begin because of a mistake of the user's."""
        self._child = child
        self._ours = ours
        self._memory = memory
        self._heard = b""
        """The beginning of a message that is not there as a whole."""
        self._report: RunReport | None = None
        self._ending = ""
        """Why it was ended from here."""
        self._given_up = False
        """Whether it was ended for what it did, and not because anybody wanted that."""
        self._end: asyncio.Future[CrawlEnd] = asyncio.get_running_loop().create_future()
        self._leave: asyncio.Task[None] | None = None
        self._watch = asyncio.ensure_future(self._watch_memory()) if memory else None
        asyncio.get_running_loop().add_reader(ours.fileno(), self._hear)

    @property
    def pid(self) -> int:
        """The number of its process."""
        assert self._child.pid is not None
        return self._child.pid

    async def finished(self) -> CrawlEnd:
        """Return how it ended, when its process is gone."""
        return await asyncio.shield(self._end)

    async def stop_crawl(self) -> None:
        """Have it end cleanly, at whatever point it is."""
        self._ending = self._ending or "stopped before it had begun; the next crawl goes on"
        self._send_signal(signal.SIGTERM)
        asyncio.get_running_loop().call_later(_LONGEST_END, self._give_up_late)

    async def kill_crawl(self) -> None:
        """End it at once; what it started ends with it."""
        self._ending = self._ending or "ended at once; the next crawl goes on"
        self._send_signal(signal.SIGKILL)

    def _send_signal(self, number: int) -> None:
        if not self._end.done():
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _give_up_late(self) -> None:
        if not self._end.done() and not self._given_up:
            self._give_up(f"did not end within {_LONGEST_END:.0f} seconds of being told to")
            self._send_signal(signal.SIGKILL)

    def _give_up(self, why: str) -> None:
        self._given_up, self._ending = True, f"its process {why}, and was ended; the next crawl goes on"

    def _hear(self) -> None:
        """Take what it has said, and never wait for the rest of it."""
        try:
            piece = os.read(self._ours.fileno(), _PIECE)
        except OSError:
            piece = b""
        if not piece:
            asyncio.get_running_loop().remove_reader(self._ours.fileno())
            self._ours.close()
            self._leave = asyncio.ensure_future(self._take_leave())
            return
        *messages, self._heard = (self._heard + piece).split(b"\n")
        try:
            for message in messages:
                self._take_message(json.loads(message))
            if len(self._heard) > _LONGEST_MESSAGE:
                raise ValueError("a message without an end")
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            self._heard = b""
            self._give_up(f"said what is no message ({error})")
            self._send_signal(signal.SIGKILL)

    def _take_message(self, told: dict[str, Any]) -> None:
        if "live" in told:
            self.live = Live(**told["live"])
        else:
            self._report = TypeAdapter(RunReport).validate_python(told["report"])
            self.mistake = told["mistake"]

    async def _take_leave(self) -> None:
        """Its end of the pipe is closed: wait until it is gone, and say how it ended."""
        await asyncio.to_thread(self._child.join, _GRACE)
        if (
            self._child.exitcode is None
        ):  # something holds it, and it would keep its source from the next crawl
            self._child.kill()
            await asyncio.to_thread(self._child.join, _GRACE)
        code = self._child.exitcode
        if self._watch is not None:
            self._watch.cancel()
        if not self._end.done():
            self._end.set_result(self._how_it_ended(code))

    def _how_it_ended(self, code: int | None) -> CrawlEnd:
        source = self.order.source
        if self._report is not None and not self._given_up:
            return CrawlEnd(source, self._report)
        if self._ending:
            return CrawlEnd(source, self._report, self._ending, died=self._given_up)
        how = f"ended with exit code {code}"
        if code is not None and code < 0:
            how = f"was killed by {signal.Signals(-code).name}"
        return CrawlEnd(
            source, None, f"its process {how}; nothing is lost, the next crawl goes on", died=True
        )

    # ---- memory

    async def _watch_memory(self) -> None:
        assert self._memory is not None
        since: float | None = None
        while not self._end.done():
            await asyncio.sleep(_LOOK_EVERY)
            size = resident_bytes(self.pid)
            if size <= self._memory and since is None:
                continue
            if since is None:
                since = time.monotonic()
                self._give_up(f"took more than `processes.memory`, {self._memory / 1e6:,.0f} MB")
                self._send_signal(signal.SIGTERM)
            elif size > self._memory * 1.25 or time.monotonic() - since > _GRACE:
                self._send_signal(signal.SIGKILL)
