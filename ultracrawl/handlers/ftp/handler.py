"""The download handler for ftp on libcurl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import is_asyncio_available

from ultracrawl.errors import UserError
from ultracrawl.handlers.download_control import AddressGuard, DownloadSignals, guard_of
from ultracrawl.run import parts_of
from ultracrawl.run.transport.libcurl import require_libcurl
from ultracrawl.sources.compilation.ftp import FtpAccess

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class FtpDownloadHandler(BaseDownloadHandler):
    """Reads files and directories of FTP servers (RFC 959, 2428, 3659), in passive or active mode.

    An error reply becomes a response with the equivalent HTTP status, and the reply in the header `X-Ftp-Reply`. A
    directory becomes a list of URLs. A file with the date and size of `If-None-Match` becomes a 304. The address guard
    checks every connection. Raises `NotConfigured` without pycurl.
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

        self._client = FtpClient(crawler.settings, access or FtpAccess(), guard, DownloadSignals(crawler))

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the handler with the accounts and the guard of the source."""
        return cls(crawler, parts_of(crawler)[FtpAccess], guard_of(crawler))

    async def download_request(self, request: Request) -> Response:
        """Return the response. Raises Scrapy's download exceptions or `AddressRefusedError`."""
        return await self._client.fetch(request)

    async def close(self) -> None:
        """Stop all transfers and close all connections."""
        self._client.close()
