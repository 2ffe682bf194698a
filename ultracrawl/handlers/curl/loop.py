"""libcurl's multi interface, driven by an asyncio loop."""

from __future__ import annotations

import asyncio
from typing import Any

import pycurl


class CurlLoop:
    """Runs transfers of easy handles concurrently: no thread, no polling.

    libcurl tells which sockets it waits for and when it wants to be called; both go to the loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, connections: int) -> None:
        self._loop = loop
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._schedule)
        self._multi.setopt(pycurl.M_MAXCONNECTS, connections)
        self._running: dict[Any, asyncio.Future[tuple[int, str]]] = {}
        self._watched: dict[int, int] = {}
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
        for fd in list(self._watched):
            self._unwatch(fd)

    def _watch(self, what: int, fd: int, _multi: object, _data: object) -> None:
        before = self._watched.get(fd, 0)
        if what == pycurl.POLL_REMOVE:
            self._unwatch(fd)
            return
        if what & pycurl.POLL_IN and not before & pycurl.POLL_IN:
            self._loop.add_reader(fd, self._act, fd, pycurl.CSELECT_IN)
        elif before & pycurl.POLL_IN and not what & pycurl.POLL_IN:
            self._loop.remove_reader(fd)
        if what & pycurl.POLL_OUT and not before & pycurl.POLL_OUT:
            self._loop.add_writer(fd, self._act, fd, pycurl.CSELECT_OUT)
        elif before & pycurl.POLL_OUT and not what & pycurl.POLL_OUT:
            self._loop.remove_writer(fd)
        self._watched[fd] = what

    def _unwatch(self, fd: int) -> None:
        before = self._watched.pop(fd, 0)
        if before & pycurl.POLL_IN:
            self._loop.remove_reader(fd)
        if before & pycurl.POLL_OUT:
            self._loop.remove_writer(fd)

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
        self._act(pycurl.SOCKET_TIMEOUT, 0)

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
            self._act(pycurl.SOCKET_TIMEOUT, 0)

    def _act(self, fd: int, events: int) -> None:
        _, active = self._multi.socket_action(fd, events)
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
