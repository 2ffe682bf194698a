"""Sends POST requests with libcurl to addresses that the address policy allows."""

from __future__ import annotations

import math
import socket
import time
from dataclasses import dataclass

import pycurl

from ultracrawl.errors import UltracrawlError
from ultracrawl.rules.boundary.addresses import AddressPolicy
from ultracrawl.rules.frontier.politeness.retry_after import retry_after
from ultracrawl.settings.trust import trusted_roots

_PERMANENT_ERRORS = frozenset({
    pycurl.E_SSL_CACERT, pycurl.E_PEER_FAILED_VERIFICATION, pycurl.E_URL_MALFORMAT, pycurl.E_UNSUPPORTED_PROTOCOL,
})  # fmt: skip
"""libcurl errors that a retry does not help."""


class PostError(UltracrawlError):
    """There was no response; `is_transient` says whether a retry may succeed."""

    def __init__(self, message: str, *, is_transient: bool) -> None:
        super().__init__(message)
        self.is_transient = is_transient


@dataclass(frozen=True, slots=True)
class Response:
    """The status code of a response, and its Retry-After in seconds."""

    status: int
    retry_after: float

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300


class Poster:
    """Sends bodies to one URL, without proxy, redirects and cookies; the address policy checks every connection."""

    def __init__(self, url: str, headers: list[str], timeout: float, policy: AddressPolicy) -> None:
        self._policy = policy
        self._headers = headers
        self._refused = ""
        self._retry_after = ""
        self._opened: list[socket.socket] = []
        self._curl = pycurl.Curl()
        file, folder = trusted_roots()
        options: list[tuple[int, object]] = [
            (pycurl.URL, url),
            (pycurl.NOSIGNAL, 1),
            (pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS),
            (pycurl.FOLLOWLOCATION, 0),
            (pycurl.PROXY, ""),  # otherwise libcurl uses the proxy of the environment
            (pycurl.NOPROXY, ""),
            (pycurl.SSLVERSION, pycurl.SSLVERSION_TLSv1_2),
            (pycurl.TIMEOUT_MS, max(1, int(timeout * 1000))),
            (pycurl.OPENSOCKETFUNCTION, self._open_socket),
            (pycurl.HEADERFUNCTION, self._note_header),
            (pycurl.WRITEFUNCTION, lambda _: None),
            *([(pycurl.CAINFO, file)] if file else [(pycurl.CAPATH, folder)] if folder else []),
        ]
        for option, value in options:
            self._curl.setopt(option, value)

    def post(self, body: bytes, key: str) -> Response:
        """Send a body. Raises `PostError` if there is no response."""
        self._refused = self._retry_after = ""
        self._curl.setopt(pycurl.HTTPHEADER, [*self._headers, f"Idempotency-Key: {key}", "Expect:"])
        self._curl.setopt(pycurl.POSTFIELDS, body)
        try:
            self._curl.perform()
        except pycurl.error as error:
            raise self._error(*error.args) from None
        finally:
            for opened in self._opened:  # libcurl uses duplicates
                opened.close()
            self._opened.clear()
        return Response(
            self._curl.getinfo(pycurl.RESPONSE_CODE), retry_after(self._retry_after, time.time(), math.inf)
        )

    def close(self) -> None:
        """Close the connection."""
        self._curl.close()

    def _error(self, code: int, text: str) -> PostError:
        if self._refused:
            message = (
                f"{self._refused} is refused; `networks` of the destination allows networks of an intranet"
            )
            return PostError(message, is_transient=False)
        return PostError(text, is_transient=code not in _PERMANENT_ERRORS)

    def _open_socket(self, _purpose: int, address: pycurl.CurlSockAddr) -> socket.socket | int:
        rule = self._policy.refuses(address.addr[0])
        if rule is not None:
            self._refused = f"{address.addr[0]} ({rule})"
            return int(pycurl.SOCKET_BAD)
        opened = socket.socket(address.family, address.socktype, address.protocol)
        self._opened.append(opened)
        return opened

    def _note_header(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"retry-after":
            self._retry_after = value.decode("latin-1").strip()
