"""A network in this process: sites by host and port, and what takes the place of the HTTP client in a crawl."""

from __future__ import annotations

import asyncio
import itertools
import socket
import ssl
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from email.utils import formatdate
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from unittest import mock
from urllib.parse import urlsplit

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    StopDownload,
)
from scrapy.http import Headers
from scrapy.responsetypes import responsetypes

from support.leaping_loop import LeapingLoop
from support.resource import Reply
from support.server import Request
from support.site import Site
from ultracrawl.handlers.curl.wire import checked_method, header_lines, target_url
from ultracrawl.run.auth.proxy_selector import TRUSTED_KEY
from ultracrawl.run.download_errors.kinds import AddressRefusedError, AnswerMalformedError

if TYPE_CHECKING:
    import scrapy
    from scrapy.http import Response

Answer = Callable[[Request], Reply]

_LATENCY = 0.001
"""Seconds from each request to its answer."""
_LOOK_EVERY = 0.01
"""Seconds between two looks at whether an answer that is held may go."""
_PIECE = 1 << 14
"""Bytes of a body that come at once."""
FIRST_HOST = "127.0.0.1"
_PORTS = {"http": 80, "https": 443}


class Network:
    """Who answers at which address; every address of 127.0.0.0/8 is a host of its own."""

    def __init__(self) -> None:
        self._answers: dict[tuple[str, int], Answer] = {}
        self._ports = itertools.count(20_000)
        self._latest = 0

    @contextmanager
    def serve(self, answer: Answer, host: str, port: int) -> Iterator[str]:
        """Have requests to an address answered, and give it without a slash at its end.

        Port 0 is a new one; of another host than 127.0.0.1 it is the latest one, where that is free: a crawl keeps to
        the port of its start URL.
        """
        if not port and host != FIRST_HOST and (host, self._latest) not in self._answers:
            port = self._latest
        place = host, port or next(self._ports)
        self._latest = place[1]
        assert place not in self._answers, f"{host}:{place[1]} is in use"
        self._answers[place] = answer
        try:
            yield f"http://{host}:{place[1]}"
        finally:
            del self._answers[place]

    def find(self, host: str, port: int) -> Answer | None:
        """Return who answers at an address; `0.0.0.0` is every one."""
        return self._answers.get((host, port)) or self._answers.get(("0.0.0.0", port))


_network = Network()
_names: dict[str, str] = {}
"""The addresses of hosts; see `resolved`."""


@contextmanager
def resolved(addresses: dict[str, str]) -> Iterator[None]:
    """Have hosts resolve to addresses of the network; what a test changes in the dictionary holds from then on."""

    whole = socket.getaddrinfo

    def numeric(host: str, port: Any, *rest: Any, **more: Any) -> list[Any]:
        try:
            ip_address(host)
        except ValueError:
            raise socket.gaierror(socket.EAI_NONAME, "unknown name") from None
        return whole(host, port, *rest, **more)

    def look_up(host: str, port: Any, *rest: Any, **more: Any) -> list[Any]:
        if host not in addresses:
            return numeric(host, port, *rest, **more)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (addresses[host], port or 0))]

    global _names  # noqa: PLW0603 - there is one network
    _names = addresses
    try:
        with mock.patch.object(socket, "getaddrinfo", look_up):
            yield
    finally:
        _names = {}


class NetworkSite(Site):
    """A site that is served in the network of this process, without sockets."""

    @contextmanager
    def serve(
        self, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
    ) -> Iterator[str]:
        assert tls is None, "there is no TLS: it needs `Site`"
        with _network.serve(self._answer, host, port) as url:
            yield url

    def raw(self, path: str, data: bytes) -> None:
        if data.startswith(b"HTTP/"):
            raise NotImplementedError(
                "what ends too early goes over a socket: it needs `Site` and `processes`"
            )
        super().raw(path, data)

    def hold(self, path: str) -> threading.Event:
        raise NotImplementedError(
            "nothing runs beside a crawl in this process: it needs `Site` and `processes`"
        )


class NetworkClient:
    """What `ultracrawl.handlers.curl.client.CurlClient` is, for the network of this process.

    The guard is asked for addresses, bounds of size and time hold, and signals are sent; there are no connections,
    no proxies and no TLS.
    """

    def __init__(self, settings: Any, guard: Any, signals: Any) -> None:
        self._guard = guard
        self._signals = signals
        self._timeout = settings.getfloat("DOWNLOAD_TIMEOUT")
        self._maxsize = settings.getint("DOWNLOAD_MAXSIZE")

    async def fetch(self, request: scrapy.Request) -> Response:
        """Return the response of a request; raises Scrapy's download exceptions or `AddressRefusedError`."""
        assert not request.meta.get("proxy"), "there are no proxies: mark the test with `processes`"
        url = urlsplit(target_url(request))
        host, port = url.hostname or "", url.port or _PORTS[url.scheme]
        address = self._address(host, trusted=TRUSTED_KEY in request.meta)
        answer = _network.find(address, port)
        if answer is None:
            raise DownloadConnectionRefusedError(
                f"Failed to connect to {host} port {port}: Connection refused"
            )
        try:
            method = checked_method(request)
        except ValueError as error:
            raise DownloadFailedError(f"the request cannot be sent: {error}") from error
        path = (url.path or "/") + (f"?{url.query}" if url.query else "")
        own = url.netloc.removesuffix(f":{_PORTS[url.scheme]}")  # as libcurl writes it
        reply = answer(Request(method, path, _headers(request, own), request.body, time.monotonic()))
        seconds = float(request.meta.get("download_timeout") or self._timeout)
        transfer = _Transfer(request, reply, seconds or float("inf"), self._limit(request))
        response = await transfer.receive(self._signals if self._signals.has_receivers else None)
        response.ip_address = ip_address(address)
        return response

    def close(self) -> None:
        """There is nothing to close."""

    def _limit(self, request: scrapy.Request) -> int:
        return int(request.meta.get("download_maxsize", self._maxsize))

    def _address(self, host: str, *, trusted: bool) -> str:
        address = {"localhost": "127.0.0.1", **_names}.get(host, host)
        try:
            ip_address(address)
        except ValueError as error:
            raise CannotResolveHostError(f"Could not resolve host: {host}") from error
        decision = None if self._guard is None or trusted else self._guard.check(address, host)
        if decision is not None and not decision.accept:
            raise AddressRefusedError(decision)
        return address


