"""Pages that are answered only when so many are open at once: what a crawl asks for at the same time is counted."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from support.resource import Reply
from support.server import Request
from support.site import Site

_MORE = 0.2
"""Seconds in which one too many may still come."""
_PATIENCE = 15.0
"""Seconds after which those that are there go, though they are too few."""


class Crowd:
    """Holds requests until `number` of them are open; however slow the machine, no client that may have so many open
    has fewer, and one that may not has never more.
    """

    def __init__(self, number: int) -> None:
        self.most = 0
        """How many were open at once."""
        self._number = number
        self._open = 0
        self._left = 0
        self._event = threading.Event()
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()

    def at(self, site: Site, paths: Iterable[str]) -> list[str]:
        """Put a page of the crowd at each path; returns the paths."""
        found = list(paths)
        self._left += len(found)
        for path in found:
            site.dynamic(path, self._answer)
        return found

    def _answer(self, request: Request) -> Reply:
        with self._lock:
            self._open += 1
            self._left -= 1
            self.most = max(self.most, self._open)
            if self._open == 1:
                self._wait(_PATIENCE)
            if self._open == self._number or not self._left:
                self._wait(_MORE)
            body = f"<!DOCTYPE html><title>{request.path}</title><p>{request.path}</p>"
            return Reply(200, (("Content-Type", "text/html"),), body.encode(), until=self._event)

    def _wait(self, seconds: float) -> None:
        """Let all that are open go after a time."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = threading.Timer(seconds, self._go, [self._event])
        self._timer.daemon = True
        self._timer.start()

    def _go(self, event: threading.Event) -> None:
        with self._lock:
            if event is self._event:
                self._open = 0
                self._event = threading.Event()
        event.set()
