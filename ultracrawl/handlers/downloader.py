"""Scrapy's downloader (`DOWNLOADER`) for the crawl of a source: the frontier has paced the requests already."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy import Request, signals
from scrapy.core.downloader import Downloader
from scrapy.http import Response
from scrapy.spidermiddlewares.metacopy import MetaCopyDetectionMiddleware
from scrapy.spidermiddlewares.start import StartSpiderMiddleware
from scrapy.utils.misc import arg_to_iter
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from ultracrawl.crawl.visit import HANDLED_KEY
from ultracrawl.handlers.oversight import is_heard
from ultracrawl.settings.log_formatter import QuietLogFormatter

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

_TRUSTED = ("ultracrawl.", "scrapy.")
"""Whose middlewares answer what the protocol asks for, so that nobody has to look."""
_OF_REQUESTS = (StartSpiderMiddleware, MetaCopyDetectionMiddleware)
"""Spider middlewares that look at requests of spiders alone; the spider of a source makes none of an answer."""

Step = Callable[..., Any]
Result = TypeVar("Result")


class DirectDownloader(Downloader):
    """Passes requests on to the download handlers, without slots and queues: politeness is the frontier's.

    An answer is handled as soon as it is here, by the callback of its request and the item pipelines, where nobody else
    takes part: spider middlewares, other log formatters and receivers of Scrapy's signals about answers get it by way
    of Scrapy's scraper, as do callbacks that take their time. A request whose answer was handled goes back to the
    engine; the scheduler takes it for done.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        methods = self.middleware.methods
        self._asking = _steps(methods["process_request"])
        self._answering = _steps(methods["process_response"])
        self._failing = _steps(methods["process_exception"])
        self._trusted = all(type(one).__module__.startswith(_TRUSTED) for one in self.middleware.middlewares)

    def fetch(self, request: Request) -> Deferred[Response | Request]:  # type: ignore[override]  # without the spider, as Scrapy asks
        """Return what the middlewares make of a request."""
        self.active.add(request)
        fetched = Deferred.fromFuture(asyncio.ensure_future(self._fetched(request)))
        return fetched.addBoth(self._leave, request)

    def _leave(self, result: Result, request: Request) -> Result:
        """Forget a request in the moment in which the engine takes its answer over, or it is idle between."""
        self.active.discard(request)
        return result

    async def _fetched(self, request: Request) -> Response | Request:
        if not self._trusted:
            answer = await self.middleware.download_async(self._sent, request)
        else:
            answer = await self._through_ours(request)
        if isinstance(answer, Response) and self._is_ours(request, answer):
            return await self._handled(request, answer)
        return answer

    # ---- middlewares

    async def _through_ours(self, request: Request) -> Response | Request:
        """Do what Scrapy's manager of middlewares does, which looks at the result of each."""
        try:
            answer = await self._asked(request)
        except Exception as error:
            answer = await self._excused(request, error)
        for answering, waits in self._answering:
            if isinstance(answer, Request):
                break
            answer = answering(request=request, response=answer)
            if waits:
                answer = await answer
        return answer

    async def _asked(self, request: Request) -> Response | Request:
        for asking, waits in self._asking:
            answer = asking(request=request)
            if waits:
                answer = await answer
            if answer is not None:
                return answer  # type: ignore[no-any-return]  # what Scrapy's protocol says
        return await self._sent(request)

    async def _excused(self, request: Request, error: Exception) -> Response | Request:
        for failing, waits in self._failing:
            answer = failing(request=request, exception=error)
            if waits:
                answer = await answer
            if answer is not None:
                return answer  # type: ignore[no-any-return]  # what Scrapy's protocol says
        raise error

    async def _sent(self, request: Request) -> Response:
        """Return the answer of the download handler, and send the signals of Scrapy's downloader to who hears them."""
        self._tell(signals.request_reached_downloader, request=request)
        try:
            response = await self.handlers.download_request_async(request)
            self._tell(signals.response_downloaded, request=request, response=response)
            return response
        finally:
            self._tell(signals.request_left_downloader, request=request)

    # ---- answers

    @cached_property
    def _alone(self) -> bool:
        """Whether no spider middleware and no other log formatter is told of answers."""
        engine = self.crawler.engine
        assert engine is not None
        others = [one for one in engine.scraper.spidermw.middlewares if type(one) not in _OF_REQUESTS]
        return not others and type(self.crawler.logformatter) is QuietLogFormatter

    def _is_ours(self, request: Request, answer: Response) -> bool:
        """Whether nobody but us takes part in what becomes of the answer to a request."""
        if answer.request is not None and answer.request is not request:
            return False
        visited = request.callback == self.crawler.spider.visit  # type: ignore[union-attr]  # the spider is a SourceSpider
        # Who hears of requests that are scheduled would take the one that goes back for such a request.
        return visited and self._alone and not self._is_heard(signals.request_scheduled)

    async def _handled(self, request: Request, response: Response) -> Response | Request:
        """Handle an answer; returns its request, or the answer itself if handling it takes its time."""
        response.request = request
        engine = self.crawler.engine
        assert request.callback is not None
        assert engine is not None
        try:
            output = request.callback(response)
            if output is not None and not isinstance(output, Iterable):
                request.callback = _Given(output)
                return response
            self._tell(signals.response_received, request=request, response=response)
            for item in arg_to_iter(output):
                await engine.scraper.start_itemproc_async(item, response=response)
        except Exception:  # as Scrapy does with whatever a callback raises
            engine.scraper.handle_spider_error(Failure(), request, response)  # type: ignore[no-untyped-call]  # Twisted
        request.meta[HANDLED_KEY] = True
        return request

    def _tell(self, signal: object, **values: Any) -> None:
        if self._is_heard(signal):
            self.signals.send_catch_log(signal, spider=self.crawler.spider, **values)

    def _is_heard(self, signal: object) -> bool:
        return is_heard(self.signals.sender, signal)


class _Given:
    """A callback whose result is there already."""

    def __init__(self, output: Any) -> None:
        self._output = output

    def __call__(self, _: Response) -> Any:
        return self._output


def _steps(methods: Iterable[Step | None]) -> list[tuple[Step, bool]]:
    """Return methods of middlewares, each with whether its result has to be awaited."""
    return [(method, inspect.iscoroutinefunction(method)) for method in methods if method is not None]
