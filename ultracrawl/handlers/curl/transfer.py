"""HTTP transfers: a libcurl easy handle with its current request, and the parser of status line and headers."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pycurl

from ultracrawl.dataclass import dataclass
from ultracrawl.handlers.curl.easy import EasyTransfer
from ultracrawl.handlers.curl.wire import (
    Option,
    bind_options,
    certificate_options,
    checked_method,
    header_lines,
    proxy_lines,
    proxy_url,
    target_url,
)
from ultracrawl.model import StatusCode
from ultracrawl.rules.urls.canonical import host_of
from ultracrawl.run.auth.proxy_selector import TRUSTED_KEY
from ultracrawl.run.auth.site_headers import CERTIFICATE_KEY
from ultracrawl.run.transport.outgoing import NEW_CONNECTION, needs_new_connection

if TYPE_CHECKING:
    from scrapy import Request

    from ultracrawl.handlers.download_control import AddressGuard, DownloadSignals

_BODY_EXPECTED = frozenset({"POST", "PUT", "PATCH"})
_BODILESS = frozenset({204, 304})
_OPTION_META_KEYS = frozenset({"proxy", "bindaddress", NEW_CONNECTION})
"""Keys of `request.meta` that need further options."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one request: total seconds and bytes of the body; 0 for no limit."""

    seconds: float
    size: int


class Transfer(EasyTransfer):
    """A reusable easy handle, and the response received so far.

    Options that are the same for all requests are set once. After a request that is more than a plain GET the options
    are reset before the next one.
    """

    def __init__(
        self, options: Sequence[Option], guard: AddressGuard | None, pins: Mapping[str, str]
    ) -> None:
        self._options = options
        self._pins = pins
        """Public keys of servers, by host."""
        self._has_common_options = False
        self._limits = Limits(-1, 0)
        super().__init__(guard)

    def _reset_state(self) -> None:
        super()._reset_state()
        self._wants_tunnel = self._tunnelling = False
        self.head = ResponseHead()

    def prepare(self, request: Request, limits: Limits, signals: DownloadSignals | None) -> None:
        """Set the options for a request. Raises ValueError or `pycurl.error` if it cannot be sent."""
        if not self._has_common_options:
            self._reset()
        if limits != self._limits:
            self.curl.setopt(pycurl.TIMEOUT_MS, max(1, round(limits.seconds * 1000)) if limits.seconds else 0)
            self._limits = limits
        self.curl.setopt(pycurl.URL, target_url(request))
        self.curl.setopt(pycurl.HTTPHEADER, header_lines(request))
        self._request = request
        self._signals = signals
        meta = request.meta
        certificate = meta.get(CERTIFICATE_KEY)
        if certificate is not None:
            self._has_common_options = False
            for option, value in certificate_options(certificate):
                self.curl.setopt(option, value)
        if self._pins and (pin := self._pins.get(host_of(request.url))):
            self._has_common_options = False
            self.curl.setopt(pycurl.PINNEDPUBLICKEY, pin)
        if request.method != "GET" or request.body or _OPTION_META_KEYS & meta.keys():
            self._has_common_options = False
            self._set_method(request)
            self.curl.setopt(pycurl.FRESH_CONNECT, int(needs_new_connection(request)))
            self._set_proxy(request)
            for option, value in bind_options(meta.get("bindaddress")):
                self.curl.setopt(option, value)

    @property
    def answered(self) -> bool:
        """Whether the head of a response is complete; the head of a proxy that refused a tunnel does not count."""
        return self.head.complete and self.head.status >= 200 and not self._tunnelling

    @property
    def refused_by_proxy(self) -> bool:
        """Whether a proxy refused to open a tunnel."""
        return self._tunnelling and self.head.status > 0

    @property
    def rejected_login(self) -> bool:
        """Whether a proxy rejected user and password (407)."""
        return self.head.status == StatusCode.PROXY_LOGIN

    def _reset(self) -> None:
        self.curl.reset()
        for option, value in self._options:
            self.curl.setopt(option, value)
        self.curl.setopt(pycurl.HEADERFUNCTION, self._on_header)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._on_body)
        self.curl.setopt(pycurl.OPENSOCKETFUNCTION, self._on_connect)
        self._limits = Limits(-1, 0)
        self._has_common_options = True

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
            self._wants_tunnel = request.url.startswith("https:") and proxy.startswith("http")

    def _on_connect(self, _purpose: int, address: pycurl.CurlSockAddr) -> socket.socket | int:
        """Open or refuse the socket for an address (libcurl's callback)."""
        assert self._request is not None
        connection = self._open_socket(address, trusted=TRUSTED_KEY in self._request.meta)
        if connection is None:
            return int(pycurl.SOCKET_BAD)
        # A reused connection has its tunnel already.
        self._tunnelling = self._wants_tunnel
        return connection

    def _on_header(self, line: bytes) -> int | None:
        head = self.head
        if not head.complete and line not in _BLANK:
            head.lines.append(line)
            return None
        if not head.feed(line):
            return None
        if self._tunnelling and 200 <= self.head.status < 300:  # the proxy's response to CONNECT
            self._tunnelling = False
            self.head = ResponseHead()
            return None
        self._note_answer()
        return -1 if self._should_abort(self.head.length) else None

    def _should_abort(self, length: int | None) -> bool:
        """Return whether the transfer can be aborted: the body is too large, or a signal receiver stopped it."""
        assert self._request is not None
        bodiless = self._request.method == "HEAD" or self.head.status in _BODILESS
        if length is not None and 0 < self._limits.size < length and not bodiless:
            self.too_large = f"{length} bytes announced, {self._limits.size} allowed"
        elif self._signals is not None:
            self.stopped = self._signals.send_headers(self._request, self.head.headers, length)
        return bool(self.too_large) or self.stopped is not None

    def _on_body(self, chunk: bytes) -> int | None:
        return self._append_chunk(chunk, self._limits.size)


