"""Dispatches the response of a visit by its kind: directory listing, feed, document, rendered page or page."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import CloseSpider
from twisted.python.failure import Failure

from ultracrawl.content import feeds
from ultracrawl.content.mime import sniff_type
from ultracrawl.model import Cause, CauseCode, Page, StatusCode
from ultracrawl.run import context_of, discovery, parts_of
from ultracrawl.run.discovery.feed_tracker import FeedTracker
from ultracrawl.run.discovery.sitemap_manager import SitemapManager
from ultracrawl.run.download_errors.retry_policy import RetryPolicy
from ultracrawl.run.hooks import Feature
from ultracrawl.run.indexing.response_store import ResponseStore
from ultracrawl.run.logs.robot_log import RobotLog
from ultracrawl.run.reading.document_converter import DocumentConverter
from ultracrawl.run.rendering.page_renderer import PageRenderer
from ultracrawl.run.transport.headers import header_of
from ultracrawl.spiders.page_handler import PageHandler, complete_item

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Iterable, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ultracrawl.run import Visit
    from ultracrawl.spiders.filtered_page_handler import FilteredPageHandler
    from ultracrawl.spiders.page_handler import PageSpider

logger = logging.getLogger(__name__)


class ResponseHandler:
    """Turns the responses of a source into links and documents, by kind: directories, feeds, documents, pages.

    An exception ends the visit in which it was raised, and no other.
    """

    def __init__(self, spider: PageSpider) -> None:
        crawler = spider.crawler
        self._crawler = crawler
        self._context = context_of(crawler)
        self._rules = self._context.rules
        self._feeds = parts_of(crawler).get(FeedTracker)
        self._sitemaps = parts_of(crawler)[SitemapManager]
        self._stores_answers = parts_of(crawler).get(ResponseStore) is not None
        self._converter = parts_of(crawler)[DocumentConverter]
        self._renderer = parts_of(crawler).get(PageRenderer)
        self._retry = parts_of(crawler)[RetryPolicy]
        self._robot_log = parts_of(crawler).get(RobotLog)
        self._pages = PageHandler(spider)
        self._filtered = _filtered_pages(crawler) if self._context.source.filters.file else None

    def handle(self, visit: Visit, response: Response) -> Iterable[Any] | AsyncIterator[Any]:
        """Return the documents of a response; an async iterator if it is read in another process."""
        if visit.fetch.listing:
            return self._collect(visit, response, self._follow_listing(visit, response))
        if visit.fetch.feed:
            return self._collect(visit, response, self._read_feed(visit, response))
        if self._stores_answers:
            visit.keep_answer(response)
        filtered = self._filtered
        if self._converter.takes(visit.fetch.media_type):
            if filtered is None:
                return self._collect_async(visit, response, self._convert(visit, response))
            if filtered.converts:
                return self._collect_async(visit, response, self._convert_filtered(filtered, visit, response))
        if self._renderer is not None and self._renderer.takes(visit, response.body):
            return self._collect_async(visit, response, self._render(self._renderer, visit, response))
        if self._rules.reader_of(visit.url).takes_long(response.body, response.url, visit.fetch.media_type):
            return self._collect_async(visit, response, self._read_large(visit, response))
        return self._collect(visit, response, self._read_page(visit, response))

    async def read_sitemap(self, visit: Visit, response: Response) -> None:
        """Read the response to the request of a sitemap."""
        assert visit.sitemap is not None
        try:
            await discovery.SitemapReader(self._context, self._sitemaps, visit, visit.sitemap).read(response)
        except BaseException as error:  # as for pages
            self._end_failed(visit, response, error)

    def download_failed(self, visit: Visit, error: BaseException) -> None:
        """End or retry a visit whose download raised."""
        self._retry.handle_exception(visit, error)

    # ---- directories and feeds

    def _follow_listing(self, visit: Visit, response: Response) -> Iterator[Any]:
        """Follow the entries of a directory listing; the listing itself is not indexed."""
        entries = response.body.decode().splitlines()
        self._notify_links(visit, entries, response.url)
        self._context.queue.follow(visit, entries, response.url)
        self._pages.end_list(visit, Cause(CauseCode.DIRECTORY, str(len(entries))))
        yield from ()

    def _read_feed(self, visit: Visit, response: Response) -> Iterator[Any]:
        """Queue the entries of a feed; with the option `feeds.index` the feed becomes a document, too."""
        assert self._feeds is not None
        options = self._context.source.feeds
        feed = feeds.parse_feed(response.body, response.url, header_of(response, "Content-Type"))
        if not options.ignore_rules:
            self._notify_links(visit, [entry.url for entry in feed.entries], response.url)
        number = self._feeds.read_feed(visit, feed)
        if feed.problem and not feed.entries:
            cause = Cause(CauseCode.NO_FEED, detail=feed.problem)
            self._pages.end_not_indexed(visit, cause, StatusCode.CONVERSION_FAILED)
        elif not options.index:
            detail = "; ".join(filter(None, [f"{number} of them inside", feed.problem]))
            self._pages.end_list(visit, Cause(CauseCode.FEED, str(len(feed.entries)), detail))
        else:
            visit.note_media_type(sniff_type(response.body))
            page = Page(title=feed.title, text=feed.text)
            yield complete_item({}, self._pages.make_document(visit, response, page, {}))

    def _notify_links(self, visit: Visit, links: list[str], base: str) -> None:
        for hook in self._context.hooks[Feature.links_found]:
            hook(visit, links, base)

    # ---- pages

    def _read_page(self, visit: Visit, response: Response) -> Iterator[Any]:
        if self._filtered is not None:
            yield from self._filtered.documents(visit, response)
            return
        page = self._parse(visit, response)
        if page is not None:
            yield from self._pages.handle(visit, response, page)

    async def _read_large(self, visit: Visit, response: Response) -> Iterable[Any]:
        """Return the documents of a large page, which another process parses."""
        if self._filtered is not None:
            return await self._filtered.documents_of_large_page(visit, response)
        page = await self._parse_async(visit, response)
        return () if page is None else self._pages.handle(visit, response, page)

    async def _convert(self, visit: Visit, response: Response) -> Iterable[Any]:
        """Return the documents of a response that is not HTML, converted in another process."""
        page = await self._converter.page(visit, response.body, visit.head_of(response).page)
        if page is None:
            return ()
        return self._pages.handle(visit, response, page)

    async def _convert_filtered(
        self, filtered: FilteredPageHandler, visit: Visit, response: Response
    ) -> Iterable[Any]:
        """Return the documents of a response that is not HTML, converted if a directive of a filter asks for it."""
        page = None
        if filtered.needs_conversion(visit, response):
            page = await self._converter.page_or_none(visit, response.body, visit.head_of(response).page)
            if page is not None and self._robot_log is not None:
                self._robot_log.note_converted(visit.url)
        return () if visit.done else filtered.documents(visit, response, page)

    async def _render(self, renderer: PageRenderer, visit: Visit, response: Response) -> Iterable[Any]:
        """Return the documents of a page that a browser renders."""
        page = await self._parse_async(visit, response)
        if page is not None and self._filtered is not None:
            rendered = await renderer.rendered(visit, response, page)
            return (
                () if self._is_over(visit) else self._filtered.documents(visit, response, rendered=rendered)
            )
        if page is not None:
            page = await renderer.page(visit, response, page)
        return () if page is None or self._is_over(visit) else self._pages.handle(visit, response, page)

    def _is_over(self, visit: Visit) -> bool:
        """Return whether a visit has ended, or is queued again."""
        return visit.done or self._context.visits.get(visit.entry.key) is not visit

    def _parse(self, visit: Visit, response: Response) -> Page | None:
        """Parse the page as the server sent it; if it has no converter, end the visit and return None."""
        page = self._rules.reader_of(visit.url).read(
            response.body, response.url, visit.fetch.media_type, visit.head_of(response).page
        )
        if page is None:
            cause = Cause(CauseCode.NO_CONVERTER, visit.fetch.media_type)
            self._pages.end_not_indexed(visit, cause, StatusCode.CONVERTER_MISSING)
        else:
            self._context.counters.note_truncation(visit, page)
        return page

    async def _parse_async(self, visit: Visit, response: Response) -> Page | None:
        """Like `_parse`, but another process parses large pages, so that the reactor is not blocked."""
        if not self._rules.reader_of(visit.url).takes_long(
            response.body, response.url, visit.fetch.media_type
        ):
            return self._parse(visit, response)
        page = await self._converter.large_page(
            visit, response.body, response.url, visit.head_of(response).page
        )
        if page is not None:
            self._context.counters.note_truncation(visit, page)
        return page

    # ---- errors

    def _collect(self, visit: Visit, response: Response, items: Iterable[Any]) -> Iterator[Any]:
        """Yield the items once all are complete; end the visit as failed if that raises."""
        try:
            collected = list(items)
        except BaseException as error:  # subclasses run here
            self._end_failed(visit, response, error)
            return
        yield from collected

    async def _collect_async(
        self, visit: Visit, response: Response, items: Awaitable[Iterable[Any]]
    ) -> AsyncIterator[Any]:
        """Like `_collect`, for items that are awaited while other responses are handled."""
        collected: list[Any] = []
        try:
            collected = list(await items)
        except BaseException as error:  # subclasses run here
            self._end_failed(visit, response, error)
        for item in collected:
            yield item

    def _end_failed(self, visit: Visit, response: Response, error: BaseException) -> None:
        """End a visit whose processing raised; the crawl goes on.

        A `BaseException` of user code is treated alike: Scrapy would ignore it, and wait for the page for ever.
        """
        task = asyncio.current_task()
        if isinstance(error, KeyboardInterrupt) or (task is not None and task.cancelling()):
            raise error
        logger.error("Processing %s failed", visit.url, exc_info=error)
        if isinstance(error, CloseSpider):
            self._retry.handle_exception(visit, error)
            raise error
        stats, kind = self._crawler.stats, type(error).__name__
        stats.inc_value("spider_exceptions/count")
        stats.inc_value(f"spider_exceptions/{kind}")
        # Scrapy never sees the exception, so its signal is sent here; a receiver of it ends the visit.
        failure = Failure(error)  # type: ignore[no-untyped-call]  # Twisted
        send, spider = self._crawler.signals.send_catch_log, self._crawler.spider
        send(signals.spider_error, failure=failure, response=response, spider=spider)


def _filtered_pages(crawler: Crawler) -> FilteredPageHandler:
    """Return what runs the filters of a source that has some."""
    from ultracrawl.spiders.filtered_page_handler import (  # noqa: PLC0415 - loads all of the filters
        FilteredPageHandler,
    )

    return FilteredPageHandler(crawler)
