"""The connections of an index process to crawls: the one that started it, and those that joined."""

from __future__ import annotations

import json
import os
import select
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ultracrawl.index.writing.sharing import is_same_user

_READ_SIZE = 65536


class CrawlConnection:
    """The connection to one crawl: requests and replies are lines."""

    def __init__(self, reading: int, writing: int, joined: socket.socket | None = None) -> None:
        self.reading = reading
        self._writing = writing
        self._joined = joined
        self._text = b""

    def read_some(self) -> bool:
        """Read available input; return False at its end."""
        try:
            data = os.read(self.reading, _READ_SIZE)
        except OSError:
            return False
        self._text += data
        return bool(data)

    def next_line(self) -> bytes | None:
        """Return the next complete request line, if any."""
        line, end, rest = self._text.partition(b"\n")
        if not end:
            return None
        self._text = rest
        return line

    def send(self, reply: dict[str, Any]) -> bool:
        """Send a reply; return False if the crawl is gone."""
        data = json.dumps(reply).encode() + b"\n"
        try:
            while data:
                data = data[os.write(self._writing, data) :]
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Close the socket of a joined crawl."""
        if self._joined is not None:
            self._joined.close()


class CrawlConnections:
    """All connected crawls, served in turn."""

    def __init__(self, first: CrawlConnection, listener: socket.socket | None) -> None:
        self._first = first
        self._listener = listener
        self._all = {first.reading: first}

    def requests(self, idle: float) -> Iterator[tuple[CrawlConnection, bytes] | None]:
        """Yield requests with their connection; ends when all crawls are gone.

        Yields None after `idle` seconds, and the time that the caller took for the last request, without another one: a
        crawl that sends much at a time soon sends more.
        """
        has_idled, seconds_taken = True, 0.0
        while self._all:
            if self._wait(0.0):
                has_idled = False
            request = next(
                ((one, line) for one in self._all.values() if (line := one.next_line()) is not None), None
            )
            if request is not None:
                self._all[request[0].reading] = self._all.pop(request[0].reading)
                has_idled, started = False, time.monotonic()
                yield request
                seconds_taken = time.monotonic() - started
            elif self._all and not self._wait(None if has_idled else idle + seconds_taken):
                has_idled = True
                yield None

    def remove(self, feeder: CrawlConnection) -> None:
        """Drop the connection of a crawl; its unanswered requests are repeated by the next process."""
        if self._all.pop(feeder.reading, None) is not None:
            feeder.close()
            self._send_crawl_count()

    def _send_crawl_count(self) -> None:
        """Tell the first crawl how many others there are: it does not wait for a process that others need."""
        if self._first.reading in self._all:
            self._first.send({"others": len(self._all) - 1})

    def _wait(self, seconds: float | None) -> bool:
        """Read input that arrives within `seconds`; return whether any did."""
        listener = -1 if self._listener is None else self._listener.fileno()
        ready, _, _ = select.select(
            [*self._all, *([] if self._listener is None else [listener])], [], [], seconds
        )
        for one in ready:
            if self._listener is not None and one == listener:
                self._accept(self._listener)
            elif not self._all[one].read_some():
                self.remove(self._all[one])
        return bool(ready)

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            joined, _ = listener.accept()
            if not is_same_user(joined):
                joined.close()
                return
            self._all[joined.fileno()] = CrawlConnection(joined.fileno(), joined.fileno(), joined)
            self._send_crawl_count()
