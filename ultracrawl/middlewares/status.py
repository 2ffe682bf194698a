"""Error answers: which are tried again, and what they mean for the URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.extensions import CrawlSession, visit_of
from ultracrawl.model import UrlOutcome, status_text
from ultracrawl.recrawl import outcome_of_status

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

RETRY_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504, 522, 524})


class StatusMiddleware:
    """Ends visits whose answer is neither a page, a redirect nor 304.

    404 and 410 are GONE and take the document out of the index; every other error leaves it there. Answers
    that tend to pass (429, most 5xx) are tried again first.
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
        outcome = outcome_of_status(response.status)
        reason = status_text(response.status)
        if response.status in RETRY_STATUS:
            self._session.retry_or_finish(visit, outcome, response.status, reason)
        elif outcome is not UrlOutcome.REDIRECTED:
            self._session.recorder.finish(visit, outcome, response.status, reason)
        return response
