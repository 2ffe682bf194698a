"""Starts crawls in child processes, and follows their progress, end and memory."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Any

from ultracrawl.errors import WorkError
from ultracrawl.model import RunReport
from ultracrawl.service.metrics.machine import resident_bytes
from ultracrawl.service.orders import CrawlEnd, CrawlOrder, CrawlProgress, report_adapter
from ultracrawl.service.supervisor.messages import ChildOrder
from ultracrawl.system.fork_server import start_process

_MEMORY_CHECK_INTERVAL = 1.0
"""Seconds between two checks of the memory of a process."""
_GRACE = 20.0
"""Seconds that a process above its memory limit has to end cleanly; above 125 % of the limit it is killed at once."""
_STOP_TIMEOUT = 600.0
"""Seconds that a stopped process has to end cleanly; a commit of a large segment takes minutes."""
_READ_SIZE = 1 << 20
_MAX_MESSAGE_BYTES = 16 << 20

Prepare = Callable[[CrawlOrder], ChildOrder]
"""Returns the arguments of the child process for an order. Raises `UserError`."""


class ProcessLauncher:
    """Forks each crawl from the fork server. The child gets the validated definition.

    A process that uses more memory than `processes.memory` is ended.
    """

    def __init__(self, prepare: Prepare) -> None:
        self._prepare = prepare

    async def launch(self, order: CrawlOrder) -> ChildCrawl:
        """Start a crawl. Raises `UserError`, `WorkError`."""
        return await self._start(order, self._prepare(order))

    async def complete_dead(self, order: CrawlOrder, death: str) -> ChildCrawl | None:
        """Start the completion command of a source whose crawl died; returns None if it has none.

        Raises `UserError`, `WorkError`.
        """
        prepared = self._prepare(order)
        if not prepared.source.completion.command:
            return None
        return await self._start(order, replace(prepared, death=death))

    async def _start(self, order: CrawlOrder, prepared: ChildOrder) -> ChildCrawl:
        try:
            child, pipe = await asyncio.to_thread(start_process, _run, prepared, name=order.source)
        except (OSError, EOFError) as error:
            reason = getattr(error, "strerror", None) or str(error) or "the fork server has died"
            raise WorkError(f"source {order.source!r}: its process cannot be started: {reason}") from error
        return ChildCrawl(order, child, pipe, prepared.project.processes.memory)


def _run(order: ChildOrder, parent: Connection) -> None:
    from ultracrawl.service.supervisor.child import crawl_in_child  # noqa: PLC0415 - only children import Scrapy

    with parent:  # closing it tells the parent that no more messages follow
        crawl_in_child(order, parent)


class ChildCrawl:
    """A crawl in a child process."""

    def __init__(
        self, order: CrawlOrder, child: ForkServerProcess, pipe: Connection, memory: int | None
    ) -> None:
        """`pipe` is the parent's end; `memory` is the limit in bytes."""
        self.order = order
        self.begun = time.time()
        self.progress = CrawlProgress()
        """The last progress message."""
        self._mistake = False
        """Whether it could not start because of a mistake of the user."""
        self._last = False
        """Whether a filter function requested that no further run follows."""
        assert child.pid is not None
        self.pid = child.pid
        self._child = child
        self._pipe = pipe
        self._memory = memory
        self._incomplete = b""
        """The beginning of a message that has not been read completely."""
        self._report: RunReport | None = None
        self._end_reason = ""
        """Why this process has ended it."""
        self._given_up = False
        """Whether it was ended for misbehaving (memory, timeout, invalid messages), and not by request."""
        self._end: asyncio.Future[CrawlEnd] = asyncio.get_running_loop().create_future()
        self._exit: asyncio.Task[None] | None = None
        self._stop_timer: asyncio.TimerHandle | None = None
        """Gives up stopping it; it would keep all this until its time."""
        self._memory_watch = asyncio.ensure_future(self._watch_memory()) if memory else None
        asyncio.get_running_loop().add_reader(pipe.fileno(), self._read_messages)

    async def finished(self) -> CrawlEnd:
        """Wait until the process has ended, and return the end of the crawl."""
        return await asyncio.shield(self._end)

    async def stop_crawl(self) -> None:
        """End it cleanly, in whatever phase it is; it is killed after `_STOP_TIMEOUT`."""
        self._end_reason = self._end_reason or "stopped before it had begun; the next crawl resumes it"
        self._send_signal(signal.SIGTERM)
        if self._stop_timer is None and not self._end.done():
            loop = asyncio.get_running_loop()
            self._stop_timer = loop.call_later(_STOP_TIMEOUT, self._give_up_stopping)

    async def kill_crawl(self) -> None:
        """Kill it; its own child processes end with it."""
        self._end_reason = self._end_reason or "killed; the next crawl resumes it"
        self._send_signal(signal.SIGKILL)

    def _send_signal(self, number: int) -> None:
        if not self._end.done():
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _give_up_stopping(self) -> None:
        if not self._end.done() and not self._given_up:
            self._give_up(f"did not end within {_STOP_TIMEOUT:.0f} seconds of the order to stop")
            self._send_signal(signal.SIGKILL)

    def _give_up(self, reason: str) -> None:
        self._given_up, self._end_reason = (
            True,
            f"its process {reason}, and was ended; the next crawl resumes it",
        )

    def _read_messages(self) -> None:
        """Read the available bytes without blocking, and handle the complete messages."""
        try:
            data = os.read(self._pipe.fileno(), _READ_SIZE)
        except OSError:
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._pipe.fileno())
            self._pipe.close()
            self._exit = asyncio.ensure_future(self._await_exit())
            return
        *messages, self._incomplete = (self._incomplete + data).split(b"\n")
        try:
            for message in messages:
                self._handle_message(json.loads(message))
            if len(self._incomplete) > _MAX_MESSAGE_BYTES:
                raise ValueError("it is too long")
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            self._incomplete = b""
            self._give_up(f"sent an invalid message ({error})")
            self._send_signal(signal.SIGKILL)

    def _handle_message(self, fields: dict[str, Any]) -> None:
        if "live" in fields:
            self.progress = CrawlProgress(**fields["live"])
        else:
            self._report = report_adapter().validate_python(fields["report"])
            self._mistake, self._last = fields["mistake"], fields["last"]

    async def _await_exit(self) -> None:
        """Wait for the process after it has closed its end of the pipe, and set the end of the crawl."""
        await asyncio.to_thread(self._child.join, _GRACE)
        if self._child.exitcode is None:  # it hangs, and would keep the lock of its source
            self._child.kill()
            await asyncio.to_thread(self._child.join, _GRACE)
        code = self._child.exitcode
        if code is not None:
            self._child.close()  # its two pipes at once, not when the garbage is collected
        for watch in (self._memory_watch, self._stop_timer):
            if watch is not None:
                watch.cancel()
        if not self._end.done():
            self._end.set_result(self._crawl_end(code))

    def _crawl_end(self, code: int | None) -> CrawlEnd:
        source = self.order.source
        if self._report is not None and not self._given_up:
            return CrawlEnd(source, self._report, mistake=self._mistake, last=self._last)
        if self._end_reason:
            return CrawlEnd(source, self._report, self._end_reason, died=self._given_up)
        problem = f"ended with exit code {code}"
        if code is not None and code < 0:
            problem = f"was killed by {signal.Signals(-code).name}"
        return CrawlEnd(
            source, None, f"its process {problem}; nothing is lost, the next crawl resumes it", died=True
        )

    # ---- memory

    async def _watch_memory(self) -> None:
        assert self._memory is not None
        exceeded_at: float | None = None
        while not self._end.done():
            await asyncio.sleep(_MEMORY_CHECK_INTERVAL)
            size = resident_bytes(self.pid)
            if size <= self._memory and exceeded_at is None:
                continue
            if exceeded_at is None:
                exceeded_at = time.monotonic()
                self._give_up(f"took more than `processes.memory`, {self._memory / 1e6:,.0f} MB")
                self._send_signal(signal.SIGTERM)
            elif size > self._memory * 1.25 or time.monotonic() - exceeded_at > _GRACE:
                self._send_signal(signal.SIGKILL)
