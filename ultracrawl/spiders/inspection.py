"""Inspection of a single page (`scrapy parse`, `scrapy check`): its links as requests, and its document."""

from __future__ import annotations

from array import array
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scrapy import Request

from ultracrawl.model import Document
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run import context_of, visit_of
from ultracrawl.run.hooks import Feature

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ultracrawl.model.page import Link
    from ultracrawl.run import Visit
    from ultracrawl.spiders.response_handler import ResponseHandler


async def inspect_page(
    crawler: Crawler, responses: ResponseHandler, response: Response
) -> AsyncIterator[Request | Any]:
    """Yield a request for each link that the source would follow, then the document."""
    context = context_of(crawler)
    visit = visit_of(response.request) if response.request else None
    if visit is None:
        return
    urls: dict[str, None] = {}

    def collect_links(_: Visit, located: Mapping[str, str], inside: array[int], __: Sequence[Link]) -> None:
        admitted = set(inside)
        urls.update((url, None) for url in located.values() if url_key(url) in admitted)

    context.hooks.call(Feature.links_resolved, collect_links)
    try:
        items = [] if visit.done else await _collected(responses.handle(visit, response))
        if visit.deferred_links is not None:
            visit.deferred_links()
    finally:
        context.hooks.call_no_more(Feature.links_resolved, collect_links)
    for url in urls:
        yield Request(url)
    for item in items:
        mapped = context.rules.attributes.map(item).values if isinstance(item, Document) else None
        yield item if mapped is None else replace(item, search_attributes=mapped)


async def _collected(items: Iterable[Any] | AsyncIterable[Any]) -> list[Any]:
    return [item async for item in items] if isinstance(items, AsyncIterable) else list(items)