class _Transfer:
    """An answer on its way."""

    def __init__(self, request: scrapy.Request, reply: Reply, seconds: float, most: int) -> None:
        self._request = request
        self._reply = reply
        self._seconds = seconds
        self._begun = time.monotonic()
        self._most = most
        self._chunks: list[bytes] = []

    async def receive(self, signals: Any) -> Response:
        """Wait for the answer, and return it."""
        await self._wait(self._reply.delay or _LATENCY)
        if self._reply.until is not None:
            await self._wait_until(self._reply.until)
        if self._reply.raw and self._reply.body:
            raise AnswerMalformedError("Received HTTP/0.9 when not allowed")
        if self._reply.raw:
            raise DownloadFailedError("Empty reply from server")
        self._request.meta["download_latency"] = time.monotonic() - self._begun
        headers = _answer_headers(self._request, self._reply)
        length = headers.get("Content-Length")
        stopped = None
        if not self._bodiless and length and 0 < self._most < int(length):
            raise self._too_large(f"{int(length)} bytes announced, {self._most} allowed")
        if signals is not None:
            stopped = signals.send_headers(self._request, dict(headers), int(length) if length else None)
        if stopped is None and not self._bodiless:
            stopped = await self._receive_body(signals)
        body = b"".join(self._chunks)
        kind = responsetypes.from_args(headers=headers, url=self._request.url, body=body)
        flags = ["download_stopped"] if stopped is not None else None
        response = kind(
            self._request.url, status=self._reply.status, body=body, flags=flags, protocol="HTTP/1.1"
        )
        response.headers = headers
        if stopped is not None and stopped.fail:
            stopped.response = response
            raise stopped
        return response

    @property
    def _bodiless(self) -> bool:
        return self._request.method == "HEAD" or self._reply.status in (204, 304)

    async def _receive_body(self, signals: Any) -> StopDownload | None:
        size = 0
        async for chunk in self._pieces():
            size += len(chunk)
            if 0 < self._most < size:
                raise self._too_large(f"more than {self._most} bytes came")
            self._chunks.append(chunk)
            if signals is not None and (stopped := signals.send_bytes(self._request, chunk)) is not None:
                assert isinstance(stopped, StopDownload)
                return stopped
        return None

    async def _pieces(self) -> AsyncIterator[bytes]:
        drip, body = self._reply.drip, self._reply.body
        if drip is None:
            for start in range(0, len(body), _PIECE):
                yield body[start : start + _PIECE]
            return
        for _ in itertools.count() if drip.times is None else range(drip.times):
            yield drip.chunk
            await self._wait(drip.pause)

    async def _wait_until(self, event: threading.Event) -> None:
        """Wait for what somebody does in another thread, in true time."""
        loop = asyncio.get_running_loop()
        assert isinstance(loop, LeapingLoop)
        with loop.true_time():
            while not event.is_set():
                await self._wait(_LOOK_EVERY)

    async def _wait(self, seconds: float) -> None:
        left = self._begun + self._seconds - time.monotonic()
        await asyncio.sleep(min(seconds, left))
        if seconds >= left:
            after, size = round(self._seconds * 1000), sum(map(len, self._chunks))
            raise DownloadTimeoutError(
                f"Operation timed out after {after} milliseconds with {size} bytes received"
            )

    @staticmethod
    def _too_large(what: str) -> DownloadCancelledError:
        return DownloadCancelledError(f"the body is larger than DOWNLOAD_MAXSIZE: {what}")


def _headers(request: scrapy.Request, host: str) -> dict[str, str]:
    """Return what a server would be sent."""
    headers = {"host": host}
    for line in header_lines(request):
        name, colon, value = line.decode("latin-1").partition(":")
        if colon and not value.strip():
            continue  # libcurl is told not to send it
        name, value = name.rstrip(";").lower(), value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers and name != "host" else value
    if request.body:
        headers["content-length"] = str(len(request.body))
    return headers


def _answer_headers(request: scrapy.Request, reply: Reply) -> Headers:
    """Return the headers that the server of the tests would send."""
    headers = Headers()
    for name, value in reply.headers:
        headers.appendlist(name, value.strip())
    if "Date" not in headers:
        headers["Date"] = formatdate(time.time(), usegmt=True)
    if reply.drip is not None:
        headers["Transfer-Encoding"] = "chunked"
    elif reply.status not in {204, 304} and "Content-Length" not in headers:
        headers["Content-Length"] = str(len(reply.body))
    return headers
