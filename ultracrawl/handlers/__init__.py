"""Download handlers for http, https and ftp, and Scrapy's downloader.

`CurlDownloadHandler` (package `curl`) consists of `CurlClient`, `CurlLoop` (libcurl on asyncio), `Transfer` (an
`EasyTransfer`: one easy handle) and `ResponseHead`; the modules `wire`, `response` and `errors` translate between
Scrapy and libcurl. An `AddressGuard` checks each address before it is connected to; a refusal is an
`AddressRefusedError`. `DownloadSignals` sends Scrapy's signals.
`FtpDownloadHandler` (package `ftp`, also on libcurl) consists of `FtpClient`, `FtpTransfer` and `response` (replies as
responses).
Package `guarding` checks the connections of third-party handlers.
"""

__all__ = ["FTP_HANDLER", "HTTP_HANDLER"]

HTTP_HANDLER = "ultracrawl.handlers.curl.handler.CurlDownloadHandler"
FTP_HANDLER = "ultracrawl.handlers.ftp.handler.FtpDownloadHandler"
