"""The downloader (`DOWNLOADER`) for the crawl of a source, whose requests the frontier has paced already."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy import Request, signals
from scrapy.core.downloader import Downloader
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.spidermiddlewares.metacopy import MetaCopyDetectionMiddleware
from scrapy.spidermiddlewares.start import StartSpiderMiddleware
from scrapy.utils.misc import arg_to_iter
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from ultracrawl.handlers.download_control import has_receivers
from ultracrawl.run import parts_of
from ultracrawl.run.control.silent_requests import SilentRequests
from ultracrawl.run.visit import HANDLED_KEY
from ultracrawl.settings.log_formatter import QuietLogFormatter

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

_TRUSTED_PACKAGES = ("ultracrawl.", "scrapy.")
"""Packages whose middlewares return valid results, so that these need no check."""
_REQUEST_SIGNALS = (
    signals.request_reached_downloader,
    signals.response_downloaded,
    signals.request_left_downloader,
)
_REQUEST_ONLY_MIDDLEWARES = (StartSpiderMiddleware, MetaCopyDetectionMiddleware)
"""Spider middlewares that only process requests; the callbacks of a source spider yield none."""

Method = Callable[..., Any]
Result = TypeVar("Result")


class DirectDownloader(Downloader):
    """Passes requests to the download handlers without slots and queues: the frontier keeps the politeness delays.

    A response is passed directly to the callback and the item pipelines, without Scrapy's scraper, unless a spider
    middleware, another log formatter or a receiver of `request_scheduled` is installed, or the callback is
    asynchronous. The request of a response handled here is returned to the engine; the scheduler treats it as done.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        methods = self.middleware.methods
        self._fetches: dict[Request, asyncio.Task[Response | Request]] = {}
        self._abandoned: set[Request] = set()
        with suppress(NotConfigured):  # a spider without a definition
            parts_of(crawler)[SilentRequests].connect_downloader(self.abandon)
        self._request_methods = _with_async_flag(methods["process_request"])
        self._response_methods = _with_async_flag(methods["process_response"])
        self._exception_methods = _with_async_flag(methods["process_exception"])
        self._all_trusted = all(
            type(each).__module__.startswith(_TRUSTED_PACKAGES) for each in self.middleware.middlewares
        )

    def fetch(self, request: Request) -> Deferred[Response | Request]:  # type: ignore[override]  # without the spider, as Scrapy asks
        """Pass a request through the middlewares; the result is a response or another request."""
        self.active.add(request)
        task = self._fetches[request] = asyncio.ensure_future(self._fetch(request))
        return Deferred.fromFuture(task).addBoth(self._forget_request, request)

    def abandon(self, request: Request) -> None:
        """Cancel a request; to Scrapy it is handled, and its visit has no result."""
        if (task := self._fetches.get(request)) is not None:
            self._abandoned.add(request)
            task.cancel()

    def _forget_request(self, result: Result, request: Request) -> Result:
        """Forget a request just when the engine gets its result; earlier, the engine could seem idle."""
        self.active.discard(request)
        self._fetches.pop(request, None)
        self._abandoned.discard(request)
        return result

    async def _fetch(self, request: Request) -> Response | Request:
        try:
            return await self._fetch_and_handle(request)
        except asyncio.CancelledError:
            if request not in self._abandoned:
                raise
            request.meta[HANDLED_KEY] = True
            return request

    async def _fetch_and_handle(self, request: Request) -> Response | Request:
        if not self._all_trusted:
            result = await self.middleware.download_async(self._send_request, request)
        else:
            result = await self._run_middlewares(request)
        if isinstance(result, Response) and self._can_handle(request, result):
            return await self._handle(request, result)
        return result

    # ---- middlewares

    async def _run_middlewares(self, request: Request) -> Response | Request:
        """Like Scrapy's middleware manager, but without its check of each result."""
        try:
            result = await self._process_request(request)
        except Exception as error:
            result = await self._process_exception(request, error)
        for method, is_async in self._response_methods:
            if isinstance(result, Request):
                break
            result = method(request=request, response=result)
            if is_async:
                result = await result
        return result

    async def _process_request(self, request: Request) -> Response | Request:
        for method, is_async in self._request_methods:
            result = method(request=request)
            if is_async:
                result = await result
            if result is not None:
                return result  # type: ignore[no-any-return]  # what Scrapy's protocol says
        return await self._send_request(request)

    async def _process_exception(self, request: Request, error: Exception) -> Response | Request:
        for method, is_async in self._exception_methods:
            result = method(request=request, exception=error)
            if is_async:
                result = await result
            if result is not None:
                return result  # type: ignore[no-any-return]  # what Scrapy's protocol says
        raise error

    async def _send_request(self, request: Request) -> Response:
        """Return the response of the download handler; send the signals of Scrapy's downloader."""
        if not has_receivers(self.signals.sender, *_REQUEST_SIGNALS):
            return await self.handlers.download_request_async(request)
        self._send_signal(signals.request_reached_downloader, request=request)
        try:
            response = await self.handlers.download_request_async(request)
            self._send_signal(signals.response_downloaded, request=request, response=response)
            return response
        finally:
            self._send_signal(signals.request_left_downloader, request=request)

    # ---- responses

    @cached_property
    def _is_bypass_possible(self) -> bool:
        """Whether neither a spider middleware nor another log formatter needs the responses."""
        engine = self.crawler.engine
        assert engine is not None
        middlewares = engine.scraper.spidermw.middlewares
        others = [each for each in middlewares if type(each) not in _REQUEST_ONLY_MIDDLEWARES]
        return not others and type(self.crawler.logformatter) is QuietLogFormatter

    def _can_handle(self, request: Request, response: Response) -> bool:
        """Whether a response can be handled here, without Scrapy's scraper."""
        if response.request is not None and response.request is not request:
            return False
        is_visit = request.callback == self.crawler.spider.visit  # type: ignore[union-attr]  # the spider is a SourceSpider
        # The request is returned to the engine, whose `request_scheduled` would mislead receivers of the signal.
        is_free = is_visit and self._is_bypass_possible
        return is_free and not has_receivers(self.signals.sender, signals.request_scheduled)

    async def _handle(self, request: Request, response: Response) -> Response | Request:
        """Handle a response; returns its request, or the response itself if the callback is asynchronous."""
        response.request = request
        engine = self.crawler.engine
        assert request.callback is not None
        assert engine is not None
        try:
            output = request.callback(response)
            if output is not None and not isinstance(output, Iterable):
                request.callback = _ConstantCallback(output)
                return response
            self._send_signal(signals.response_received, request=request, response=response)
            for item in arg_to_iter(output):
                await engine.scraper.start_itemproc_async(item, response=response)
        except Exception:  # as Scrapy does for callbacks
            engine.scraper.handle_spider_error(Failure(), request, response)  # type: ignore[no-untyped-call]  # Twisted
        request.meta[HANDLED_KEY] = True
        return request

    def _send_signal(self, signal: object, **values: Any) -> None:
        if has_receivers(self.signals.sender, signal):
            self.signals.send_catch_log(signal, spider=self.crawler.spider, **values)


class _ConstantCallback:
    """A callback that returns a given result."""

    def __init__(self, output: Any) -> None:
        self._output = output

    def __call__(self, _: Response) -> Any:
        return self._output


def _with_async_flag(methods: Iterable[Method | None]) -> list[tuple[Method, bool]]:
    """Return the middleware methods, each with whether it is a coroutine function."""
    return [(method, inspect.iscoroutinefunction(method)) for method in methods if method is not None]
