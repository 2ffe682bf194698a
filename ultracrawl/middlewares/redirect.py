"""Redirects by status: refuses those that leave the boundary (table of Ultra Search 9.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.model.status import REDIRECTS
from ultracrawl.run import has_definition, parts_of, standalone, visit_of
from ultracrawl.run.discovery.redirects import RedirectFollower
from ultracrawl.run.transport.headers import url_in_header

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ultracrawl.run import Visit


class RedirectBoundaryMiddleware:
    """Checks redirects before they are followed.

    In the crawl of a source the target passes boundary and frontier like a link and the visit of the old URL ends, so
    headers and credentials of its request are not sent to the target. For spiders without a definition, redirects
    refused by `ULTRACRAWL_BOUNDARY` are dropped, and Scrapy's own middlewares follow the others.
    """

    def __init__(self, judge: Callable[[Request, Response, str | None], None]) -> None:
        """`judge` gets request, response and the Location as received; it may raise `IgnoreRequest`."""
        self._judge = judge

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the middleware for a crawler."""
        if not has_definition(crawler):
            return cls(standalone.RedirectBoundary.from_crawler(crawler).judge_answer)
        return cls(VisitRedirects(parts_of(crawler)[RedirectFollower].follow).judge_answer)

    def process_response(self, request: Request, response: Response) -> Response:
        """Check a redirect. Raises `IgnoreRequest` if it is refused and has no visit to end."""
        if response.status in REDIRECTS:
            has_target = "Location" in response.headers
            self._judge(request, response, url_in_header(response, "Location") if has_target else None)
        return response


class VisitRedirects:
    """Ends the visit of a URL that redirects."""

    def __init__(self, follow: Callable[[Visit, int, str | None, str], bool]) -> None:
        """`follow` decides on a redirect and follows it: visit, status, Location as received, URL of the response."""
        self._follow = follow

    def judge_answer(self, request: Request, response: Response, location: str | None) -> None:
        """Queue the target and record the redirect."""
        visit = visit_of(request)
        if visit is not None and not visit.done:
            self._follow(visit, response.status, location, response.url)
