"""Maps libcurl's error codes to Scrapy's exceptions."""

from __future__ import annotations

import re
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

from ultracrawl.run.download_errors.kinds import (
    AddressRefusedError,
    AnswerMalformedError,
    CertificateError,
    ProxyLoginError,
    ProxyUnreachableError,
    TlsError,
)

if TYPE_CHECKING:
    from ultracrawl.handlers.curl.easy import EasyTransfer


_HEAD_TOO_LARGE = getattr(pycurl, "E_TOO_LARGE", 100)
_WITHOUT_TEXT = {_HEAD_TOO_LARGE: "the headers are too large"}
"""What errors mean that libcurl says nothing about."""
_VERIFIED = r"^SSL certificate (?:problem|OpenSSL verify result): | \(\d+\)$"
"""What libcurl has around the reason why a certificate is not trusted."""
_EXCEPTIONS: dict[int, type[Exception]] = {
    pycurl.E_COULDNT_RESOLVE_HOST: CannotResolveHostError,
    pycurl.E_COULDNT_CONNECT: DownloadConnectionRefusedError,
    pycurl.E_OPERATION_TIMEDOUT: DownloadTimeoutError,
    pycurl.E_SSL_CONNECT_ERROR: TlsError,
    pycurl.E_PEER_FAILED_VERIFICATION: CertificateError,
    pycurl.E_UNSUPPORTED_PROTOCOL: AnswerMalformedError,  # of the answer: that of the request is always known
    pycurl.E_FTP_WEIRD_SERVER_REPLY: AnswerMalformedError,  # of HTTP servers, too
    pycurl.E_BAD_CONTENT_ENCODING: AnswerMalformedError,
    _HEAD_TOO_LARGE: AnswerMalformedError,
}
_UNREACHABLE = frozenset({pycurl.E_COULDNT_CONNECT, pycurl.E_COULDNT_RESOLVE_PROXY})
"""What errors mean that a proxy, where there is one, cannot be reached."""
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
    if code == pycurl.E_PEER_FAILED_VERIFICATION:
        text = re.sub(_VERIFIED, "", text)
    message = text or _WITHOUT_TEXT.get(code) or f"libcurl error {code}"
    if transfer.refused_by_proxy:
        return ProxyLoginError(message) if transfer.rejected_login else DownloadFailedError(message)
    if code in _UNREACHABLE and transfer.proxy:
        return ProxyUnreachableError(transfer.proxy, message)
    if lost_data(transfer, code):
        return ResponseDataLossError(message)
    return _EXCEPTIONS.get(code, DownloadFailedError)(message)
