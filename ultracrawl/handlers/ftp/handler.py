"""A download handler for ftp on libcurl."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import is_asyncio_available

from ultracrawl.crawl import feature_of
from ultracrawl.crawl.transport.libcurl import require_libcurl
from ultracrawl.errors import UserError
from ultracrawl.handlers.oversight import DownloadWatch, guard_of
from ultracrawl.sources.compilation.ftp import FtpAccess

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ultracrawl.handlers.oversight import AddressGuard


class FtpDownloadHandler(BaseDownloadHandler):
    """Reads files and directories of FTP servers (RFC 959, 2428, 3659), in passive or active mode.

    An error reply becomes a response with the status that a web server would have sent, and the reply in the header
    `X-Ftp-Reply`. A directory becomes a list of URLs. A file whose date and size are those of `If-None-Match` is
    answered with 304. The address guard is asked for every connection. Raises `NotConfigured` without pycurl.
    """

    lazy = True

    def __init__(
        self, crawler: Crawler, access: FtpAccess | None = None, guard: AddressGuard | None = None
    ) -> None:
        super().__init__(crawler)
        if not is_asyncio_available():
            raise NotConfigured("FtpDownloadHandler needs asyncio: leave TWISTED_REACTOR at its default")
        try:
            require_libcurl("FtpDownloadHandler")
        except UserError as error:
            raise NotConfigured(str(error)) from error
        from ultracrawl.handlers.ftp.client import FtpClient  # noqa: PLC0415 - it needs pycurl

        self._client = FtpClient(crawler.settings, access or FtpAccess(), guard, DownloadWatch(crawler))

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the handler of a crawler with the accounts and the guard of its source."""
        return cls(crawler, feature_of(crawler, FtpAccess), guard_of(crawler))

    async def download_request(self, request: Request) -> Response:
        """Return the response; raises Scrapy's download exceptions or `AddressRefusedError`."""
        return await self._client.fetch(request)

    async def close(self) -> None:
        """Stop what runs and close all connections; called once when the crawl ends."""
        self._client.close()
