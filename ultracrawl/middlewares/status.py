"""Error responses: which are retried, and which outcome they give a visit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self

from ultracrawl.model import Cause, CauseCode, UrlOutcome
from ultracrawl.rules.recrawl.change import outcome_of_status
from ultracrawl.run import CrawlContext, Visit, context_of, parts_of, visit_of
from ultracrawl.run.download_errors.retry_policy import RetryPolicy
from ultracrawl.run.ending import Ending
from ultracrawl.run.transport.headers import header_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

TRANSIENT_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504, 522, 524})
"""Statuses of transient errors: they are retried unless an error rule sets the number of attempts."""


class ErrorRules(Protocol):
    """Retries or ends the visit after an error."""

    def handle_status(self, visit: Visit, status: int, *, passes: bool) -> None:
        """Handle an error status; `passes` says whether such errors are usually transient."""

    def handle_ftp_reply(self, visit: Visit, reply: str) -> None:
        """Handle an error reply of an FTP server."""


class StatusMiddleware:
    """Ends every visit with a status other than 200 that the other middlewares did not end.

    These are success without a page, and statuses that are neither errors nor redirects: 300, 304 to an unconditional
    request, undefined ones. Errors are handled by the error rules of the source: by default 404 and 410 are GONE, all
    other errors keep the document, and transient ones (429, most 5xx) are retried first.
    """

    def __init__(self, context: CrawlContext, errors: ErrorRules) -> None:
        self._context = context
        self._errors = errors

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the middleware for a crawler."""
        return cls(context_of(crawler), parts_of(crawler)[RetryPolicy])

    def process_response(self, request: Request, response: Response) -> Response:
        """End or retry the visit of an error response."""
        visit = visit_of(request)
        if visit is None or visit.done or response.status == 200:
            return response
        if response.status == 304 and visit.sitemap is not None:
            return response
        if reply := header_of(response, "X-Ftp-Reply") if visit.url.startswith("ftp:") else "":
            self._errors.handle_ftp_reply(visit, reply)
        elif outcome_of_status(response.status) is UrlOutcome.NOT_INDEXED:
            cause = Cause(CauseCode.STATUS, str(response.status))
            self._context.endings.end_visit(visit, Ending(UrlOutcome.NOT_INDEXED, response.status, cause))
        else:
            passes = response.status in TRANSIENT_STATUS
            self._errors.handle_status(visit, response.status, passes=passes)
        return response
