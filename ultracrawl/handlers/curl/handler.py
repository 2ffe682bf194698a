"""A download handler for http and https on libcurl."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import is_asyncio_available

from ultracrawl.crawl.transport.libcurl import require_libcurl
from ultracrawl.errors import UserError
from ultracrawl.handlers.oversight import DownloadWatch, access_of, guard_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ultracrawl.crawl.transport.outgoing import Send
    from ultracrawl.handlers.oversight import AddressGuard


class CurlDownloadHandler(BaseDownloadHandler):
    """Downloads with pycurl on the asyncio loop; kept-alive connections, about a quarter of Twisted's cost.

    Sends what the request says and nothing else: no redirect is followed, no cookie kept, no header added
    (but Host and the framing of a body), nothing decoded. A source's address guard is asked for the address
    of every connection, proxies included, right before it is opened; DNS cannot get around it. Raises
    `NotConfigured` without pycurl or without an asyncio loop.
    """

    lazy = True

    def __init__(self, crawler: Crawler, guard: AddressGuard | None = None) -> None:
        super().__init__(crawler)
        if not is_asyncio_available():
            raise NotConfigured("CurlDownloadHandler needs asyncio: leave TWISTED_REACTOR at its default")
        try:
            require_libcurl("CurlDownloadHandler")
        except UserError as error:
            raise NotConfigured(str(error)) from error
        from ultracrawl.handlers.curl.client import CurlClient  # noqa: PLC0415 - it needs pycurl

        self._client = CurlClient(crawler.settings, guard, DownloadWatch(crawler))
        self._send: Send = self._client.fetch

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the handler of a crawler with the guard of its source and what it shows to servers."""
        handler = cls(crawler, guard_of(crawler))
        access = access_of(crawler)
        if access is not None:
            handler._send = access.around(handler._send)
        return handler

    async def download_request(self, request: Request) -> Response:
        """Return the response; raises Scrapy's download exceptions or `AddressRefusedError`."""
        return await self._send(request)

    async def close(self) -> None:
        """Stop what runs and close all connections; called once when the crawl ends."""
        self._client.close()
