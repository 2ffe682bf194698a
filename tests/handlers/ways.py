"""The kinds of download handlers, each behind its guard, sent through from the test's thread."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import pytest
from handlers.conftest import Runner
from scrapy import Request, Spider, signals
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.misc import build_from_crawler, load_object
from support.requirement import require

from ultracrawl.crawl.rendering.browser import PROGRAMS
from ultracrawl.handlers.curl.handler import CurlDownloadHandler
from ultracrawl.handlers.guarding.choice import GUARDS, guarding_of
from ultracrawl.handlers.guarding.handler import GuardedDownloadHandler


class TakesProxy(HTTP11DownloadHandler):
    """Stands for handlers that take the proxy in the meta of a request."""

    ultracrawl_guarded_by = "proxy"


PATHS: dict[str, Any] = {
    "http11": "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler",
    "http2": "scrapy.core.downloader.handlers.http2.H2DownloadHandler",
    "proxied": TakesProxy,
    "playwright": "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler",
}
PLAYWRIGHT = pytest.param("playwright", marks=pytest.mark.servers)
WAYS = ("ours", "http11", "http2", "proxied", PLAYWRIGHT)


class Way:
    """A handler of one kind; `guard` may be changed between requests."""

    def __init__(self, kind: str, runner: Runner, guard: Any, access: Any = None) -> None:
        self.kind = kind
        self._runner = runner
        self.handler = runner.run(self._made(guard, access), 60)

    async def _made(self, guard: Any, access: Any) -> Any:
        settings: dict[str, Any] = {"DOWNLOAD_TIMEOUT": 8}
        if self.kind == "playwright":
            settings["PLAYWRIGHT_LAUNCH_OPTIONS"] = launch_options()
        crawler = Crawler(Spider, settings)
        crawler.spider = Spider("s")
        if self.kind == "ours":
            handler = CurlDownloadHandler(crawler, guard)
            handler._send = access.around(handler._send) if access else handler._send
            return handler
        crawler.stats = MemoryStatsCollector(crawler)
        cls = load_object(path_of(self.kind))
        foreign = build_from_crawler(cls, crawler)
        guarding = guarding_of(cls)
        assert guarding is not None
        context: Any = SimpleNamespace(rules=SimpleNamespace(addresses=guard))
        guard = GUARDS[guarding].for_crawl(crawler, context, foreign)
        await crawler.signals.send_catch_log_async(signals.engine_started)
        return GuardedDownloadHandler(crawler, foreign, guard, access)

    @property
    def scheme(self) -> str:
        """What the handler speaks."""
        return "https" if self.kind == "http2" else "http"

    def request(self, url: str, **options: Any) -> Request:
        """Return a request as this kind wants it."""
        meta = {"playwright": True} if self.kind == "playwright" else {}
        return Request(url, meta={**meta, **options.pop("meta", {})}, **options)

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
    if kind == "playwright":
        require(find_spec("scrapy_playwright"), "scrapy-playwright", get="pip install scrapy-playwright")
    return PATHS[kind]


def launch_options() -> dict[str, Any]:
    """Return how scrapy-playwright finds the Chromium of the machine; skips the test if there is none."""
    require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")
    return {"executable_path": next(filter(None, map(shutil.which, PROGRAMS))), "args": []}


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
