"""The MetaData phase of a source's filters: a URL that both deny is never fetched."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest
from scrapy.utils.httpobj import urlparse_cached

from ultracrawl.crawl import CrawlSession, visit_of
from ultracrawl.model import StatusCode, UrlOutcome

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


class FilterMiddleware:
    """Asks both filters about every URL before its request goes out."""

    def __init__(self, session: CrawlSession) -> None:
        self._session = session

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware of a crawler."""
        return cls(CrawlSession.of(crawler))

    async def process_request(self, request: Request) -> None:
        """End the visit of a URL that both filters deny. Raises `IgnoreRequest`."""
        visit = visit_of(request)
        filtering = self._session.filtering
        if filtering is None or visit is None or visit.sitemap is not None:
            return
        self._session.expiry.judge(visit)
        address = await self._address(request) if filtering.needs_address else ""
        visit.filtered = filtering.judge(visit.url, visit.entry.depth, address)
        if not visit.filtered.denied:
            return
        reason = visit.filtered.reason
        visit.asked = False
        self._session.context.report.rejected_by[reason.partition(":")[0]] += 1
        self._session.context.endings.finish(visit, UrlOutcome.REJECTED, StatusCode.NOT_CRAWLED, reason)
        raise IgnoreRequest(reason)

    async def _address(self, request: Request) -> str:
        """Return the first address of a host, empty if there is none; asked once, others of the host wait for it."""
        answer = self._session.hosts.ask(urlparse_cached(request).hostname or "")
        found = answer.result() if answer.done() else await asyncio.wrap_future(answer)
        return next(iter(found), "")
