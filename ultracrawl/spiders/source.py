"""The spider of a data source: the methods that a subclass overrides, and those that Scrapy calls."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy import Request, Spider

from ultracrawl.crawl import context_of, visit_of
from ultracrawl.model import Page
from ultracrawl.sources import DataSource, Project
from ultracrawl.spiders.answer_handler import AnswerHandler
from ultracrawl.spiders.inspection import inspect_page

if TYPE_CHECKING:
    from typing import Self

    from pydantic import JsonValue
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from ultracrawl.crawl.portal_filters.filtering import Filtering


logger = logging.getLogger(__name__)


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

    own_start: ClassVar[Callable[..., Any]]
    """`start` as the class was made; another one is that of a command that looks at single pages."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Remember how a crawl by this class starts."""
        super().__init_subclass__(**options)
        cls.own_start = cls.start

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Build the spider of a crawler (Scrapy's component protocol); arguments are for classes of somebody's own."""
        if not cls.source.spider_class:
            for name in (name for name in kwargs if not name.startswith("_")):
                option = (
                    f"; write `{name}: {kwargs[name]}` in the definition" if hasattr(cls.source, name) else ""
                )
                logger.warning("The argument %s changes nothing: sources take no arguments%s", name, option)
        return super().from_crawler(crawler, *args, **kwargs)

    @cached_property
    def _answers(self) -> AnswerHandler:
        return AnswerHandler(self)

    # ---- to be overridden

    @classmethod
    def check_options(cls, options: Mapping[str, JsonValue]) -> Iterable[tuple[str, str, str]]:
        """Yield for each mistake in the `options` of a source the option, the problem, and what to write instead.

        Asked of types of sources (entry points of the group `ultracrawl.source_kinds`), when definitions are read.
        """
        for name in options:
            yield name, f"sources of this type have no option `{name}`", "remove it"

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
        context_of(self.crawler).queue.seed(self.source.seed_urls)
        nothing: tuple[Any, ...] = ()
        for item in nothing:
            yield item

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        """Yield what the source would make of a page, for `scrapy parse` and `scrapy check`; no crawl comes here."""
        async for found in inspect_page(self.crawler, self._answers, response):
            yield found

    def visit(self, response: Response) -> Iterable[Any] | AsyncIterator[Any]:
        """Handle the answer to a visit: follow its links, yield its document."""
        request = response.request
        visit = visit_of(request) if request else None
        if visit is None or visit.done or response.status != 200:
            return ()  # an answer that is tried again comes here too, and is no page
        return self._answers.handle(visit, response)

    async def read_sitemap(self, response: Response) -> None:
        """Handle the answer for a sitemap."""
        visit = visit_of(response.request) if response.request else None
        if visit is None or visit.done or visit.sitemap is None:
            return
        if response.status in (200, 304):
            await self._answers.read_sitemap(visit, response)

    def failed(self, failure: Failure) -> None:
        """Handle a visit whose download failed."""
        request: Request = failure.request  # type: ignore[attr-defined]  # Scrapy adds it
        visit = visit_of(request)
        if visit is not None:
            self._answers.download_failed(visit, failure.value or RuntimeError("unknown failure"))
