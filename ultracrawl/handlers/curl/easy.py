"""One easy handle of libcurl, and what came for the request that is on it."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pycurl

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.exceptions import StopDownload

    from ultracrawl.handlers.oversight import AddressGuard, DownloadWatch
    from ultracrawl.model import Decision


class EasyTransfer:
    """A handle that is used for one request after the other; `Transfer` and `FtpTransfer` are its kinds.

    Its address guard is asked for every connection, its watch is told of every piece of a body.
    """

    def __init__(self, guard: AddressGuard | None) -> None:
        self._guard = guard
        self.curl = pycurl.Curl()
        self._sockets: list[socket.socket] = []
        self._forget()

    def _forget(self) -> None:
        """Reset everything but the options of the handle."""
        self._request: Request | None = None
        self._watch: DownloadWatch | None = None
        self.chunks: list[bytes] = []
        self.size = 0
        self.too_large = ""
        self.refusal: Decision | None = None
        self.stopped: StopDownload | None = None

    @property
    def body(self) -> bytes:
        """What came of the body."""
        return self.chunks[0] if len(self.chunks) == 1 else b"".join(self.chunks)

    @property
    def answered(self) -> bool:
        """Whether an answer began."""
        return bool(self.size)

    @property
    def refused_by_proxy(self) -> bool:
        """Whether a proxy answered, and did not open the tunnel that was asked for."""
        return False

    @property
    def login_refused(self) -> bool:
        """Whether a proxy wants another user and password."""
        return False

    @property
    def connected(self) -> bool:
        """Whether the guard let a connection be opened for the request."""
        return bool(self._sockets)

    def release(self) -> None:
        """Drop the request and its answer; the handle may be used for the next."""
        for opened in self._sockets:
            opened.close()
        self._sockets.clear()
        self._forget()

    def close(self) -> None:
        """Free the handle."""
        self.release()
        self.curl.close()

    def _opened(self, address: pycurl.CurlSockAddr, *, trusted: bool = False) -> socket.socket | None:
        """Open the socket for a connection; None if the guard refuses. Gets the very address that is connected to."""
        decision = None if self._guard is None else self._guard.check(address.addr[0])
        if decision is not None and not decision.accept and not trusted:
            self.refusal = decision
            return None
        opened = socket.socket(address.family, address.socktype, address.protocol)
        self._sockets.append(opened)  # libcurl works on a duplicate; ours is closed with the transfer
        return opened

    def _take(self, chunk: bytes, largest: int) -> int | None:
        """Keep a piece of a body (at most `largest` bytes in all, 0 for no limit); -1 ends the transfer."""
        self.size += len(chunk)
        if 0 < largest < self.size:
            self.too_large = f"more than {largest} bytes came"
            self.chunks.clear()
            return -1
        self.chunks.append(chunk)
        if self._watch is not None and self._request is not None:
            self.stopped = self._watch.chunk(self._request, chunk)
        return None if self.stopped is None else -1
