"""One POST request after the other over libcurl, to addresses that are allowed."""

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

_FOR_GOOD = frozenset({
    pycurl.E_SSL_CACERT, pycurl.E_PEER_FAILED_VERIFICATION, pycurl.E_URL_MALFORMAT, pycurl.E_UNSUPPORTED_PROTOCOL,
})  # fmt: skip
"""Errors of libcurl that another try does not mend."""


class PostError(UltracrawlError):
    """No answer came; `passing` says whether another try may bring one."""

    def __init__(self, told: str, *, passing: bool) -> None:
        super().__init__(told)
        self.passing = passing


@dataclass(frozen=True, slots=True)
class Answer:
    """The status of an answer, and how long the server wants to be left alone, in seconds."""

    status: int
    retry_after: float

    @property
    def confirms(self) -> bool:
        """Whether the server took the request."""
        return 200 <= self.status < 300


class Poster:
    """Sends bodies to one URL. No proxy, no redirects, no cookies; every connection is asked of the address policy."""

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
            (pycurl.PROXY, ""),  # else libcurl takes one from the environment
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

    def post(self, body: bytes, key: str) -> Answer:
        """Send a body. Raises `PostError` if no answer came."""
        self._refused = self._retry_after = ""
        self._curl.setopt(pycurl.HTTPHEADER, [*self._headers, f"Idempotency-Key: {key}", "Expect:"])
        self._curl.setopt(pycurl.POSTFIELDS, body)
        try:
            self._curl.perform()
        except pycurl.error as error:
            raise self._error(*error.args) from None
        finally:
            for opened in self._opened:  # libcurl works on duplicates
                opened.close()
            self._opened.clear()
        return Answer(
            self._curl.getinfo(pycurl.RESPONSE_CODE), retry_after(self._retry_after, time.time(), math.inf)
        )

    def close(self) -> None:
        """Close the connection."""
        self._curl.close()

    def _error(self, code: int, text: str) -> PostError:
        if self._refused:
            told = f"{self._refused} is refused; `networks` of the destination allows networks of an intranet"
            return PostError(told, passing=False)
        return PostError(text, passing=code not in _FOR_GOOD)

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
