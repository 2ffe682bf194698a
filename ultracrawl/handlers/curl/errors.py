"""Maps libcurl's error codes to Scrapy's exceptions."""

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

from ultracrawl.run.download_errors.kinds import AddressRefusedError, ProxyLoginError

if TYPE_CHECKING:
    from ultracrawl.handlers.curl.easy import EasyTransfer


_EXCEPTIONS: dict[int, type[Exception]] = {
    pycurl.E_COULDNT_RESOLVE_HOST: CannotResolveHostError,
    pycurl.E_COULDNT_RESOLVE_PROXY: CannotResolveHostError,
    pycurl.E_COULDNT_CONNECT: DownloadConnectionRefusedError,
    pycurl.E_OPERATION_TIMEDOUT: DownloadTimeoutError,
}
_DATA_LOSS_CODES = frozenset(
    {pycurl.E_PARTIAL_FILE, pycurl.E_RECV_ERROR, pycurl.E_HTTP2, getattr(pycurl, "E_HTTP2_STREAM", 92)}
)


def lost_data(transfer: EasyTransfer, code: int) -> bool:
    """Return whether the body of a response is incomplete or its framing is invalid."""
    return code in _DATA_LOSS_CODES and transfer.answered


def transfer_error(transfer: EasyTransfer, code: int, text: str) -> Exception:
    """Return the exception for a failed transfer."""
    if transfer.too_large:
        return DownloadCancelledError(f"the body is larger than DOWNLOAD_MAXSIZE: {transfer.too_large}")
    if transfer.refusal is not None and not transfer.connected:
        return AddressRefusedError(transfer.refusal)
    message = text or f"libcurl error {code}"
    if transfer.refused_by_proxy:
        return ProxyLoginError(message) if transfer.rejected_login else DownloadFailedError(message)
    if lost_data(transfer, code):
        return ResponseDataLossError(message)
    return _EXCEPTIONS.get(code, DownloadFailedError)(message)
