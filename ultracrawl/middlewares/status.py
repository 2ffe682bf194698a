"""Error answers: which are tried again, and what they mean for the URL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ultracrawl.crawl import CrawlContext, Visit, context_of, feature_of, visit_of
from ultracrawl.crawl.download_errors.retry_policy import RetryPolicy
from ultracrawl.crawl.ending import Ending
from ultracrawl.crawl.transport.headers import header_of
from ultracrawl.model import Cause, CauseCode, UrlOutcome
from ultracrawl.rules.recrawl.change import outcome_of_status

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

PASSING_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504, 522, 524})
"""Errors that tend to pass: they are tried again unless an error rule says how often."""


class ErrorRules(Protocol):
    """What follows an error: another try, or the end of the visit."""

    def handle_status(self, visit: Visit, status: int, *, passes: bool) -> None:
        """Act on an error status; `passes` says whether such errors tend to pass by themselves."""

    def handle_ftp_reply(self, visit: Visit, reply: str) -> None:
        """Act on a reply of an FTP server."""


class StatusMiddleware:
    """Ends every visit that has an answer other than 200 and was not ended by the middlewares before.

    That is success without a page, and everything else that is no redirect: a choice (300), 304 from a server that
    was not asked whether anything changed, statuses that nobody has defined.
    What an error means is said by the error rules of the source: by default 404 and 410 are GONE, every other error
    leaves the document where it is, and those that tend to pass (429, most 5xx) are tried again first.
    """

    def __init__(self, context: CrawlContext, errors: ErrorRules) -> None:
        self._context = context
        self._errors = errors

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware of a crawler."""
        return cls(context_of(crawler), feature_of(crawler, RetryPolicy))

    def process_response(self, request: Request, response: Response) -> Response:
        """Record what an error answer means."""
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
            passes = response.status in PASSING_STATUS
            self._errors.handle_status(visit, response.status, passes=passes)
        return response
