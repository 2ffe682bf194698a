"""The MetaData phase of a source's filters: a URL that both deny is never fetched."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.utils.httpobj import urlparse_cached

from ultracrawl.crawl import CrawlContext, Visit, context_of, feature_of, visit_of
from ultracrawl.crawl.ending import Ending
from ultracrawl.crawl.removal.expiry import ExpirySweeper
from ultracrawl.crawl.transport.host_addresses import HostAddresses
from ultracrawl.crawl.visit import VIEWS_KEY
from ultracrawl.model import StatusCode, UrlOutcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

    from ultracrawl.rules.filters.views import FilterViews


class UrlFilters(Protocol):
    """The filters of a source, as far as they judge a URL before its fetch."""

    @property
    def needs_address(self) -> bool:
        """Whether the filters ask for the address of the host."""

    def judge(self, url: str, depth: int, address: str) -> FilterViews:
        """Return what both filters say of a URL."""


class FilterMiddleware:
    """Asks both filters about every URL before its request goes out."""

    def __init__(
        self,
        context: CrawlContext,
        filters: UrlFilters,
        judge_expiry: Callable[[Visit], None],
        look_up: Callable[[str], Future[tuple[str, ...]]],
    ) -> None:
        """`judge_expiry` has expired descriptions be made anew; `look_up` begins to look up the addresses of a host."""
        self._context = context
        self._filters = filters
        self._judge_expiry = judge_expiry
        self._look_up = look_up

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the middleware of a crawler. Raises `NotConfigured`, without a word, for a source without filters."""
        context = context_of(crawler)
        if not context.source.filters.file:
            raise NotConfigured
        from ultracrawl.crawl.portal_filters.filtering import Filtering  # noqa: PLC0415 - loads all of the filters

        expiry, hosts = feature_of(crawler, ExpirySweeper), feature_of(crawler, HostAddresses)
        return cls(context, feature_of(crawler, Filtering), expiry.judge_visit, hosts.begin_look_up)

    async def process_request(self, request: Request) -> None:
        """End the visit of a URL that both filters deny. Raises `IgnoreRequest`."""
        visit = visit_of(request)
        if visit is None or visit.sitemap is not None:
            return
        self._judge_expiry(visit)
        address = await self._address(request) if self._filters.needs_address else ""
        views = self._filters.judge(visit.url, visit.entry.depth, address)
        request.meta[VIEWS_KEY] = views
        if not views.denied:
            return
        cause = views.cause
        self._context.counters.count_excluded(cause.subject)
        ending = Ending(UrlOutcome.REJECTED, StatusCode.NOT_CRAWLED, cause, asked=False, filtered=True)
        self._context.endings.end_visit(visit, ending)
        raise IgnoreRequest(str(cause))

    async def _address(self, request: Request) -> str:
        """Return the first address of a host, empty if there is none; asked once, others of the host wait for it."""
        answer = self._look_up(urlparse_cached(request).hostname or "")
        found = answer.result() if answer.done() else await asyncio.wrap_future(answer)
        return next(iter(found), "")
