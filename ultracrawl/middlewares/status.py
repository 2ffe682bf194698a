"""Error answers: which are tried again, and what they mean for the URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.extensions import CrawlSession, visit_of
from ultracrawl.extensions.headers import header_of
from ultracrawl.model import UrlOutcome, status_text
from ultracrawl.recrawl import outcome_of_status

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

PASSING_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504, 522, 524})
"""Errors that tend to pass: they are tried again unless an error rule says how often."""
_FIRST_ERROR = 400


class StatusMiddleware:
    """Ends visits whose answer is neither a page, a redirect nor 304.

    What an error means is said by the error rules of the source: by default 404 and 410 are GONE, every other error
    leaves the document where it is, and those that tend to pass (429, most 5xx) are tried again first.
    """

    def __init__(self, session: CrawlSession) -> None:
        self._session = session

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware of a crawler."""
        return cls(CrawlSession.of(crawler))

    def process_response(self, request: Request, response: Response) -> Response:
        """Record what an error answer means."""
        visit = visit_of(request)
        if visit is None or visit.done or response.status == 200:
            return response
        if response.status == 304 and visit.sitemap is not None:
            return response
        reason = status_text(response.status)
        if reply := header_of(response, "X-Ftp-Reply") if visit.url.startswith("ftp:") else "":
            self._session.failing.reply(visit, reply)
        elif response.status >= _FIRST_ERROR:
            passes = response.status in PASSING_STATUS
            self._session.failing.status(visit, response.status, reason, passes=passes)
        elif (outcome := outcome_of_status(response.status)) is not UrlOutcome.REDIRECTED:
            self._session.recorder.finish(visit, outcome, response.status, reason)
        return response
