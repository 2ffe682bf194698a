"""The download handler for http and https on libcurl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import is_asyncio_available

from ultracrawl.errors import UserError
from ultracrawl.handlers.download_control import AddressGuard, DownloadSignals, access_of, guard_of
from ultracrawl.run.transport.libcurl import require_libcurl

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ultracrawl.run.transport.outgoing import Send


class CurlDownloadHandler(BaseDownloadHandler):
    """Downloads with pycurl on the asyncio loop; keeps connections alive, about a quarter of Twisted's cost.

    Sends requests as they are: it follows no redirects, keeps no cookies, adds no headers (but Host and the framing of
    a body) and decodes nothing. The address guard of a source checks the address of every connection, proxies
    included, right before it is connection, so DNS rebinding cannot bypass it. Raises `NotConfigured` without pycurl or
    without an asyncio loop.
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

        self._client = CurlClient(crawler.settings, guard, DownloadSignals(crawler))
        self._send: Send = self._client.fetch

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the handler with the guard, credentials, cookies and proxies of the source."""
        handler = cls(crawler, guard_of(crawler))
        access = access_of(crawler)
        if access is not None:
            handler._send = access.around(handler._send)
        return handler

    async def download_request(self, request: Request) -> Response:
        """Return the response. Raises Scrapy's download exceptions or `AddressRefusedError`."""
        return await self._send(request)

    async def close(self) -> None:
        """Stop all transfers and close all connections."""
        self._client.close()
