"""The spider of a data source: from a response to a page, to links and to a document."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Iterable, Iterator
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

from itemadapter import ItemAdapter
from scrapy import Request, Spider
from scrapy.exceptions import CloseSpider

from ultracrawl.content.feeds.feed import parse_feed
from ultracrawl.content.mime import sniff_type
from ultracrawl.crawl import CrawlSession, Visit, visit_of
from ultracrawl.crawl.discovery.sitemap_reader import SitemapReader
from ultracrawl.crawl.reading.document_converter import note_cut
from ultracrawl.crawl.transport.headers import head_of, header_of, values_of
from ultracrawl.model import Document, Page, StatusCode, UrlOutcome, UrlRecord
from ultracrawl.sources import DataSource, Project
from ultracrawl.spiders.filtered import filtered_documents, filtered_large_page

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from ultracrawl.crawl.portal_filters.desk import Filtering

logger = logging.getLogger(__name__)

_IDENTITY = frozenset({"url", "access_url", "source"})


class SourceSpider(Spider):
    """Crawls one data source. Subclass it and name the subclass as `class:` in the definition.

    Two methods are meant to be overridden; both are called once for each page that is new or changed:

    * `links(response, page)`: which links to follow, as written in the page or absolute;
    * `documents(response, page)`: the document to index, or none. May be a dict, a dataclass, a Scrapy item or an
      `ultracrawl.model.Document`; fields that you leave out are filled from the page. Pipelines get a `Document`
      as it is, and all else as a dict.

    Documents that are not HTML come here as well, already converted: the words are in `page`, and `response` is a plain
    one without selectors.

    Boundary, robots, depth, politeness, conditional requests and the document table work as for every source.
    """

    project: ClassVar[Project]
    source: ClassVar[DataSource]
    filtering: ClassVar[Filtering | None] = None
    """The filters, if the process keeps them for several crawls of the source."""
    restarts: ClassVar[int] = 0
    """How often in a row the cycle began anew before this crawl, because a function of the filters said so."""
    asked: ClassVar[tuple[str, ...]] = ()
    """URLs that a command line asks for; each that cannot be read is a problem of the run."""

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Build the spider of a crawler (Scrapy's component protocol)."""
        return super().from_crawler(crawler, *args, **kwargs)

    @cached_property
    def session(self) -> CrawlSession:
        """What the components of this crawl share."""
        return CrawlSession.of(self.crawler)

    # ---- to be overridden

    def links(self, response: Response, page: Page) -> Iterable[str]:
        """Return the links of a page to follow. Not called for pages that say `nofollow`."""
        if self.source.robots.follow_nofollow_links:
            return [link.href for link in page.links]
        return [link.href for link in page.links if not link.nofollow]

    def documents(self, response: Response, page: Page) -> Iterable[Any]:
        """Return the document of a page, as a list of one or none. Not called for pages that say `noindex`."""
        return [{}]

    # ---- Scrapy's side

    async def start(self) -> AsyncIterator[Any]:
        """Queue the start URLs; the known URLs of earlier runs are in the queue already."""
        self.session.context.queue.seed(self.source.beginnings)
        nothing: tuple[Any, ...] = ()
        for item in nothing:
            yield item

    def visit(self, response: Response) -> Iterable[Any] | AsyncIterator[Any]:
        """Handle the answer to a visit: follow its links, yield its document."""
        request = response.request
        visit = visit_of(request) if request else None
        if visit is None or visit.done or response.status != 200:
            return ()  # an answer that is tried again comes here too, and is no page
        if visit.listing:
            return self._guarded(visit, self._listed(visit, response))
        if visit.feed:
            return self._guarded(visit, self._fed(visit, response))
        if self.session.keeper.store is not None:
            visit.answer = response
        filtering = self.session.filtering
        if self.session.conversion.takes(visit.media_type) and (
            filtering is None or filtering.robot.converts
        ):
            return self._later(visit, self._converted(visit, response))
        if self.session.rendering.takes(visit, response.body):
            return self._later(visit, self._rendered(visit, response))
        if self.session.context.rules.reader.is_large(response.body, visit.media_type):
            return self._later(visit, self._read_apart(visit, response))
        return self._guarded(visit, self._visit(visit, response))

    def _listed(self, visit: Visit, response: Response) -> Iterator[Any]:
        """Follow the entries of a directory, which is no document itself."""
        entries = response.body.decode().splitlines()
        self._hand_over(entries, response.url)
        self.session.context.queue.follow(visit, entries, response.url)
        self._not_indexed(visit, StatusCode.OK, f"directory with {len(entries)} entries")
        yield from ()

    def _fed(self, visit: Visit, response: Response) -> Iterator[Any]:
        """Queue what a feed names; the feed itself becomes a document if the source says so."""
        feed = parse_feed(response.body, response.url, header_of(response, "Content-Type"))
        if not self.source.feeds.ignore_rules:
            self._hand_over((entry.url for entry in feed.entries), response.url)
        number = self.session.feeds.read_feed(visit, feed)
        if feed.problem and not feed.entries:
            self._not_indexed(visit, StatusCode.CONVERSION_FAILED, f"no feed: {feed.problem}")
        elif not self.source.feeds.index:
            told = f"feed with {len(feed.entries)} entries, {number} of them inside"
            self._not_indexed(visit, StatusCode.OK, "; ".join(filter(None, [told, feed.problem])))
        else:
            visit.media_type = sniff_type(response.body)
            page = Page(title=feed.title, text=feed.text)
            yield self._complete({}, self._document(visit, response, page, {}))

    def _guarded(self, visit: Visit, items: Iterable[Any]) -> Iterator[Any]:
        """Yield what comes of an answer once all of it is there; the visit fails if that raises."""
        try:
            found = list(items)
        except BaseException as error:  # the edge to code of subclasses
            self._broken(visit, error)
            return
        yield from found

    def _broken(self, visit: Visit, error: BaseException) -> None:
        """End a visit whose processing raised: one page fails, the crawl goes on.

        What is no `Exception` is nothing else here: Scrapy would take no notice of it, and wait for the page for ever.
        """
        task = asyncio.current_task()
        if isinstance(error, KeyboardInterrupt) or (task is not None and task.cancelling()):
            raise error
        logger.error("Processing %s failed", visit.url, exc_info=error)
        self.session.visit_failed(visit, error)
        if isinstance(error, CloseSpider):
            raise error

    async def _later(self, visit: Visit, items: Awaitable[Iterable[Any]]) -> AsyncIterator[Any]:
        """Yield what takes its time; other answers are handled meanwhile."""
        found: list[Any] = []
        try:
            found = list(await items)
        except BaseException as error:  # as for pages
            self._broken(visit, error)
        for item in found:
            yield item

    async def _read_apart(self, visit: Visit, response: Response) -> Iterable[Any]:
        """Return what comes of a large page."""
        if self.session.filtering is not None:
            return await filtered_large_page(self.session, visit, response)
        page = await self._static_apart(visit, response)
        return () if page is None else self._page(visit, response, page)

    async def _converted(self, visit: Visit, response: Response) -> Iterable[Any]:
        """Return what comes of a document that is not HTML."""
        page = await self.session.conversion.page(visit, response.body, head_of(response))
        if page is None:
            return ()
        if self.session.logs.robot is not None:
            self.session.logs.robot.converted(visit.url)
        if self.session.filtering is not None:
            return filtered_documents(self.session, visit, response, page)
        return self._page(visit, response, page)

    async def _rendered(self, visit: Visit, response: Response) -> Iterable[Any]:
        """Return what comes of a page whose scripts are run."""
        if self.session.filtering is not None:
            rendered = await self.session.rendering.rendered(visit, response)
            return filtered_documents(self.session, visit, response, rendered=rendered)
        page = await self._static_apart(visit, response)
        if page is not None:
            page = await self.session.rendering.page(visit, response, page)
        return () if page is None or visit.done else self._page(visit, response, page)

    async def read_sitemap(self, response: Response) -> None:
        """Handle the answer for a sitemap."""
        visit = visit_of(response.request) if response.request else None
        if visit is None or visit.done or visit.sitemap is None:
            return
        if response.status not in (200, 304):
            return
        try:
            session = self.session
            await SitemapReader(session.context, session.sitemaps, visit, visit.sitemap).read(response)
        except BaseException as error:  # as for pages
            self._broken(visit, error)

    def _visit(self, visit: Visit, response: Response) -> Iterator[Any]:
        if self.session.filtering is not None:
            yield from filtered_documents(self.session, visit, response)
            return
        page = self._static(visit, response)
        if page is not None:
            yield from self._page(visit, response, page)

    def _static(self, visit: Visit, response: Response) -> Page | None:
        """Return the page as the server sent it; None if it cannot be read, and the visit has ended by that."""
        reader = self.session.context.rules.reader
        page = reader.read(response.body, response.url, visit.media_type, head_of(response))
        if page is None:
            reason = f"there is no converter for {visit.media_type}"
            self._not_indexed(visit, StatusCode.CONVERTER_MISSING, reason)
        else:
            note_cut(self.session.context, visit, page)
        return page

    async def _static_apart(self, visit: Visit, response: Response) -> Page | None:
        """Return the page as `_static` does, without holding anything up if it is large."""
        if not self.session.context.rules.reader.is_large(response.body, visit.media_type):
            return self._static(visit, response)
        page = await self.session.conversion.large_page(visit, response.body, response.url, head_of(response))
        if page is not None:
            note_cut(self.session.context, visit, page)
        return page

    def _page(self, visit: Visit, response: Response, page: Page) -> Iterator[Any]:
        session = self.session
        if session.link_lists is not None:
            session.link_lists.add([link.href for link in page.links], page.base or response.url)
        if page.refresh and self._refreshes(visit, response, page):
            return
        permissions = session.permissions.page_permissions(page, response)
        focus = session.focus
        off_focus = focus.refusal(visit, page, response, session.context.store) if focus else ""
        reason = permissions.refusal or self._followed_only(visit) or off_focus
        twin = None if reason else session.duplicates.find(visit, page, response.body)
        if self._follows(visit, page, twin):
            follow = partial(self._follow, visit, list(self.links(response, page)), response, page)
            if reason or self.source.duplicates.follow_links:
                follow()
            else:
                visit.follow = follow
        if twin is not None:
            session.duplicates.refuse(visit, twin)
            return
        if reason:
            self._not_indexed(visit, StatusCode.OK, reason)
            return
        if session.relations.on:
            session.relations.read(visit, response, page)
        visit.expires, visit.hides_text = permissions.expires, permissions.hides_text
        for item in self.documents(response, page):
            yield self._complete(item, self._document(visit, response, page, permissions.attributes))
            return
        self._not_indexed(visit, StatusCode.OK, "the spider made no document of it")

    def _follow(self, visit: Visit, links: list[str], response: Response, page: Page) -> None:
        base = page.base or response.url
        self._hand_over(links, base)
        if self.session.anchors is not None:
            visit.anchor_links = page.links
        self.session.context.queue.follow(visit, links, base)

    def _hand_over(self, links: Iterable[str], base: str) -> None:
        """Offer links to the sources that get those of this one."""
        if self.session.outbox is not None:
            self.session.outbox.send(links, base)

    def _follows(self, visit: Visit, page: Page, twin: UrlRecord | None) -> bool:
        if twin is not None and not self.source.duplicates.follow_links:
            return False
        searched = self.source.ftp.search_links or not visit.url.startswith("ftp:")
        if not searched or not self.session.feeds.follows_links(visit):
            return False
        return page.robots.follow or not self.source.robots.meta

    def _refreshes(self, visit: Visit, response: Response, page: Page) -> bool:
        """Follow a META refresh that comes soon enough to be a redirect; True if the visit has ended by it."""
        assert page.refresh is not None
        seconds, target = page.refresh
        if not target or not self.source.links.redirects(seconds):
            return False
        return self.session.redirects.follow(visit, 0, target, page.base or response.url)

    def _followed_only(self, visit: Visit) -> str:
        """Return why a page is read for its links only, or empty."""
        if visit.follow_only:
            return f"follow_only_types: {visit.media_type} is not indexed"
        return self.session.context.rules.boundary.follow_only(visit.url) or ""

    def _not_indexed(self, visit: Visit, status: StatusCode, reason: str) -> None:
        self.session.context.endings.finish(visit, UrlOutcome.NOT_INDEXED, status, reason)

    def _complete(self, item: Any, document: Document) -> Document | dict[str, Any]:
        """Fill the fields of an item that the spider left out; what is no `Document` becomes a dict.

        URL and source are always those of the visit: by them the document is replaced and deleted later.
        """
        given = dict(ItemAdapter(item))
        if not given:
            return document
        complete = item if isinstance(item, Document) else given
        target = ItemAdapter(complete)
        for name, value in ItemAdapter(document).items():
            if name in _IDENTITY or not given.get(name):
                target[name] = value
        return complete

    def _document(
        self, visit: Visit, response: Response, page: Page, permissions: dict[str, list[str]]
    ) -> Document:
        return Document(
            url=visit.shown_url,
            access_url=visit.url,
            source=self.source.name,
            title=page.title,
            text=page.text,
            language=self.session.languages.of(page, response),
            mimetype=visit.media_type,
            last_modified=visit.last_modified,
            checksum=visit.checksum,
            attributes={**page.meta, **self._facts(visit, response, page), **permissions, **page.picked},
        )

    def _facts(self, visit: Visit, response: Response, page: Page) -> dict[str, list[str]]:
        """Return the attributes of a document that are not META: used headers and size, canonical URL, truncation."""
        values, used = values_of(response), self.session.context.rules.read_attributes
        facts = {name: found for name in used if (found := values(name))}
        for name, found in facts.items():
            facts[name] = [*page.meta.get(name, ()), *found]
        if "size" in used:
            facts["size"] = [str(len(response.body))]
        if page.canonical:
            canonical = self.session.context.rules.url_policy.canonical(
                page.canonical, page.base or response.url
            )
            facts["canonical"] = [canonical] if canonical else []
        if visit.truncated:
            facts["truncated"] = [visit.truncated]
        return facts

    def failed(self, failure: Failure) -> None:
        """Handle a visit whose download failed."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy adds it
        visit = visit_of(request)
        if visit is not None:
            self.session.visit_failed(visit, failure.value or RuntimeError("unknown failure"))
