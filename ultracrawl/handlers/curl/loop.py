"""libcurl's multi interface on an asyncio loop."""

from __future__ import annotations

import asyncio
from selectors import DefaultSelector
from typing import Any

import pycurl


class CurlLoop:
    """Runs transfers of easy handles concurrently, without threads or polling.

    libcurl reports the sockets it waits for and when it has to be called. All these sockets are in one selector, which
    the asyncio loop watches: registering each with the loop would cost several times as much with every request.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, connections: int) -> None:
        self._loop = loop
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._schedule)
        self._multi.setopt(pycurl.M_MAXCONNECTS, connections)
        self._running: dict[Any, asyncio.Future[tuple[int, str]]] = {}
        self._sockets = DefaultSelector()
        self._watched = self._sockets.get_map()
        loop.add_reader(self._sockets.fileno(), self._act_on_sockets)
        self._deadline = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._pending_start: asyncio.Handle | None = None

    async def run(self, curl: Any) -> tuple[int, str]:
        """Run one transfer; returns libcurl's error code and text, `(0, "")` for success.

        Cancelling stops the transfer.
        """
        finished: asyncio.Future[tuple[int, str]] = self._loop.create_future()
        self._running[curl] = finished
        self._multi.add_handle(curl)
        try:
            return await finished
        finally:
            if self._running.pop(curl, None) is not None:
                self._multi.remove_handle(curl)

    def close(self) -> None:
        """Stop all transfers and close all connections."""
        for curl, finished in list(self._running.items()):
            del self._running[curl]
            self._multi.remove_handle(curl)
            finished.cancel()
        for handle in (self._timer, self._pending_start):
            if handle is not None:
                handle.cancel()
        self._multi.close()
        if self._sockets.get_map() is not None:  # None if the selector is closed already
            self._loop.remove_reader(self._sockets.fileno())
            self._sockets.close()

    def _watch_socket(self, what: int, fd: int, _multi: object, _data: object) -> None:
        """Register or unregister a socket (libcurl's callback); read and write flags equal those of selectors."""
        if what in (pycurl.POLL_NONE, pycurl.POLL_REMOVE):
            if fd in self._watched:
                self._sockets.unregister(fd)
        elif fd in self._watched:
            self._sockets.modify(fd, what)
        else:
            self._sockets.register(fd, what)

    def _act_on_sockets(self) -> None:
        for ready, events in self._sockets.select(0):
            if ready.fd in self._watched:  # an action on another socket may have closed it
                self._multi.socket_action(ready.fd, events)
        self._collect()

    def _schedule(self, milliseconds: int) -> None:
        """Set the timer (libcurl's callback); an earlier timer stays, and is set anew when it fires too early."""
        if milliseconds < 0:
            self._deadline = 0.0
            return
        if not milliseconds:
            self._start_soon()
            return
        self._deadline = self._loop.time() + milliseconds / 1000
        if self._timer is None or self._timer.when() > self._deadline:
            self._set_timer()

    def _start_soon(self) -> None:
        """Start added transfers in the next iteration of the loop, all with one call."""
        self._deadline = 0.0
        if self._pending_start is None:
            self._pending_start = self._loop.call_soon(self._start)

    def _start(self) -> None:
        self._pending_start = None
        self._act_on_time()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(self._deadline, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        if not self._deadline:
            return
        if self._loop.time() < self._deadline:
            self._set_timer()
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
                self._finish(curl, (0, ""))
            for curl, code, text in failed:
                self._finish(curl, (code, text))

    def _finish(self, curl: Any, result: tuple[int, str]) -> None:
        finished = self._running.pop(curl)
        self._multi.remove_handle(curl)
        if not finished.done():
            finished.set_result(result)
