"""Conditional requests: stored validators go out, an unchanged answer ends the visit early."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.extensions import CrawlSession, Visit, visit_of
from ultracrawl.model import UrlOutcome
from ultracrawl.recrawl import checksum, classify, conditional_headers
from ultracrawl.robots import parse_directives

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

_UNMODIFIED = UrlOutcome.UNMODIFIED


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
            self._not_modified(visit, response)
        elif response.status == 200:
            visit.checksum = checksum(response.body)
            if self._may_end(visit, response) and classify(visit.record, visit.checksum) is _UNMODIFIED:
                self._session.recorder.finish(visit, _UNMODIFIED, 200)
        return response

    def _not_modified(self, visit: Visit, response: Response) -> None:
        if self._forbids(response) and (visit.record.indexed or visit.record.handed):
            self._session.recorder.finish(visit, UrlOutcome.NOT_INDEXED, 304, "X-Robots-Tag: noindex")
        else:
            self._session.recorder.finish(visit, UrlOutcome.NOT_MODIFIED, 304)

    @staticmethod
    def _may_end(visit: Visit, response: Response) -> bool:
        """Whether an equal body is enough: headers that speak to robots may have changed without it."""
        known = visit.record.indexed or visit.record.handed
        return known and not visit.rescan and "X-Robots-Tag" not in response.headers

    def _forbids(self, response: Response) -> bool:
        if "X-Robots-Tag" not in response.headers or not self._session.source.robots.meta:
            return False
        values = [value.decode("latin-1") for value in response.headers.getlist("X-Robots-Tag")]
        return not parse_directives((), values, name=self._session.source.robots.name).index

    def _note(self, visit: Visit, response: Response) -> None:
        visit.status = response.status
        visit.etag = (response.headers.get("ETag") or b"").decode("latin-1")
        visit.last_modified = (response.headers.get("Last-Modified") or b"").decode("latin-1")
        if self._forbids(response):
            # A header can be withdrawn without the page changing: the next visit has to see it in full.
            visit.etag = visit.last_modified = ""
        self._session.report.fetched += 1
        self._session.report.bytes += len(response.body)
