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
from ultracrawl.model import Cause, CauseCode, Decision, StatusCode, UrlOutcome


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
    cause: Cause
    again: bool = False

    @property
    def ending(self) -> Ending:
        """How a visit ends that it leaves nothing to."""
        return Ending(self.outcome, self.status, self.cause)


_NET = UrlOutcome.NETWORK_ERROR
_KINDS: tuple[tuple[type[BaseException], UrlOutcome, StatusCode, CauseCode, bool], ...] = (
    (DownloadTimeoutError, _NET, StatusCode.READ_TIMEOUT, CauseCode.TIMEOUT, True),
    (DownloadConnectionRefusedError, _NET, StatusCode.CONNECTION_REFUSED, CauseCode.CONNECTION_REFUSED, True),
    (CannotResolveHostError, _NET, StatusCode.IO_ERROR, CauseCode.HOST_UNKNOWN, True),
    (ResponseDataLossError, _NET, StatusCode.BROKEN_STREAM, CauseCode.BODY_BROKEN, True),
    (LoginFailedError, UrlOutcome.HTTP_ERROR, StatusCode.LOGIN_FAILED, CauseCode.LOGIN_FAILED, False),
    (ProxyLoginError, _NET, StatusCode.PROXY_LOGIN, CauseCode.PROXY_LOGIN, False),
    (DownloadFailedError, _NET, StatusCode.BROKEN_STREAM, CauseCode.CONNECTION_BROKEN, True),
    (DownloadCancelledError, UrlOutcome.NOT_INDEXED, StatusCode.READ_ERROR, CauseCode.TOO_LARGE, False),
    (UnsupportedURLSchemeError, UrlOutcome.REJECTED, StatusCode.NOT_CRAWLED, CauseCode.SCHEME, False),
    (AddressRefusedError, UrlOutcome.REJECTED, StatusCode.NOT_CRAWLED, CauseCode.ADDRESS, False),
    (IgnoreRequest, UrlOutcome.NOT_INDEXED, StatusCode.READ_ERROR, CauseCode.STATED, False),
    (OSError, _NET, StatusCode.IO_ERROR, CauseCode.IO_ERROR, True),
)


def failure_of(error: BaseException) -> Failure:
    """Return what an exception of a download means; an unknown one is a failure of our own processing."""
    detail = " ".join(str(error).split())[:300]
    for kind, outcome, status, code, again in _KINDS:
        if isinstance(error, kind):
            cause = Cause(code, detail) if code is CauseCode.STATED else Cause(code, detail=detail)
            return Failure(outcome, status, cause, again)
    cause = Cause(CauseCode.EXCEPTION, type(error).__name__, detail)
    return Failure(UrlOutcome.FAILED, StatusCode.READ_ERROR, cause)
