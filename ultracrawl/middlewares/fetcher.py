"""Answers the visits of a listed source from its fetcher."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from ultracrawl.run import parts_of, visit_of
from ultracrawl.run.listing.fetching import EntryFetching

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class FetcherMiddleware:
    """Answers visits from the fetcher; URLs of the web go on to the download handler."""

    def __init__(self, fetching: EntryFetching) -> None:
        self._fetching = fetching

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the middleware for a crawler."""
        return cls(parts_of(crawler)[EntryFetching])

    async def process_request(self, request: Request) -> Response | None:
        """Return the fetcher's response; None for a URL of the web."""
        visit = visit_of(request)
        if visit is None or visit.from_store:
            return None
        return await self._fetching.answer(visit)

    def process_response(self, request: Request, response: Response) -> Response:
        """Give the response of a web server the validators of the lister, if it has some."""
        visit = visit_of(request)
        entry = None if visit is None or response.status != 200 else visit.listed
        if entry is not None and entry.validators:
            response.headers["ETag"] = self._fetching.validators.of(entry)
        return response
