"""Conditional requests: stored validators go out, an unchanged answer ends the visit early."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.extensions import CrawlSession, Visit, visit_of
from ultracrawl.model import UrlOutcome
from ultracrawl.recrawl import checksum, classify, conditional_headers

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class ConditionalMiddleware:
    """Sends If-None-Match and If-Modified-Since; 304 means NOT_MODIFIED, an equal body means UNMODIFIED.

    Ends such a visit before the page is parsed; the stored links of the page stay as they are, and with them
    its children stay alive. In a run that must scan every page nothing is sent and nothing ends here.
    """

    def __init__(self, session: CrawlSession) -> None:
        self._session = session

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware of a crawler."""
        return cls(CrawlSession.of(crawler))

    def process_request(self, request: Request) -> None:
        """Add the validators of what is known."""
        visit = visit_of(request)
        if visit is not None and not visit.rescan:
            for name, value in conditional_headers(visit.record).items():
                request.headers[name] = value

    def process_response(self, request: Request, response: Response) -> Response:
        """Note validators and checksum; end the visit if nothing changed."""
        visit = visit_of(request)
        if visit is None or visit.done:
            return response
        self._note(visit, response)
        if response.status == 304:
            self._session.recorder.finish(visit, UrlOutcome.NOT_MODIFIED, 304)
        elif response.status == 200:
            visit.checksum = checksum(response.body)
            if not visit.rescan and classify(visit.record, visit.checksum) is UrlOutcome.UNMODIFIED:
                self._session.recorder.finish(visit, UrlOutcome.UNMODIFIED, 200)
        return response

    def _note(self, visit: Visit, response: Response) -> None:
        visit.status = response.status
        visit.etag = (response.headers.get("ETag") or b"").decode("latin-1")
        visit.last_modified = (response.headers.get("Last-Modified") or b"").decode("latin-1")
        self._session.report.fetched += 1
        self._session.report.bytes += len(response.body)
