"""From an answer to a page: each is read in the way that its kind asks for, here or in another process."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import CloseSpider
from twisted.python.failure import Failure

from ultracrawl.content.feeds.feed import parse_feed
from ultracrawl.content.mime import sniff_type
from ultracrawl.crawl import context_of, feature_of
from ultracrawl.crawl.discovery.feed_tracker import FeedTracker
from ultracrawl.crawl.discovery.sitemap_manager import SitemapManager
from ultracrawl.crawl.discovery.sitemap_reader import SitemapReader
from ultracrawl.crawl.download_errors.retry_policy import RetryPolicy
from ultracrawl.crawl.indexing.response_store import ResponseStore
from ultracrawl.crawl.logs.crawl_logs import CrawlLogs
from ultracrawl.crawl.reading.document_converter import DocumentConverter, note_cut
from ultracrawl.crawl.rendering.page_renderer import PageRenderer
from ultracrawl.crawl.transport.headers import head_of, header_of
from ultracrawl.model import Cause, CauseCode, Page, StatusCode
from ultracrawl.spiders.filtered import FilteredPages
from ultracrawl.spiders.page_handler import PageHandler, complete

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Iterable, Iterator

    from scrapy.http import Response

    from ultracrawl.crawl import Visit
    from ultracrawl.spiders.page_handler import PageSource

logger = logging.getLogger(__name__)


class AnswerHandler:
    """Reads the answers of a source by kind, and handles what they hold: directories, feeds, documents, pages.

    Whatever raises on the way ends the visit, and no other.
    """

    def __init__(self, spider: PageSource) -> None:
        crawler = spider.crawler
        self._crawler = crawler
        self._context = context_of(crawler)
        self._reader = self._context.rules.reader
        self._feeds = feature_of(crawler, FeedTracker)
        self._sitemaps = feature_of(crawler, SitemapManager)
        self._responses = feature_of(crawler, ResponseStore)
        self._converter = feature_of(crawler, DocumentConverter)
        self._renderer = feature_of(crawler, PageRenderer)
        self._retry = feature_of(crawler, RetryPolicy)
        self._logs = feature_of(crawler, CrawlLogs)
        self._pages = PageHandler(spider)
        self._filtered = FilteredPages.from_crawler(crawler) if self._context.source.filters.file else None

    def handle(self, visit: Visit, response: Response) -> Iterable[Any] | AsyncIterator[Any]:
        """Return the documents that come of an answer, at once or later."""
        if visit.fetch.listing:
            return self._guarded(visit, response, self._listed(visit, response))
        if visit.fetch.feed:
            return self._guarded(visit, response, self._fed(visit, response))
        if self._responses.store is not None:
            self._responses.keep_answer(visit, response)
        filtered = self._filtered
        if self._converter.takes(visit.fetch.media_type) and (filtered is None or filtered.converts):
            return self._later(visit, response, self._converted(visit, response))
        if self._renderer.takes(visit, response.body):
            return self._later(visit, response, self._rendered(visit, response))
        if self._reader.is_large(response.body, visit.fetch.media_type):
            return self._later(visit, response, self._read_apart(visit, response))
        return self._guarded(visit, response, self._read(visit, response))

    async def read_sitemap(self, visit: Visit, response: Response) -> None:
        """Read the answer for a sitemap."""
        assert visit.sitemap is not None
        try:
            await SitemapReader(self._context, self._sitemaps, visit, visit.sitemap).read(response)
        except BaseException as error:  # as for pages
            self._broken(visit, response, error)

    def download_failed(self, visit: Visit, error: BaseException) -> None:
        """End a visit whose download raised, or let it be tried again."""
        self._retry.handle_exception(visit, error)

    # ---- directories and feeds

    def _listed(self, visit: Visit, response: Response) -> Iterator[Any]:
        """Follow the entries of a directory, which is no document itself."""
        entries = response.body.decode().splitlines()
        self._tell_links(visit, entries, response.url)
        self._context.queue.follow(visit, entries, response.url)
        self._pages.leave_out(visit, Cause(CauseCode.DIRECTORY, str(len(entries))))
        yield from ()

    def _fed(self, visit: Visit, response: Response) -> Iterator[Any]:
        """Queue what a feed names; the feed itself becomes a document if the source says so."""
        options = self._context.source.feeds
        feed = parse_feed(response.body, response.url, header_of(response, "Content-Type"))
        if not options.ignore_rules:
            self._tell_links(visit, [entry.url for entry in feed.entries], response.url)
        number = self._feeds.read_feed(visit, feed)
        if feed.problem and not feed.entries:
            cause = Cause(CauseCode.NO_FEED, detail=feed.problem)
            self._pages.leave_out(visit, cause, StatusCode.CONVERSION_FAILED)
        elif not options.index:
            told = "; ".join(filter(None, [f"{number} of them inside", feed.problem]))
            self._pages.leave_out(visit, Cause(CauseCode.FEED, str(len(feed.entries)), told))
        else:
            visit.note_media_type(sniff_type(response.body))
            page = Page(title=feed.title, text=feed.text)
            yield complete({}, self._pages.document(visit, response, page, {}))

    def _tell_links(self, visit: Visit, links: list[str], base: str) -> None:
        for found in self._context.hooks.links_found:
            found(visit, links, base)

    # ---- pages

    def _read(self, visit: Visit, response: Response) -> Iterator[Any]:
        if self._filtered is not None:
            yield from self._filtered.documents(visit, response)
            return
        page = self._static(visit, response)
        if page is not None:
            yield from self._pages.handle(visit, response, page)

    async def _read_apart(self, visit: Visit, response: Response) -> Iterable[Any]:
        """Return what comes of a large page."""
        if self._filtered is not None:
            return await self._filtered.of_large_page(visit, response)
        page = await self._static_apart(visit, response)
        return () if page is None else self._pages.handle(visit, response, page)

    async def _converted(self, visit: Visit, response: Response) -> Iterable[Any]:
        """Return what comes of a document that is not HTML."""
        page = await self._converter.page(visit, response.body, head_of(response))
        if page is None:
            return ()
        if self._logs.robot is not None:
            self._logs.robot.converted(visit.url)
        if self._filtered is not None:
            return self._filtered.documents(visit, response, page)
        return self._pages.handle(visit, response, page)

    async def _rendered(self, visit: Visit, response: Response) -> Iterable[Any]:
        """Return what comes of a page whose scripts are run."""
        if self._filtered is not None:
            rendered = await self._renderer.rendered(visit, response)
            return self._filtered.documents(visit, response, rendered=rendered)
        page = await self._static_apart(visit, response)
        if page is not None:
            page = await self._renderer.page(visit, response, page)
        return () if page is None or visit.done else self._pages.handle(visit, response, page)

    def _static(self, visit: Visit, response: Response) -> Page | None:
        """Return the page as the server sent it; None if it cannot be read, and the visit has ended by that."""
        page = self._reader.read(response.body, response.url, visit.fetch.media_type, head_of(response))
        if page is None:
            cause = Cause(CauseCode.NO_CONVERTER, visit.fetch.media_type)
            self._pages.leave_out(visit, cause, StatusCode.CONVERTER_MISSING)
        else:
            note_cut(self._context, visit, page)
        return page

    async def _static_apart(self, visit: Visit, response: Response) -> Page | None:
        """Return the page as `_static` does, without holding anything up if it is large."""
        if not self._reader.is_large(response.body, visit.fetch.media_type):
            return self._static(visit, response)
        page = await self._converter.large_page(visit, response.body, response.url, head_of(response))
        if page is not None:
            note_cut(self._context, visit, page)
        return page

    # ---- what raises

    def _guarded(self, visit: Visit, response: Response, items: Iterable[Any]) -> Iterator[Any]:
        """Yield what comes of an answer once all of it is there; the visit fails if that raises."""
        try:
            found = list(items)
        except BaseException as error:  # the edge to code of subclasses
            self._broken(visit, response, error)
            return
        yield from found

    async def _later(
        self, visit: Visit, response: Response, items: Awaitable[Iterable[Any]]
    ) -> AsyncIterator[Any]:
        """Yield what takes its time; other answers are handled meanwhile."""
        found: list[Any] = []
        try:
            found = list(await items)
        except BaseException as error:  # as for pages
            self._broken(visit, response, error)
        for item in found:
            yield item

    def _broken(self, visit: Visit, response: Response, error: BaseException) -> None:
        """End a visit whose processing raised: one page fails, the crawl goes on.

        A `BaseException` of code of users is treated alike: Scrapy would ignore it, and wait for the page without end.
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
        # Scrapy would tell of it if it came that far; the visit ends by that.
        failure = Failure(error)  # type: ignore[no-untyped-call]  # Twisted
        tell, spider = self._crawler.signals.send_catch_log, self._crawler.spider
        tell(signals.spider_error, failure=failure, response=response, spider=spider)
