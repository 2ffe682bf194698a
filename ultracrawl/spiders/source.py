"""`SourceSpider`, the spider of a data source."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy import Request, Spider

from ultracrawl.model import Page
from ultracrawl.run import context_of, visit_of
from ultracrawl.sources import DataSource, Project
from ultracrawl.spiders.response_handler import ResponseHandler

if TYPE_CHECKING:
    from typing import Self

    from pydantic import JsonValue
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from ultracrawl.run.filters.filtering import Filtering


logger = logging.getLogger(__name__)


class SourceSpider(Spider):
    """Crawls one data source. Subclass it and name the subclass as `class:` in the definition.

    Two methods are meant to be overridden; both are called once for each new or changed page:

    * `links(response, page)` returns the links to follow, as written in the page or absolute;
    * `documents(response, page)` returns the document to index, or none. It may be a dict, a dataclass, a Scrapy item
      or an `ultracrawl.model.Document`; fields left out are filled from the page. Pipelines get a `Document` as it is,
      and everything else as a dict.

    Documents that are not HTML are passed as well, already converted: `page` has their text, and `response` is a plain
    `Response` without selectors.

    Boundary, robots, depth, politeness, conditional requests and the document table work as for every source.
    """

    project: ClassVar[Project]
    source: ClassVar[DataSource]
    filtering: ClassVar[Filtering | None] = None
    """The filters, if the process shares them between several crawls of the source."""
    restarts: ClassVar[int] = 0
    """Consecutive restarts of the cycle before this crawl that a filter function requested."""
    given_urls: ClassVar[tuple[str, ...]] = ()
    """URLs given on the command line; each that cannot be read is a problem of the run."""

    own_start: ClassVar[Callable[..., Any]]
    """`start` as defined by the class; `scrapy fetch`, `parse` and others replace `start` to inspect single pages."""

    makes_items: ClassVar[bool] = False
    """Whether the class makes documents by a method of its own, which may say who sees them."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Remember the `start` of the class, and whether it overrides `documents`."""
        super().__init_subclass__(**options)
        cls.own_start = cls.start
        cls.makes_items = cls.documents is not SourceSpider.documents

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Create the spider; warn about spider arguments, which only classes of users have."""
        if not cls.source.spider_class:
            for name in (name for name in kwargs if not name.startswith("_")):
                option = (
                    f"; write `{name}: {kwargs[name]}` in the definition" if hasattr(cls.source, name) else ""
                )
                logger.warning("The argument %s changes nothing: sources take no arguments%s", name, option)
        return super().from_crawler(crawler, *args, **kwargs)

    @cached_property
    def _responses(self) -> ResponseHandler:
        return ResponseHandler(self)

    # ---- for subclasses to override

    @classmethod
    def check_options(cls, options: Mapping[str, JsonValue]) -> Iterable[tuple[str, str, str]]:
        """Yield (option, problem, correction) for each mistake in the `options` of a source.

        Called when definitions are read, for source types (entry points of the group `ultracrawl.source_kinds`).
        """
        for name in options:
            yield name, f"sources of this type have no option `{name}`", "remove it"

    def links(self, response: Response, page: Page) -> Iterable[str]:
        """Return the links of a page to follow. Not called for pages with `nofollow`."""
        if self.source.robots.follow_nofollow_links:
            return [link.href for link in page.links]
        return [link.href for link in page.links if not link.nofollow]

    def documents(self, response: Response, page: Page) -> Iterable[Any]:
        """Return the document of a page, as a list of one or none. Not called for pages with `noindex`."""
        return [{}]

    # ---- called by Scrapy

    async def start(self) -> AsyncIterator[Any]:
        """Queue the start URLs; URLs known from earlier runs are in the queue already."""
        context_of(self.crawler).queue.seed(self.source.seed_urls)
        nothing: tuple[Any, ...] = ()
        for item in nothing:
            yield item

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        """Yield the links and the document of a page, for `scrapy parse` and `scrapy check`; crawls do not use it."""
        from ultracrawl.spiders.inspection import inspect_page  # noqa: PLC0415 - no crawl needs it

        async for item in inspect_page(self.crawler, self._responses, response):
            yield item

    def visit(self, response: Response) -> Iterable[Any] | AsyncIterator[Any]:
        """Handle the response of a visit: follow its links, yield its document."""
        request = response.request
        visit = visit_of(request) if request else None
        if visit is None or visit.done or response.status != 200:
            return ()  # responses that will be retried come here, too
        return self._responses.handle(visit, response)

    async def read_sitemap(self, response: Response) -> None:
        """Handle the response to the request of a sitemap."""
        visit = visit_of(response.request) if response.request else None
        if visit is None or visit.done or visit.sitemap is None:
            return
        if response.status in (200, 304):
            await self._responses.read_sitemap(visit, response)

    def failed(self, failure: Failure) -> None:
        """Handle a visit whose download failed."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy adds it
        visit = visit_of(request)
        if visit is not None:
            self._responses.download_failed(visit, failure.value or RuntimeError("unknown failure"))
