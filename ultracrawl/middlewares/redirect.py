"""Redirects by status: nothing is followed in place, the target goes through boundary and frontier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.crawl import feature_of, visit_of
from ultracrawl.crawl.discovery.redirects import RedirectFollower
from ultracrawl.model.status import REDIRECTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ultracrawl.crawl import Visit


class RedirectMiddleware:
    """Ends the visit of a URL that redirects; headers and credentials of this request go nowhere else."""

    def __init__(self, follow: Callable[[Visit, int, str | None, str], bool]) -> None:
        """`follow` decides a redirect and carries it out: visit, status, location as received, URL of the answer."""
        self._follow = follow

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware of a crawler."""
        return cls(feature_of(crawler, RedirectFollower).follow)

    def process_response(self, request: Request, response: Response) -> Response:
        """Hand the target over and record the redirect."""
        visit = visit_of(request)
        if visit is not None and not visit.done and response.status in REDIRECTS:
            location = response.headers.get("Location")
            target = None if location is None else location.decode("utf-8", "replace").strip()
            self._follow(visit, response.status, target, response.url)
        return response
