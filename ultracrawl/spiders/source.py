"""The spider of a data source: from a response to a page, to links and to a document."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from itemadapter import ItemAdapter
from scrapy import Request, Spider

from ultracrawl.extensions import CrawlSession, Visit, visit_of
from ultracrawl.model import Document, Page, StatusCode, UrlOutcome
from ultracrawl.sources import DataSource, Project

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)

REFRESH_SECONDS = 3.0
"""A META refresh that comes later than this belongs to a page that is there to be read, not to a redirect."""

_IDENTITY = frozenset({"url", "access_url", "source"})


class SourceSpider(Spider):
    """Crawls one data source. Subclass it and name the subclass as `class:` in the definition.

    Two methods are meant to be overridden; both are called once for each page that is new or changed:

    * `links(response, page)`: which links to follow, as written in the page or absolute;
    * `documents(response, page)`: the document to index, or none. May be a dict, a dataclass, a Scrapy item or an
      `ultracrawl.model.Document`; fields that you leave out are filled from the page. Pipelines get a `Document`
      as it is, and all else as a dict.

    Boundary, robots, depth, politeness, conditional requests and the document table work as for every source.
    """

    project: ClassVar[Project]
    source: ClassVar[DataSource]
    session: CrawlSession

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Build the spider of a crawler (Scrapy's component protocol)."""
        return super().from_crawler(crawler, *args, **kwargs)

    # ---- to be overridden

    def links(self, response: Response, page: Page) -> Iterable[str]:
        """Return the links of a page to follow. Not called for pages that say `nofollow`."""
        return [link.href for link in page.links if not link.nofollow]

    def documents(self, response: Response, page: Page) -> Iterable[Any]:
        """Return the document of a page, as a list of one or none. Not called for pages that say `noindex`."""
        return [{}]

    # ---- Scrapy's side

    async def start(self) -> AsyncIterator[Any]:
        """Queue the start URLs; the known URLs of earlier runs are in the queue already."""
        self.session = CrawlSession.of(self.crawler)
        self.session.links.seed(self.source.start_urls)
        nothing: tuple[Any, ...] = ()
        for item in nothing:
            yield item

    def visit(self, response: Response) -> Iterator[Any]:
        """Handle the answer to a visit: follow its links, yield its document."""
        request = response.request
        visit = visit_of(request) if request else None
        if visit is None or visit.done or response.status != 200:
            return
        try:
            yield from self._visit(visit, response)
        except Exception as error:  # the edge to code of subclasses: one page fails, the crawl goes on
            logger.exception("Processing %s failed", visit.url)
            self.session.visit_failed(visit, error)

    def _visit(self, visit: Visit, response: Response) -> Iterator[Any]:
        content_type = _header(response, "Content-Type")
        x_robots_tag = [value.decode("latin-1") for value in response.headers.getlist("X-Robots-Tag")]
        page = self.session.rules.reader.read(response.body, response.url, content_type, x_robots_tag)
        if page is None:
            self._not_indexed(visit, StatusCode.WRONG_TYPE, f"30041 type {content_type!r} is not accepted")
            return
        yield from self._page(visit, response, page)

    def _page(self, visit: Visit, response: Response, page: Page) -> Iterator[Any]:
        session = self.session
        if page.refresh and self._refreshes(visit, response, page):
            return
        if page.robots.follow or not self.source.robots.meta:
            session.links.follow(visit, self.links(response, page), page.base or response.url)
        reason = session.rules.index_refusal(visit.url, page)
        if reason:
            self._not_indexed(visit, StatusCode.OK, reason)
            return
        for item in self.documents(response, page):
            yield self._complete(item, visit, response, page)
            return
        self._not_indexed(visit, StatusCode.OK, "the spider made no document of it")

    def _refreshes(self, visit: Visit, response: Response, page: Page) -> bool:
        """Follow a META refresh that comes soon enough to be a redirect; True if the visit has ended by it."""
        assert page.refresh is not None
        seconds, target = page.refresh
        if not target or seconds > REFRESH_SECONDS:
            return False
        return self.session.redirects.follow(visit, 0, target, page.base or response.url)

    def _not_indexed(self, visit: Visit, status: StatusCode, reason: str) -> None:
        self.session.recorder.finish(visit, UrlOutcome.NOT_INDEXED, status, reason)

    def _complete(self, item: Any, visit: Visit, response: Response, page: Page) -> Document | dict[str, Any]:
        """Fill the fields of an item that the spider left out; what is no `Document` becomes a dict.

        URL and source are always those of the visit: by them the document is replaced and deleted later.
        """
        document = self._document(visit, response, page)
        given = dict(ItemAdapter(item))
        if not given:
            return document
        complete = item if isinstance(item, Document) else given
        target = ItemAdapter(complete)
        for name, value in ItemAdapter(document).items():
            if name in _IDENTITY or not given.get(name):
                target[name] = value
        return complete

    def _document(self, visit: Visit, response: Response, page: Page) -> Document:
        return Document(
            url=visit.shown_url,
            access_url=visit.url,
            source=self.source.name,
            title=page.title,
            text=page.text,
            language=page.language,
            mimetype=_header(response, "Content-Type").partition(";")[0].strip().lower(),
            last_modified=visit.last_modified,
            checksum=visit.checksum,
            attributes=page.meta,
        )

    def failed(self, failure: Failure) -> None:
        """Handle a visit whose download failed."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy adds it
        visit = visit_of(request)
        if visit is not None:
            self.session.visit_failed(visit, failure.value or RuntimeError("unknown failure"))


def _header(response: Response, name: str) -> str:
    return (response.headers.get(name) or b"").decode("latin-1")
