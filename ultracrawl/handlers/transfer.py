"""One easy handle of libcurl and the request that is on it."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pycurl

from ultracrawl.handlers.head import ResponseHead
from ultracrawl.handlers.wire import (
    bind_options,
    checked_method,
    header_lines,
    proxy_lines,
    proxy_url,
    target_url,
)

if TYPE_CHECKING:
    from scrapy import Request

    from ultracrawl.handlers.guard import AddressGuard
    from ultracrawl.handlers.tls import Option
    from ultracrawl.model import Decision

_BODY_EXPECTED = frozenset({"POST", "PUT", "PATCH"})
_BODILESS = frozenset({204, 304})


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may take: seconds in all (0 for no limit) and bytes of body (0 for no limit)."""

    seconds: float
    size: int


class Transfer:
    """An easy handle that is used for one request after the other, and what the answer brought so far.

    Everything that does not change from request to request is set once. A request that is more than a plain
    GET leaves options behind; they are wiped before the next.
    """

    def __init__(self, options: Sequence[Option], guard: AddressGuard | None) -> None:
        self._options = options
        self._guard = guard
        self.curl = pycurl.Curl()
        self._plain = False
        self._limits = Limits(-1, 0)
        self._method = "GET"
        self._sockets: list[socket.socket] = []
        self.head = ResponseHead()
        self.chunks: list[bytes] = []
        self.size = 0
        self.too_large = ""
        self.refusal: Decision | None = None

    def prepare(self, request: Request, limits: Limits) -> None:
        """Set the handle up for a request; raises ValueError or `pycurl.error` if it cannot be sent."""
        self._forget()
        if not self._plain:
            self._reset()
        if limits != self._limits:
            self.curl.setopt(pycurl.TIMEOUT_MS, max(1, round(limits.seconds * 1000)) if limits.seconds else 0)
            self._limits = limits
        self.curl.setopt(pycurl.URL, target_url(request))
        self.curl.setopt(pycurl.HTTPHEADER, header_lines(request))
        self._method = request.method
        meta = request.meta
        if self._method != "GET" or request.body or meta.get("proxy") or meta.get("bindaddress"):
            self._plain = False
            self._set_method(request)
            self._set_proxy(request)
            for option, value in bind_options(meta.get("bindaddress")):
                self.curl.setopt(option, value)

    @property
    def body(self) -> bytes:
        """What came of the body."""
        return self.chunks[0] if len(self.chunks) == 1 else b"".join(self.chunks)

    @property
    def connected(self) -> bool:
        """Whether the guard let a connection be opened for the request."""
        return bool(self._sockets)

    def release(self) -> None:
        """Let go of the request and its answer."""
        self._forget()

    def close(self) -> None:
        """Free the handle."""
        self._forget()
        self.curl.close()

    def _forget(self) -> None:
        for opened in self._sockets:
            opened.close()
        self._sockets.clear()
        self.head = ResponseHead()
        self.chunks = []
        self.size = 0
        self.too_large = ""
        self.refusal = None

    def _reset(self) -> None:
        self.curl.reset()
        for option, value in self._options:
            self.curl.setopt(option, value)
        self.curl.setopt(pycurl.HEADERFUNCTION, self._on_header)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._on_body)
        if self._guard is not None:
            self.curl.setopt(pycurl.OPENSOCKETFUNCTION, self._on_connect)
        self._limits = Limits(-1, 0)
        self._plain = True

    def _set_method(self, request: Request) -> None:
        if request.method == "HEAD":
            self.curl.setopt(pycurl.NOBODY, 1)
            return
        if request.body or request.method in _BODY_EXPECTED:
            self.curl.setopt(pycurl.POST, 1)
            self.curl.setopt(pycurl.POSTFIELDS, request.body)
        self.curl.setopt(pycurl.CUSTOMREQUEST, checked_method(request))

    def _set_proxy(self, request: Request) -> None:
        proxy = proxy_url(request)
        if proxy:
            self.curl.setopt(pycurl.PROXY, proxy)
            self.curl.setopt(pycurl.PROXYHEADER, proxy_lines(request))

    def _on_connect(self, _purpose: int, address: pycurl.CurlSockAddr) -> socket.socket | int:
        """Open the socket for a connection, or refuse; called with the very address that is connected to."""
        assert self._guard is not None
        decision = self._guard.check(address.addr[0])
        if not decision.accept:
            self.refusal = decision
            return int(pycurl.SOCKET_BAD)
        opened = socket.socket(address.family, address.socktype, address.protocol)
        self._sockets.append(opened)  # libcurl works on a duplicate; ours is closed with the transfer
        return opened

    def _on_header(self, line: bytes) -> int | None:
        if not (self.head.feed(line) and self._limits.size):
            return None
        length = self.head.length
        if length is None or length <= self._limits.size or self._has_no_body():
            return None
        self.too_large = f"{length} bytes announced, {self._limits.size} allowed"
        return -1

    def _has_no_body(self) -> bool:
        return self._method == "HEAD" or self.head.status in _BODILESS

    def _on_body(self, chunk: bytes) -> int | None:
        self.size += len(chunk)
        if self._limits.size and self.size > self._limits.size:
            self.too_large = f"more than {self._limits.size} bytes came"
            self.chunks.clear()
            return -1
        self.chunks.append(chunk)
        return None
