"""The downloader middlewares of a plain Scrapy project around a server that a test writes as a function."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, IgnoreRequest
from scrapy.http import HtmlResponse, Response
from scrapy.utils.test import get_crawler

Server = Callable[[Request], Response | Awaitable[Response]]
NUMBERS = {
    "RobotsMiddleware": 100,
    "RewriterMiddleware": 40,
    "RedirectBoundaryMiddleware": 605,
    "ConditionalMiddleware": 705,
}


class PlainSpider(Spider):
    name = "plain"
    start_urls = ("http://h.example/",)


class Chain:
    """One crawl: requests go through Scrapy's own middlewares and ours, redirects and retries are followed.

    A redirect that is dropped when it is queued comes back as None, as what middlewares drop does.
    """

    def __init__(self, server: Server, *names: str, data: Path | None = None, **settings: Any) -> None:
        mine = {f"ultracrawl.middlewares.{name}": NUMBERS[name] for name in names}
        own = {"DOWNLOADER_MIDDLEWARES": mine, "ROBOTSTXT_OBEY": False, "TELNETCONSOLE_ENABLED": False}
        if data is not None:
            own["ULTRACRAWL_DATA"] = str(data)
        self.asked: list[Request] = []
        """Requests as the server got them."""
        self._server = server
        self.crawler: Crawler = get_crawler(PlainSpider, {**own, **settings}, prevent_warnings=False)
        self.crawler.engine = self  # type: ignore[assignment]  # what robots.txt is fetched by
        self._manager: DownloaderMiddlewareManager

    @property
    def stats(self) -> dict[str, Any]:
        assert self.crawler.stats is not None
        return self.crawler.stats.get_stats()

    def crawl(self, *requests: Request | str) -> list[Response | None]:
        """Return the answers of a whole crawl; all of its requests begin at once."""
        return asyncio.run(self._crawl([Request(one) if isinstance(one, str) else one for one in requests]))

    async def _crawl(self, requests: list[Request]) -> list[Response | None]:
        self.crawler.spider = PlainSpider.from_crawler(self.crawler)
        self._manager = DownloaderMiddlewareManager.from_crawler(self.crawler)
        await self.crawler.signals.send_catch_log_async(
            signals.spider_opened, spider=self.crawler.spider, dont_log=CloseSpider
        )
        found = await asyncio.gather(*map(self._answer, requests))
        await self.crawler.signals.send_catch_log_async(
            signals.spider_closed, spider=self.crawler.spider, reason="finished"
        )
        return list(found)

    async def _answer(self, request: Request) -> Response | None:
        try:
            self._queue(request)
            return await self.download_async(request)
        except IgnoreRequest:
            return None

    async def download_async(self, request: Request) -> Response:
        """Return the answer to a request; what middlewares make of it is queued, as the engine does with requests."""
        while True:
            found = await self._manager.download_async(self._ask, request)
            if isinstance(found, Response):
                return found
            request = found
            self._queue(request)

    def _queue(self, request: Request) -> None:
        told = self.crawler.signals.send_catch_log(
            signals.request_scheduled, request=request, spider=self.crawler.spider, dont_log=IgnoreRequest
        )
        if any(isinstance(getattr(one, "value", None), IgnoreRequest) for _, one in told):
            raise IgnoreRequest

    async def _ask(self, request: Request) -> Response:
        self.asked.append(request.replace(headers=request.headers.copy()))
        answer = self._server(request)
        return await answer if inspect.isawaitable(answer) else answer


def page(request: Request, body: str = "<p>words</p>", status: int = 200, **headers: str) -> Response:
    """Return a page; names of headers are written with underscores."""
    named = {
        "Content-Type": "text/html",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    return HtmlResponse(request.url, status=status, headers=named, body=body.encode(), encoding="utf-8")
