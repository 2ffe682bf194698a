"""The kinds of download handlers, each behind its guard, sent through from the test's thread."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any
from urllib.request import urlopen

from handlers.conftest import Runner
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.misc import build_from_crawler, load_object
from support.requirement import require

from ultracrawl.handlers.curl.handler import CurlDownloadHandler
from ultracrawl.handlers.guarding.choice import GuardedDownloadHandler, Guarding, guarding_of
from ultracrawl.handlers.guarding.guards import HostNameGuard, ReactorGuard
from ultracrawl.run.transport.host_addresses import HostAddresses


class OpensItself:
    """Stands for handlers whose connections nobody can check."""

    lazy = True

    async def download_request(self, request: Request) -> Response:
        def fetch() -> Response:
            with urlopen(request.url) as answer:
                return Response(request.url, answer.status, body=answer.read())

        return await asyncio.to_thread(fetch)


PATHS: dict[str, Any] = {
    "http11": "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler",
    "http2": "scrapy.core.downloader.handlers.http2.H2DownloadHandler",
    "ftp": "scrapy.core.downloader.handlers.ftp.FTPDownloadHandler",
    "names": OpensItself,
}
WAYS = ("ours", *PATHS)


class Way:
    """A handler of one kind; `guard` may be changed between requests."""

    def __init__(self, kind: str, runner: Runner, guard: Any, access: Any = None) -> None:
        self.kind = kind
        self._runner = runner
        self.handler = runner.run(self._made(guard, access), 60)

    async def _made(self, guard: Any, access: Any) -> Any:
        crawler = Crawler(Spider, {"DOWNLOAD_TIMEOUT": 8})
        crawler.spider = Spider("s")
        if self.kind == "ours":
            handler = CurlDownloadHandler(crawler, guard)
            handler._send = access.around(handler._send) if access else handler._send
            return handler
        crawler.stats = MemoryStatsCollector(crawler)
        cls = load_object(path_of(self.kind))
        foreign = build_from_crawler(cls, crawler)
        if self.kind == "names":
            guard = HostNameGuard(guard, HostAddresses())
        else:
            assert guarding_of(cls) is Guarding.REACTOR
            guard = ReactorGuard(guard)
        return GuardedDownloadHandler(crawler, foreign, guard, access)

    @property
    def scheme(self) -> str:
        """What the handler speaks."""
        return {"http2": "https", "ftp": "ftp"}.get(self.kind, "http")

    def request(self, url: str, **options: Any) -> Request:
        """Return a request as this kind wants it."""
        return Request(url, **options)

    def get(self, url: str | Request, **options: Any) -> Response:
        """Send a request, and return its response."""
        request = url if isinstance(url, Request) else self.request(url, **options)
        response = self._runner.run(self.handler.download_request(request), 30)
        assert isinstance(response, Response)
        return response

    def close(self) -> None:
        """Close the handler."""
        self._runner.run(self.handler.close(), 30)


def path_of(kind: str) -> Any:
    """Return the class of a kind; skips the test if something is missing for it."""
    if kind == "http2":
        require(find_spec("h2") and find_spec("priority"), "HTTP/2", get='pip install "Twisted[http2]"')
    return PATHS[kind]


_connected: list[str] | None = None


def _note_connection(event: str, values: tuple[Any, ...]) -> None:
    if event == "socket.connect" and _connected is not None and isinstance(values[1], tuple):
        _connected.append(str(values[1][0]))


@contextmanager
def connected_addresses() -> Iterator[list[str]]:
    """Note every address that this process connects to, whatever library does it."""
    global _connected  # noqa: PLW0603 - a hook of the interpreter cannot be taken away again
    if not getattr(sys, "_connections_noted", False):
        sys.addaudithook(_note_connection)
        sys._connections_noted = True  # type: ignore[attr-defined]  # ours
    _connected = noted = []
    try:
        yield noted
    finally:
        _connected = None
