"""Runs the MetaData phase of the portal-robot filters: a URL that both filters deny is not fetched."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol, Self

from scrapy import signals
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.utils.httpobj import urlparse_cached

from ultracrawl.model import StatusCode, UrlOutcome
from ultracrawl.run import CrawlContext, Visit, context_of, filters, parts_of, visit_of
from ultracrawl.run.ending import Ending
from ultracrawl.run.removal.expiry import ExpirySweeper
from ultracrawl.run.transport.host_addresses import HostAddresses
from ultracrawl.run.visit import VIEWS_KEY

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Headers

    from ultracrawl.rules.filters.views import FilterViews


class UrlFilters(Protocol):
    """The part of the filters of a source that judges a URL before it is fetched."""

    @property
    def needs_address(self) -> bool:
        """Whether the filters use the address of the host."""

    def judge(self, url: str, depth: int, address: str) -> FilterViews:
        """Return the decisions of both filters on a URL."""


class FilterMiddleware:
    """Applies both filters to every URL before its request is sent."""

    def __init__(
        self,
        context: CrawlContext,
        filters: UrlFilters,
        judge_expiry: Callable[[Visit], None],
        look_up: Callable[[str], Future[tuple[str, ...]]],
    ) -> None:
        """`judge_expiry` marks expired descriptions for renewal; `look_up` starts the DNS lookup of a host."""
        self._context = context
        self._filters = filters
        self._judge_expiry = judge_expiry
        self._look_up = look_up

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the middleware for a crawler. Raises `NotConfigured` (no message) for a source without filters."""
        context = context_of(crawler)
        if not context.source.filters.file:
            raise NotConfigured
        expiry, hosts = parts_of(crawler)[ExpirySweeper], parts_of(crawler)[HostAddresses]
        made = cls(context, parts_of(crawler)[filters.Filtering], expiry.judge_visit, hosts.begin_look_up)
        crawler.signals.connect(made.headers_received, signals.headers_received)
        return made

    def headers_received(self, request: Request, headers: Headers) -> None:
        """Keep the content coding of a response, which is decoded before the filters read it."""
        views: FilterViews | None = request.meta.get(VIEWS_KEY)
        if views is not None:
            coding = b", ".join(headers.getlist("Content-Encoding")).decode("latin-1")
            views.resource.note_coding(coding)

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
        ending = Ending(UrlOutcome.REJECTED, StatusCode.NOT_CRAWLED, cause, requested=False, filtered=True)
        self._context.endings.end_visit(visit, ending)
        raise IgnoreRequest(str(cause))

    async def _address(self, request: Request) -> str:
        """Return the first address of a host, or an empty string; requests to the same host share one lookup."""
        lookup = self._look_up(urlparse_cached(request).hostname or "")
        addresses = lookup.result() if lookup.done() else await asyncio.wrap_future(lookup)
        return next(iter(addresses), "")
