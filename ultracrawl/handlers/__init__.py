"""Download handlers for http, https and ftp: how bytes come from the network.

`CurlDownloadHandler` (`curl`: libcurl) has an `AddressGuard` (`guard`) on the address that is connected to; a
refusal is an `AddressRefusedError`. It is made of `CurlClient`, `CurlLoop` (libcurl on asyncio), `Transfer` (an
`EasyTransfer`: one easy handle), `DownloadWatch` (Scrapy's signals) and `ResponseHead`; `wire`, `tls`, `answer` and
`errors` translate between Scrapy and libcurl.
`FtpDownloadHandler` (`ftp`, on libcurl too) is made of `FtpClient`, `FtpTransfer`, `ftp_target` (paths that are safe)
and `ftp_answer` (replies as responses).
"""

__all__ = ["FTP_HANDLER", "HTTP_HANDLER"]

HTTP_HANDLER = "ultracrawl.handlers.curl.handler.CurlDownloadHandler"
FTP_HANDLER = "ultracrawl.handlers.ftp.handler.FtpDownloadHandler"
