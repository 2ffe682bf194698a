"""Visits of a source that is listed: its fetcher answers them, or a web server, with what the lister said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.crawl import feature_of, visit_of
from ultracrawl.crawl.listing.answers import ENTRY, with_entry
from ultracrawl.crawl.listing.fetching import EntryFetching

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


OWN = "ultracrawl_listed"
"""Where the meta of a request says that its answer is the fetcher's."""


class ListedMiddleware:
    """Answers visits before a download handler is asked."""

    def __init__(self, fetching: EntryFetching) -> None:
        self._fetching = fetching

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware of a crawler."""
        return cls(feature_of(crawler, EntryFetching))

    async def process_request(self, request: Request) -> Response | None:
        """Answer a visit, or pass a URL of the web on."""
        visit = visit_of(request)
        if visit is None or visit.stored:
            return None
        answer = await self._fetching.answer(visit, self._fetching.listed(visit))
        request.meta[OWN] = answer is not None
        return answer

    def process_response(self, request: Request, response: Response) -> Response:
        """Add to the answer of a web server what the lister said."""
        if request.meta.get(OWN):
            return response
        response.headers.pop(ENTRY, None)  # what a server says there is not the word of the lister
        visit = visit_of(request)
        if visit is None or visit.done or response.status != 200:
            return response
        entry = self._fetching.listed(visit)
        return response if entry is None else with_entry(response, entry)
