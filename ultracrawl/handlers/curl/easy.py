"""Base class of transfers: a libcurl easy handle and the state of its current request."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pycurl
from scrapy.utils.url import add_http_if_no_scheme

from ultracrawl.rules.urls.canonical import host_of
from ultracrawl.run.visit import visit_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.exceptions import StopDownload

    from ultracrawl.handlers.download_control import AddressGuard, DownloadSignals
    from ultracrawl.model import Decision


class EasyTransfer:
    """A reusable easy handle; `Transfer` and `FtpTransfer` are its subclasses.

    The address guard checks every connection, and every chunk of a body is sent as a signal.
    """

    def __init__(self, guard: AddressGuard | None) -> None:
        self._guard = guard
        self.curl = pycurl.Curl()
        self._sockets: list[socket.socket] = []
        self._reset_state()

    def _reset_state(self) -> None:
        """Reset the state of the request; the options of the handle stay."""
        self._request: Request | None = None
        self._signals: DownloadSignals | None = None
        self.chunks: list[bytes] = []
        self.size = 0
        self.too_large = ""
        self.refusal: Decision | None = None
        self.stopped: StopDownload | None = None

    @property
    def body(self) -> bytes:
        """The body received so far."""
        return self.chunks[0] if len(self.chunks) == 1 else b"".join(self.chunks)

    @property
    def answered(self) -> bool:
        """Whether a response began."""
        return bool(self.size)

    @property
    def proxy(self) -> str:
        """Host and port of the proxy of the request; empty if it has none."""
        proxy = self._request.meta.get("proxy") if self._request else None
        return urlsplit(add_http_if_no_scheme(proxy)).netloc.rpartition("@")[2] if proxy else ""

    @property
    def refused_by_proxy(self) -> bool:
        """Whether a proxy refused to open a tunnel."""
        return False

    @property
    def rejected_login(self) -> bool:
        """Whether a proxy rejected user and password (407)."""
        return False

    @property
    def connected(self) -> bool:
        """Whether a connection was opened for the request."""
        return bool(self._sockets)

    @property
    def _peer(self) -> str:
        """The host that is connected to: that of the request, or of its proxy."""
        if self._request is None:
            return ""
        return host_of(add_http_if_no_scheme(self._request.meta.get("proxy") or self._request.url))

    def release(self) -> None:
        """Drop the request and its response; the handle can be used for the next request."""
        for connection in self._sockets:
            connection.close()
        self._sockets.clear()
        self._reset_state()

    def close(self) -> None:
        """Free the handle."""
        self.release()
        self.curl.close()

    def _open_socket(self, address: pycurl.CurlSockAddr, *, trusted: bool = False) -> socket.socket | None:
        """Open the socket for a connection, or return None if the guard refuses the address, which is the final one."""
        decision = None if self._guard is None else self._guard.check(address.addr[0], self._peer)
        if decision is not None and not decision.accept and not trusted:
            self.refusal = decision
            return None
        connection = socket.socket(address.family, address.socktype, address.protocol)
        self._sockets.append(connection)  # libcurl uses a duplicate; this one is closed with the transfer
        return connection

    def _note_answer(self) -> None:
        """Tell the visit of the request that its response has begun."""
        if self._request is not None and (visit := visit_of(self._request)) is not None:
            visit.note_answer_begun()

    def _append_chunk(self, chunk: bytes, largest: int) -> int | None:
        """Append a chunk of the body (at most `largest` bytes in all, 0 for no limit); -1 aborts the transfer."""
        self.size += len(chunk)
        if 0 < largest < self.size:
            self.too_large = f"more than {largest} bytes came"
            self.chunks.clear()
            return -1
        self.chunks.append(chunk)
        if self._signals is not None and self._request is not None:
            self.stopped = self._signals.send_bytes(self._request, chunk)
        return None if self.stopped is None else -1
