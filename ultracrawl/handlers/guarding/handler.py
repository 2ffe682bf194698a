"""A download handler around one that is not ours."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.misc import build_from_crawler

from ultracrawl.crawl import context_of
from ultracrawl.handlers.oversight import access_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ultracrawl.crawl.auth.chain import AuthChain
    from ultracrawl.crawl.transport.outgoing import Send
    from ultracrawl.handlers.guarding.walls import Wall


class GuardedDownloadHandler(BaseDownloadHandler):
    """Has a foreign handler send requests with what the source shows to servers, behind a wall.

    It is the last step of a request, behind all middlewares: credentials are added to a copy, which only the foreign
    handler gets to see. Made anew for each crawl that needs it, with the class of the handler and of its wall.
    """

    lazy = False

    handler_class: ClassVar[Any]
    wall: ClassVar[type[Wall]]

    def __init__(self, crawler: Crawler, handler: Any, wall: Wall, access: AuthChain | None) -> None:
        super().__init__(crawler)
        self._handler = handler
        self._wall = wall
        send: Send = partial(wall.fetch, send=_sender(handler, crawler))
        self._bare = send if access is None else access.around_bare(send)
        self._send = send if access is None else access.around(send)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the foreign handler, its wall, and what is around both. Raises what the foreign one does."""
        handler = build_from_crawler(cls.handler_class, crawler)
        wall = cls.wall.for_crawl(crawler, context_of(crawler), handler)
        return cls(crawler, handler, wall, access_of(crawler))

    async def download_request(self, request: Request) -> Response:
        """Return the response; raises `AddressRefusedError`, and whatever the foreign handler does."""
        send = self._bare if self._wall.forwards_headers(request) else self._send
        response = await send(request)
        response.request = request  # some handlers name the copy here, which has the credentials
        return response

    async def close(self) -> None:
        """Close the foreign handler and its wall."""
        try:
            if hasattr(self._handler, "close"):
                await ensure_awaitable(self._handler.close())
        finally:
            await self._wall.close()


def guarded_class(handler: Any, wall: type[Wall]) -> type[GuardedDownloadHandler]:
    """Return the class that Scrapy makes in the place of a foreign one."""
    own = {"handler_class": handler, "wall": wall, "__module__": __name__}
    return type(f"Guarded{getattr(handler, '__name__', '')}", (GuardedDownloadHandler,), own)


def _sender(handler: Any, crawler: Crawler) -> Send:
    """Return what sends a request; handlers of the old kind take the spider, too, and return a Deferred."""
    if inspect.iscoroutinefunction(handler.download_request):
        send: Send = handler.download_request
        return send

    async def send_with_spider(request: Request) -> Response:
        response: Response = await ensure_awaitable(handler.download_request(request, crawler.spider))
        return response

    return send_with_spider
