"""Exceptions of a download, as outcome and status code (Ultra Search 14.1)."""

from __future__ import annotations

from typing import NamedTuple

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
    UnsupportedURLSchemeError,
)

from ultracrawl.crawl.ending import Ending
from ultracrawl.model import Decision, StatusCode, UrlOutcome


class AddressRefusedError(IgnoreRequest):
    """The address guard refused every address that a request would have been sent to.

    No byte was sent, no connection was made. It is an `IgnoreRequest`, so that Scrapy does not try again.
    """

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision.reason)
        self.decision = decision
        """The answer of the address policy, with the rule that refused."""


class ProxyLoginError(DownloadFailedError):
    """A proxy wants a user and a password, or refused those that it got (407)."""


class LoginFailedError(Exception):
    """A form login failed, and the site may not be asked without it. Its text holds nothing secret."""


class Failure(NamedTuple):
    """What an exception means for its URL; `again` tells whether trying again may help."""

    outcome: UrlOutcome
    status: int
    reason: str
    again: bool = False

    @property
    def ending(self) -> Ending:
        """How a visit ends that it leaves nothing to."""
        return Ending(self.outcome, self.status, self.reason)


_NET = UrlOutcome.NETWORK_ERROR
_KINDS: tuple[tuple[type[BaseException], UrlOutcome, StatusCode, str, bool], ...] = (
    (DownloadTimeoutError, _NET, StatusCode.READ_TIMEOUT, "30057 timeout reading the document", True),
    (DownloadConnectionRefusedError, _NET, StatusCode.CONNECTION_REFUSED, "30025 connection refused", True),
    (CannotResolveHostError, _NET, StatusCode.IO_ERROR, "the host name cannot be resolved", True),
    (ResponseDataLossError, _NET, StatusCode.BROKEN_STREAM, "the server broke off the body", True),
    (LoginFailedError, UrlOutcome.HTTP_ERROR, StatusCode.LOGIN_FAILED, "form login failed", False),
    (ProxyLoginError, _NET, StatusCode.PROXY_LOGIN, "the proxy refused user and password", False),
    (DownloadFailedError, _NET, StatusCode.BROKEN_STREAM, "the connection broke", True),
    (DownloadCancelledError, UrlOutcome.NOT_INDEXED, StatusCode.READ_ERROR, "the body is too large", False),
    (UnsupportedURLSchemeError, UrlOutcome.REJECTED, StatusCode.NOT_CRAWLED, "unsupported scheme", False),
    (AddressRefusedError, UrlOutcome.REJECTED, StatusCode.NOT_CRAWLED, "address refused", False),
    (IgnoreRequest, UrlOutcome.NOT_INDEXED, StatusCode.READ_ERROR, "", False),
    (OSError, _NET, StatusCode.IO_ERROR, "I/O error", True),
)


def failure_of(error: BaseException) -> Failure:
    """Return what an exception of a download means; an unknown one is a failure of our own processing."""
    detail = " ".join(str(error).split())[:300]
    for kind, outcome, status, text, again in _KINDS:
        if isinstance(error, kind):
            reason = f"{text}: {detail}" if text and detail else text or detail
            return Failure(outcome, status, reason, again)
    return Failure(UrlOutcome.FAILED, StatusCode.READ_ERROR, f"{type(error).__name__}: {detail}")
