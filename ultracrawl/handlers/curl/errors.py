"""libcurl's error codes as the exceptions of Scrapy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pycurl
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)

from ultracrawl.crawl.download_errors.kinds import AddressRefusedError, ProxyLoginError

if TYPE_CHECKING:
    from ultracrawl.handlers.curl.easy import EasyTransfer


_KINDS: dict[int, type[Exception]] = {
    pycurl.E_COULDNT_RESOLVE_HOST: CannotResolveHostError,
    pycurl.E_COULDNT_RESOLVE_PROXY: CannotResolveHostError,
    pycurl.E_COULDNT_CONNECT: DownloadConnectionRefusedError,
    pycurl.E_OPERATION_TIMEDOUT: DownloadTimeoutError,
}
_BROKEN_OFF = frozenset(
    {pycurl.E_PARTIAL_FILE, pycurl.E_RECV_ERROR, pycurl.E_HTTP2, getattr(pycurl, "E_HTTP2_STREAM", 92)}
)


def lost_data(transfer: EasyTransfer, code: int) -> bool:
    """Return whether an answer began and its body broke off, or its framing is wrong."""
    return code in _BROKEN_OFF and transfer.answered


def failure(transfer: EasyTransfer, code: int, text: str) -> Exception:
    """Return the exception for a transfer that failed."""
    if transfer.too_large:
        return DownloadCancelledError(f"the body is larger than DOWNLOAD_MAXSIZE: {transfer.too_large}")
    if transfer.refusal is not None and not transfer.connected:
        return AddressRefusedError(transfer.refusal)
    words = text or f"libcurl error {code}"
    if transfer.refused_by_proxy:
        return ProxyLoginError(words) if transfer.login_refused else DownloadFailedError(words)
    if lost_data(transfer, code):
        return ResponseDataLossError(words)
    return _KINDS.get(code, DownloadFailedError)(words)
