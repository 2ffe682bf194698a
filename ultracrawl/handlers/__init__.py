"""Download handlers for http, https and ftp: how bytes come from the network.

`CurlDownloadHandler` (`curl`: libcurl), `GuardedHTTP11DownloadHandler`
(`guarded`: Scrapy's Twisted handler, where libcurl does not load), both with an `AddressGuard` (`guard`) on the
address that is connected to; a refusal is an `AddressRefusedError`. The curl handler is made of `CurlClient`,
`CurlLoop` (libcurl on asyncio), `Transfer` (an `EasyTransfer`: one easy handle), `DownloadWatch` (Scrapy's signals) and
`ResponseHead`; `wire`, `tls`, `answer` and `curl_failures` translate between Scrapy and libcurl.
`FtpDownloadHandler` (`ftp`, on libcurl too) is made of `FtpClient`, `FtpTransfer`, `ftp_target` (paths that are safe)
and `ftp_answer` (replies as responses).
"""

from ultracrawl.crawl.transport.libcurl import why_no_libcurl

__all__ = ["CURL_HANDLER", "FTP_HANDLER", "TWISTED_HANDLER", "best_handler"]

CURL_HANDLER = "ultracrawl.handlers.curl.handler.CurlDownloadHandler"
FTP_HANDLER = "ultracrawl.handlers.ftp.handler.FtpDownloadHandler"
TWISTED_HANDLER = "ultracrawl.handlers.guarded.GuardedHTTP11DownloadHandler"


def best_handler() -> str:
    """Return the dotted path of the fastest handler that this installation can use."""
    return TWISTED_HANDLER if why_no_libcurl() else CURL_HANDLER
