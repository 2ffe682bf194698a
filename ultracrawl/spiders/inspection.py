"""Inspection of a single page (`scrapy parse`, `scrapy check`): its links as requests, and its document."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scrapy import Request

from ultracrawl.model import Document
from ultracrawl.run import context_of, parts_of, visit_of
from ultracrawl.run.observer import FoundLinks
from ultracrawl.run.page_links import follow_links

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ultracrawl.spiders.response_handler import ResponseHandler


async def inspect_page(
    crawler: Crawler, responses: ResponseHandler, response: Response
) -> AsyncIterator[Request | Any]:
    """Yield a request for each link that the source would follow, then the document."""
    context = context_of(crawler)
    visit = visit_of(response.request) if response.request else None
    if visit is None:
        return
    items = [] if visit.done else await _collected(responses.handle(visit, response))
    if visit.deferred_links is not None:
        follow_links(context, visit, visit.deferred_links)
    for url in parts_of(crawler)[FoundLinks].pop_links(visit):
        yield Request(url)
    for item in items:
        mapped = context.rules.attributes.map(item).values if isinstance(item, Document) else None
        yield item if mapped is None else replace(item, search_attributes=mapped)


async def _collected(items: Iterable[Any] | AsyncIterable[Any]) -> list[Any]:
    return [item async for item in items] if isinstance(items, AsyncIterable) else list(items)
