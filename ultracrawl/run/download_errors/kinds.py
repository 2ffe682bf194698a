"""Maps exceptions of downloads to outcome, status code and cause (Ultra Search 14.1)."""

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

from ultracrawl.model import Cause, CauseCode, Decision, StatusCode, UrlOutcome
from ultracrawl.run.ending import Ending
from ultracrawl.system.wall_guard import HungError


class AddressRefusedError(IgnoreRequest):
    """The address guard refused all addresses of a request; no connection was made.

    A subclass of `IgnoreRequest`, so that Scrapy does not retry.
    """

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision.reason)
        self.decision = decision
        """The decision of the address policy, with the rule that refused."""


class ProxyLoginError(DownloadFailedError):
    """A proxy requires user and password, or refused them (407)."""


class ProxyUnreachableError(DownloadConnectionRefusedError):
    """No connection to a proxy could be made."""

    def __init__(self, proxy: str, message: str) -> None:
        super().__init__(message)
        self.proxy = proxy
        """Its host and port."""


class TlsError(DownloadFailedError):
    """No encrypted connection could be agreed on."""


class CertificateError(DownloadFailedError):
    """The certificate of a server is not trusted, has expired, or is of another name."""


class AnswerMalformedError(DownloadFailedError):
    """A server was reached, and what it sent is no answer of its protocol; the message says why.

    It is so for each request in a row, so the next run makes the next attempt, and the site goes on as fast as before.
    """


class LoginFailedError(Exception):
    """A required log-in failed, or an answer shows that we are not let in. The message contains no secrets."""

    def __init__(self, message: str, wait: float | None = None, *, refused: bool = False) -> None:
        super().__init__(message)
        self.refused = refused
        """Whether the server has answered as it does to wrong passwords."""
        self.wait = wait
        """Seconds to the next login, for which requests wait; None: they do not."""


class Failure(NamedTuple):
    """The meaning of a download error for its URL."""

    outcome: UrlOutcome
    status: int
    cause: Cause
    retryable: bool = False
    """Whether a retry may help."""
    wait: float | None = None
    """Seconds after which the request is to be sent, whatever the error rules say; None if they decide."""
    may_pass: bool = False
    """Whether a busy machine may be the reason: the URL is read once more, alone, at the end of the run."""

    @property
    def ending(self) -> Ending:
        """The ending of a visit that is not retried."""
        return Ending(self.outcome, self.status, self.cause)


_NET = UrlOutcome.NETWORK_ERROR
_KINDS: tuple[tuple[type[BaseException], UrlOutcome, StatusCode, CauseCode, bool], ...] = (
    (DownloadTimeoutError, _NET, StatusCode.READ_TIMEOUT, CauseCode.TIMEOUT, True),
    (ProxyUnreachableError, _NET, StatusCode.CONNECTION_REFUSED, CauseCode.PROXY_UNREACHABLE, True),
    (DownloadConnectionRefusedError, _NET, StatusCode.CONNECTION_REFUSED, CauseCode.CONNECTION_REFUSED, True),
    (CannotResolveHostError, _NET, StatusCode.IO_ERROR, CauseCode.HOST_UNKNOWN, True),
    (ResponseDataLossError, _NET, StatusCode.BROKEN_STREAM, CauseCode.BODY_BROKEN, True),
    (LoginFailedError, UrlOutcome.HTTP_ERROR, StatusCode.LOGIN_FAILED, CauseCode.LOGIN_FAILED, False),
    (ProxyLoginError, _NET, StatusCode.PROXY_LOGIN, CauseCode.PROXY_LOGIN, False),
    (AnswerMalformedError, _NET, StatusCode.BROKEN_STREAM, CauseCode.ANSWER_MALFORMED, False),
    (TlsError, _NET, StatusCode.BROKEN_STREAM, CauseCode.TLS_FAILED, True),
    (CertificateError, _NET, StatusCode.BROKEN_STREAM, CauseCode.CERTIFICATE, True),
    (DownloadFailedError, _NET, StatusCode.BROKEN_STREAM, CauseCode.CONNECTION_BROKEN, True),
    (DownloadCancelledError, UrlOutcome.NOT_INDEXED, StatusCode.READ_ERROR, CauseCode.TOO_LARGE, False),
    (UnsupportedURLSchemeError, UrlOutcome.REJECTED, StatusCode.NOT_CRAWLED, CauseCode.SCHEME, False),
    (AddressRefusedError, UrlOutcome.REJECTED, StatusCode.NOT_CRAWLED, CauseCode.ADDRESS, False),
    (IgnoreRequest, UrlOutcome.NOT_INDEXED, StatusCode.READ_ERROR, CauseCode.STATED, False),
    (OSError, _NET, StatusCode.IO_ERROR, CauseCode.IO_ERROR, True),
)


def failure_of(error: BaseException) -> Failure:
    """Return the failure for an exception; an unknown one is a failure of our own processing."""
    detail = " ".join(str(error).split())[:300]
    for kind, outcome, status, code, retryable in _KINDS:
        if isinstance(error, kind):
            cause = Cause(code, detail) if code is CauseCode.STATED else Cause(code, detail=detail)
            if isinstance(error, ProxyUnreachableError):
                cause = Cause(code, error.proxy, detail)
            wait = error.wait if isinstance(error, LoginFailedError) else None
            return Failure(outcome, status, cause, retryable, wait)
    cause = Cause(CauseCode.EXCEPTION, type(error).__name__, detail)
    may_pass = isinstance(error, HungError)
    return Failure(UrlOutcome.FAILED, StatusCode.READ_ERROR, cause, may_pass=may_pass)
