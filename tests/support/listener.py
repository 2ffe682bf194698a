"""An address that nothing may reach: takes every datagram and connection, and tells that they came."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Listener:
    """A port, of UDP and of TCP, on an address of its own."""

    def __init__(self, host: str = "127.0.0.2") -> None:
        self._stream = socket.create_server((host, 0))
        self._datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._datagrams.bind(self._stream.getsockname())
        self.address = "{}:{}".format(*self._stream.getsockname())
        self.came: list[str] = []
        """`udp` or `tcp`, once for each datagram and connection."""

    @contextmanager
    def open(self) -> Iterator[Listener]:
        """Listen until the end of the block."""
        threads = [threading.Thread(target=target) for target in (self._accept, self._receive)]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            with suppress(OSError):  # Linux: wakes the thread that waits
                self._stream.shutdown(socket.SHUT_RDWR)
            with suppress(OSError):
                self._datagrams.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join()
            self._stream.close()
            self._datagrams.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                self._stream.accept()[0].close()
                self.came.append("tcp")

    def _receive(self) -> None:
        with suppress(OSError):
            while self._datagrams.recvfrom(65536)[1] is not None:
                self.came.append("udp")
