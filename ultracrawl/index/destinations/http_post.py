"""Sends requests with libcurl to addresses that the address policy allows."""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Iterable

import pycurl

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import UltracrawlError
from ultracrawl.rules.boundary.addresses import AddressPolicy
from ultracrawl.rules.frontier.politeness.retry_after import retry_after
from ultracrawl.settings.trust import trusted_roots

_PERMANENT_ERRORS = frozenset({
    pycurl.E_SSL_CACERT, pycurl.E_PEER_FAILED_VERIFICATION, pycurl.E_URL_MALFORMAT, pycurl.E_UNSUPPORTED_PROTOCOL,
})  # fmt: skip
"""libcurl errors that a retry does not help."""


MAX_BODY = 4 << 20
"""Bytes of a response that are kept."""


class PostError(UltracrawlError):
    """There was no response; `is_transient` says whether a retry may succeed."""

    def __init__(self, message: str, *, is_transient: bool) -> None:
        super().__init__(message)
        self.is_transient = is_transient


@dataclass(frozen=True, slots=True)
class Response:
    """The status code of a response, its Retry-After in seconds, and its body as far as it is kept."""

    status: int
    retry_after: float
    body: bytes = b""

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300


class Poster:
    """Sends bodies to one server, without proxy, redirects and cookies; the address policy checks every connection."""

    def __init__(self, url: str, headers: list[str], timeout: float, policy: AddressPolicy) -> None:
        self._url = url
        self._policy = policy
        self._headers = headers
        self._body = bytearray()
        self._refused = ""
        self._retry_after = ""
        self._opened: list[socket.socket] = []
        self._curl = pycurl.Curl()
        file, folder = trusted_roots()
        options: list[tuple[int, object]] = [
            (pycurl.NOSIGNAL, 1),
            (pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS),
            (pycurl.FOLLOWLOCATION, 0),
            (pycurl.PROXY, ""),  # otherwise libcurl uses the proxy of the environment
            (pycurl.NOPROXY, ""),
            (pycurl.SSLVERSION, pycurl.SSLVERSION_TLSv1_2),
            (pycurl.TIMEOUT_MS, max(1, int(timeout * 1000))),
            (pycurl.OPENSOCKETFUNCTION, self._open_socket),
            (pycurl.HEADERFUNCTION, self._note_header),
            (pycurl.WRITEFUNCTION, self._keep_body),
            *([(pycurl.CAINFO, file)] if file else [(pycurl.CAPATH, folder)] if folder else []),
        ]
        for option, value in options:
            self._curl.setopt(option, value)

    def post(self, body: bytes, key: str) -> Response:
        """Post a body to the URL with an idempotency key. Raises `PostError` if there is no response."""
        return self.send("POST", "", body, (f"Idempotency-Key: {key}",))

    def send(self, method: str, path: str, body: bytes, headers: Iterable[str] = ()) -> Response:
        """Send a request to the URL with `path` appended. Raises `PostError` if there is no response."""
        self._refused = self._retry_after = ""
        self._body.clear()
        self._curl.setopt(pycurl.URL, self._url + path)
        self._curl.setopt(pycurl.CUSTOMREQUEST, method)
        self._curl.setopt(pycurl.HTTPHEADER, [*self._headers, *headers, "Expect:"])
        self._curl.setopt(pycurl.POSTFIELDS, body)
        try:
            self._curl.perform()
        except pycurl.error as error:
            raise self._error(*error.args) from None
        finally:
            for opened in self._opened:  # libcurl uses duplicates
                opened.close()
            self._opened.clear()
        status = self._curl.getinfo(pycurl.RESPONSE_CODE)
        return Response(status, retry_after(self._retry_after, time.time(), math.inf), bytes(self._body))

    def close(self) -> None:
        """Close the connection."""
        self._curl.close()

    def _error(self, code: int, text: str) -> PostError:
        if self._refused:
            return PostError(self._refused, is_transient=False)
        return PostError(text, is_transient=code not in _PERMANENT_ERRORS)

    def _keep_body(self, data: bytes) -> None:
        if len(self._body) < MAX_BODY:
            self._body += data

    def _open_socket(self, _purpose: int, address: pycurl.CurlSockAddr) -> socket.socket | int:
        rule = self._policy.refuses(address.addr[0])
        if rule is not None:
            host = address.addr[0]
            self._refused = (
                f"{host} ({rule}) is refused; to allow it, write `networks: ['{host}']` beside its URL"
            )
            return int(pycurl.SOCKET_BAD)
        opened = socket.socket(address.family, address.socktype, address.protocol)
        self._opened.append(opened)
        return opened

    def _note_header(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"retry-after":
            self._retry_after = value.decode("latin-1").strip()
