"""libcurl's multi interface, driven by an asyncio loop."""

from __future__ import annotations

import asyncio
from selectors import DefaultSelector
from typing import Any

import pycurl


class CurlLoop:
    """Runs transfers of easy handles concurrently: no thread, no polling.

    libcurl tells which sockets it waits for and when it wants to be called. The loop watches one selector that has all
    these sockets: as readers of the loop each would cost several times as much, with every request.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, connections: int) -> None:
        self._loop = loop
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._schedule)
        self._multi.setopt(pycurl.M_MAXCONNECTS, connections)
        self._running: dict[Any, asyncio.Future[tuple[int, str]]] = {}
        self._sockets = DefaultSelector()
        self._watched = self._sockets.get_map()
        loop.add_reader(self._sockets.fileno(), self._act_on_sockets)
        self._deadline = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._soon: asyncio.Handle | None = None

    async def run(self, curl: Any) -> tuple[int, str]:
        """Run one transfer to its end; returns libcurl's error code and text, `(0, "")` if all went well.

        Cancelling stops the transfer.
        """
        ended: asyncio.Future[tuple[int, str]] = self._loop.create_future()
        self._running[curl] = ended
        self._multi.add_handle(curl)
        try:
            return await ended
        finally:
            if self._running.pop(curl, None) is not None:
                self._multi.remove_handle(curl)

    def close(self) -> None:
        """Stop all transfers and close all connections."""
        for curl, ended in list(self._running.items()):
            del self._running[curl]
            self._multi.remove_handle(curl)
            ended.cancel()
        for planned in (self._timer, self._soon):
            if planned is not None:
                planned.cancel()
        self._multi.close()
        if self._sockets.get_map() is not None:  # it has none when it is closed
            self._loop.remove_reader(self._sockets.fileno())
            self._sockets.close()

    def _watch(self, what: int, fd: int, _multi: object, _data: object) -> None:
        """Do as libcurl says; it has the same numbers for reading and writing as selectors have."""
        if what in (pycurl.POLL_NONE, pycurl.POLL_REMOVE):
            if fd in self._watched:
                self._sockets.unregister(fd)
        elif fd in self._watched:
            self._sockets.modify(fd, what)
        else:
            self._sockets.register(fd, what)

    def _act_on_sockets(self) -> None:
        for ready, events in self._sockets.select(0):
            if ready.fd in self._watched:  # what was done for those before it may have closed it
                self._multi.socket_action(ready.fd, events)
        self._collect()

    def _schedule(self, milliseconds: int) -> None:
        """Keep an earlier timer that is already set: it finds out by itself that it is too early."""
        if milliseconds < 0:
            self._deadline = 0.0
            return
        if not milliseconds:
            self._act_soon()
            return
        self._deadline = self._loop.time() + milliseconds / 1000
        if self._timer is None or self._timer.when() > self._deadline:
            self._arm()

    def _act_soon(self) -> None:
        """Let libcurl begin what was added, once for all that is added until then."""
        self._deadline = 0.0
        if self._soon is None:
            self._soon = self._loop.call_soon(self._begin)

    def _begin(self) -> None:
        self._soon = None
        self._act_on_time()

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(self._deadline, self._ring)

    def _ring(self) -> None:
        self._timer = None
        if not self._deadline:
            return
        if self._loop.time() < self._deadline:
            self._arm()
        else:
            self._act_on_time()

    def _act_on_time(self) -> None:
        _, active = self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)
        if active < len(self._running):
            self._collect()

    def _collect(self) -> None:
        waiting = 1
        while waiting:
            waiting, succeeded, failed = self._multi.info_read()
            for curl in succeeded:
                self._end(curl, (0, ""))
            for curl, code, text in failed:
                self._end(curl, (code, text))

    def _end(self, curl: Any, result: tuple[int, str]) -> None:
        ended = self._running.pop(curl)
        self._multi.remove_handle(curl)
        if not ended.done():
            ended.set_result(result)
