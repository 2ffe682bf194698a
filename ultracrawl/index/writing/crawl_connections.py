"""The crawls that hand segments to an index process: the one that started it, and those that have joined."""

from __future__ import annotations

import json
import os
import select
import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ultracrawl.index.writing.sharing import is_same_user

_MOST_READ = 65536


class CrawlConnection:
    """One crawl: its orders come as lines, and so do the answers."""

    def __init__(self, reading: int, writing: int, joined: socket.socket | None = None) -> None:
        self.reading = reading
        self._writing = writing
        self._joined = joined
        self._text = b""

    def read_some(self) -> bool:
        """Read what has come; False at the end."""
        try:
            data = os.read(self.reading, _MOST_READ)
        except OSError:
            return False
        self._text += data
        return bool(data)

    def next_line(self) -> bytes | None:
        """Return the next order, if all of it has come."""
        line, end, rest = self._text.partition(b"\n")
        if not end:
            return None
        self._text = rest
        return line

    def send(self, what: dict[str, Any]) -> bool:
        """Send an answer; False if nobody is there any more."""
        data = json.dumps(what).encode() + b"\n"
        try:
            while data:
                data = data[os.write(self._writing, data) :]
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Hear no more of it."""
        if self._joined is not None:
            self._joined.close()


class CrawlConnections:
    """All crawls that are there; each has one turn after the other."""

    def __init__(self, first: CrawlConnection, listener: socket.socket | None) -> None:
        self._first = first
        self._listener = listener
        self._all = {first.reading: first}

    def requests(self, idle: float) -> Iterator[tuple[CrawlConnection, bytes] | None]:
        """Yield orders with who gave them, and None once nothing came for `idle` seconds; ends when all are gone."""
        rested = True
        while self._all:
            if self._wait(0.0):
                rested = False
            turn = next(
                ((one, line) for one in self._all.values() if (line := one.next_line()) is not None), None
            )
            if turn is not None:
                self._all[turn[0].reading] = self._all.pop(turn[0].reading)
                rested = False
                yield turn
            elif self._all and not self._wait(None if rested else idle):
                rested = True
                yield None

    def remove(self, feeder: CrawlConnection) -> None:
        """Take note that a crawl is gone; what it ordered is left undone, and ordered anew by the next one."""
        if self._all.pop(feeder.reading, None) is not None:
            feeder.close()
            self._send_number()

    def _send_number(self) -> None:
        """Tell the first one how many others there are: it does not wait for a process that others need."""
        if self._first.reading in self._all:
            self._first.send({"others": len(self._all) - 1})

    def _wait(self, seconds: float | None) -> bool:
        """Take what comes within so many seconds; returns whether something came."""
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
            self._send_number()
