"""What all connections to remote file systems have in common: checked addresses, and connecting again."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from ultracrawl.errors import UltracrawlError, UserError, WorkError
from ultracrawl.rules.boundary.addresses import AddressPolicy

C = TypeVar("C")

RETRY_SECONDS = 60.0
"""Seconds after a failed attempt to connect in which the next calls fail at once, so that a silent server costs a run
one time-out and not one per file.
"""


def allowed_addresses(host: str, port: int, timeout: float) -> list[str]:
    """Return the addresses of a host of the definition.

    As for start URLs, addresses of an intranet are allowed, and services for the metadata of a cloud machine are not.
    Raises `WorkError` if the host has no address or is not resolved in time, `UserError` if none is allowed.
    """
    resolved: Future[list[str]] = Future()

    def resolve() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            resolved.set_result(list(dict.fromkeys(str(address[0]) for *_, address in found)))
        except (OSError, UnicodeError) as error:
            resolved.set_exception(WorkError(f"{host} cannot be resolved: {error}"))

    threading.Thread(target=resolve, name="look-up", daemon=True).start()
    try:
        addresses = resolved.result(timeout)
    except TimeoutError:
        raise WorkError(f"{host} was not resolved within {timeout:g} s") from None
    policy = AddressPolicy.for_source(addresses)
    decisions = {address: policy.check(address.partition("%")[0]) for address in addresses}
    allowed = [address for address in addresses if decisions[address].accept]
    if not allowed:
        raise UserError(f"{host} may not be connected to: {decisions[addresses[0]].reason}")
    return allowed


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
