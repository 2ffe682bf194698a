"""What all connections to remote file systems have in common: they are made again after they were lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from ultracrawl.errors import UltracrawlError, UserError, WorkError

C = TypeVar("C")

RETRY_SECONDS = 60.0
"""Seconds after a failed attempt to connect in which the next calls fail at once, so that a silent server costs a run
one time-out and not one per file.
"""


class Reconnecting(Generic[C]):
    """A connection that several threads share: made when it is needed, and made again after it was dropped."""

    def __init__(self, connect: Callable[[], C], close: Callable[[C], None]) -> None:
        self._connect = connect
        self._close = close
        self._lock = threading.RLock()
        self._connection: C | None = None
        self._failure: UltracrawlError | None = None
        self._failed_at = 0.0

    def get(self) -> C:
        """Return the connection. Raises what connecting raised, for some time without trying again."""
        with self._lock:
            if self._connection is not None:
                return self._connection
            if self._failure is not None and time.monotonic() < self._failed_at + RETRY_SECONDS:
                raise type(self._failure)(str(self._failure))
            try:
                self._connection = self._connect()
            except (UserError, WorkError) as error:
                self._failure, self._failed_at = error, time.monotonic()
                raise
            return self._connection

    def drop(self, connection: C | None = None) -> None:
        """Close the connection, unless another one has taken its place."""
        with self._lock:
            if self._connection is None or connection not in (None, self._connection):
                return
            dropped, self._connection = self._connection, None
        self._close(dropped)
