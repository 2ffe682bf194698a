"""Answers the visits of a listed source from its fetcher, and adds the lister's entry to responses of web servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from ultracrawl.run import parts_of, visit_of
from ultracrawl.run.listing.answers import ENTRY_HEADER, with_entry
from ultracrawl.run.listing.fetching import EntryFetching

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


IS_FETCHED_KEY = "ultracrawl_listed"
"""Key in `request.meta`: whether the response came from the fetcher."""


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
        answer = await self._fetching.answer(visit, self._fetching.listed(visit))
        request.meta[IS_FETCHED_KEY] = answer is not None
        return answer

    def process_response(self, request: Request, response: Response) -> Response:
        """Add the lister's entry to the response of a web server."""
        if request.meta.get(IS_FETCHED_KEY):
            return response
        response.headers.pop(ENTRY_HEADER, None)  # a web server must not forge the lister's entry
        visit = visit_of(request)
        if visit is None or visit.done or response.status != 200:
            return response
        entry = self._fetching.listed(visit)
        return response if entry is None else with_entry(response, entry, self._fetching.recipe)