_BLANK = (b"\r\n", b"\n")


class ResponseHead:
    """The last head of a response, without interim heads (1xx), the proxy's head and trailers.

    Lines without a colon are skipped, folded lines are joined (RFC 9112, 5.2), repeated headers keep their order.
    """

    __slots__ = ("complete", "headers", "lines", "status")

    def __init__(self) -> None:
        self.headers: dict[bytes, list[bytes]] = {}
        """Values by name; names are spelt as in Scrapy's `Headers`."""
        self.status = 0
        self.complete = True
        self.lines: list[bytes] = []
        """Lines of a head that is not complete, without its status line."""

    def feed(self, line: bytes) -> bool:
        """Parse one line with its line end; return True if it ends a head that is not interim."""
        if not self.complete:
            if line not in _BLANK:
                self.lines.append(line)
                return False
            self._read_lines()
            return self.status >= 200
        if line[:5].upper() == b"HTTP/":
            # As libcurl reads it: in any case, and the reason may be glued to the number.
            number = b"".join(line.split(None, 2)[1:2])[:3]
            self.status = int(number) if number.isdigit() else 0
            self.headers, self.lines = {}, []
            self.complete = False
        return False

    def _read_lines(self) -> None:
        self.complete = True
        for line in self.lines:
            if line[0] in b" \t":
                self._fold(line)
                continue
            name, colon, value = line.partition(b":")
            if colon:
                self.headers.setdefault(name.strip().title(), []).append(value.strip())

    def _fold(self, line: bytes) -> None:
        if self.headers:
            values = self.headers[next(reversed(self.headers))]
            values[-1] = b"%b %b" % (values[-1], line.strip())

    @property
    def length(self) -> int | None:
        """The Content-Length in bytes; None if it is missing or invalid."""
        values = self.headers.get(b"Content-Length")
        return int(values[-1]) if values and values[-1].isdigit() else None
