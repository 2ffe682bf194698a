"""The download handler that wraps a third-party one."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.misc import build_from_crawler

from ultracrawl.crawl import context_of
from ultracrawl.handlers.download_control import access_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ultracrawl.crawl.auth.chain import AuthChain
    from ultracrawl.crawl.transport.outgoing import Send
    from ultracrawl.handlers.guarding.guards import ConnectionGuard


class GuardedDownloadHandler(BaseDownloadHandler):
    """Sends requests with a third-party handler under a connection guard, with the credentials of the source.

    Credentials are added to a copy of the request after all middlewares, so that only the handler sees them.
    `guarded_class` creates a subclass for each handler class and its guard.
    """

    lazy = False

    handler_class: ClassVar[Any]
    guard: ClassVar[type[ConnectionGuard]]

    def __init__(
        self, crawler: Crawler, handler: Any, guard: ConnectionGuard, access: AuthChain | None
    ) -> None:
        super().__init__(crawler)
        self._handler = handler
        self._guard = guard
        send: Send = partial(guard.fetch, send=_sender(handler, crawler))
        self._send = send if access is None else access.around(send)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the third-party handler and its guard. Raises whatever the handler raises."""
        handler = build_from_crawler(cls.handler_class, crawler)
        guard = cls.guard.for_crawl(crawler, context_of(crawler), handler)
        return cls(crawler, handler, guard, access_of(crawler))

    async def download_request(self, request: Request) -> Response:
        """Return the response. Raises `AddressRefusedError` and whatever the handler raises."""
        response = await self._send(request)
        response.request = request  # some handlers set the copy here, which has the credentials
        return response

    async def close(self) -> None:
        """Close the handler and its guard."""
        try:
            if hasattr(self._handler, "close"):
                await ensure_awaitable(self._handler.close())
        finally:
            await self._guard.close()


def guarded_class(handler: Any, guard: type[ConnectionGuard]) -> type[GuardedDownloadHandler]:
    """Return the guarded subclass for a third-party handler class."""
    own = {"handler_class": handler, "guard": guard, "__module__": __name__}
    return type(f"Guarded{getattr(handler, '__name__', '')}", (GuardedDownloadHandler,), own)


def _sender(handler: Any, crawler: Crawler) -> Send:
    """Return the send function of a handler; old handlers also take the spider, and return a Deferred."""
    if inspect.iscoroutinefunction(handler.download_request):
        send: Send = handler.download_request
        return send

    async def send_with_spider(request: Request) -> Response:
        response: Response = await ensure_awaitable(handler.download_request(request, crawler.spider))
        return response

    return send_with_spider
