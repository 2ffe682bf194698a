"""Turns a response into links and a document with the portal-robot filters of a source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ultracrawl.content.reader import PageHeaders, PageReader
from ultracrawl.model import Cause, CauseCode, Document, Page, StatusCode, UrlOutcome
from ultracrawl.run import context_of, filters, parts_of
from ultracrawl.run.ending import Ending
from ultracrawl.run.listing.answers import describe
from ultracrawl.run.logs.robot_log import RobotLog
from ultracrawl.run.page_links import follow_links
from ultracrawl.run.reading.document_converter import DocumentConverter
from ultracrawl.run.reading.language_detection import DocumentLanguages
from ultracrawl.run.reading.permissions import PermissionReader
from ultracrawl.run.relations.related import RelatedDocuments
from ultracrawl.run.removal.expiry import ExpirySweeper
from ultracrawl.run.rendering.script_detection import note_missing_text
from ultracrawl.run.results import PageLinks
from ultracrawl.run.visit import VIEWS_KEY
from ultracrawl.spiders.page_handler import WatchedPages

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ultracrawl.model import UrlRecord
    from ultracrawl.rules.filters.views import FilterViews
    from ultracrawl.run import CrawlContext, Visit
    from ultracrawl.run.filters.filtering import FilterResult
    from ultracrawl.run.rendering.open_page import Rendered

TITLE_FIELD = "title"
TEXT_FIELDS = ("full-text", "partial-text")
"""Fields of a resource description that hold its text, in order of preference."""

HTML_TYPES = ("text/html", "application/xhtml+xml")


class FilteredPageHandler:
    """Runs the filters over a response: the enumeration filter selects links, the generation filter makes documents."""

    def __init__(self, crawler: Crawler) -> None:
        parts = parts_of(crawler)
        self._context = context_of(crawler)
        self._filtering = parts[filters.Filtering]
        self._watched = WatchedPages(crawler)
        self._relations = parts.get(RelatedDocuments)
        self._languages = parts[DocumentLanguages]
        self._permissions = parts[PermissionReader]
        self._expiry = parts[ExpirySweeper]
        self._converter = parts[DocumentConverter]
        self._robot_log = parts.get(RobotLog)

    @property
    def converts(self) -> bool:
        """Whether documents that are not HTML are converted."""
        return self._filtering.robot.converts

    def needs_conversion(self, visit: Visit, response: Response) -> bool:
        """Run Data up to a directive that converts this document; return whether there is one."""
        views = self._views(visit, response.request, None, None)
        return self._filtering.needs_conversion(views, headers_of(response), response.body)

    def documents(
        self,
        visit: Visit,
        response: Response,
        converted: Page | None = None,
        rendered: Rendered | None = None,
        read: Page | None = None,
    ) -> Iterator[Document]:
        """Queue the links of the enumeration filter, and yield the document of the generation filter or end the visit.

        `converted` is the result of a converter, `rendered` that of the browser, `read` the page if it is parsed
        already.
        """
        views = self._views(visit, response.request, rendered, read)
        result = self._filtering.use(views, headers_of(response), response.body, converted)
        resource = views.resource
        html_page = resource.page if converted is None and resource.content_type in HTML_TYPES else None
        if html_page is not None:
            self._context.counters.note_truncation(visit, html_page)
            note_missing_text(visit, html_page, response.body, as_sent=not self._context.renders(visit.url))
        refusal = result.cause or self._refusal(visit, response, html_page)
        twin, document, page = None, None, Page()
        if result.rd is not None and not refusal:
            sections = html_page.sections if html_page is not None else ()
            language = self._languages.of(converted or html_page or Page(), response)
            document = _document(self._context, visit, result.rd)
            document = replace(document, sections=sections, language=language)
            if visit.listed is not None:
                describe(document, visit.listed)
            page = Page(title=document.title, text=document.text, meta=document.attributes)
            # Duplicates are found by the whole content, not only by the part that the filters keep.
            whole = converted or html_page or Page()
            twin = self._watched.find_twin(visit, whole, response.body, page)
        self._follow(visit, response, result, html_page, twin)
        if twin is not None:
            self._watched.duplicates.refuse(visit, twin)
            return
        if result.rd is None or document is None:
            cause = refusal or Cause(CauseCode.NO_DESCRIPTION)
            ending = Ending(UrlOutcome.NOT_INDEXED, StatusCode.OK, cause, filtered=views.denied)
            self._context.endings.end_visit(visit, ending)
            return
        if self._relations is not None and self._relations.on:
            self._relations.read(visit, response, page)
        self._expiry.note_description(visit, result.rd)
        yield document

    async def documents_of_large_page(self, visit: Visit, response: Response) -> Iterator[Document]:
        """Like `documents`, for a large page, which another process parses."""
        page = None
        if visit.fetch.media_type in HTML_TYPES:
            from ultracrawl.rules.filters.resource import LINKS  # noqa: PLC0415 - loads all of the filters

            own, robots_name = self._context.rules.reader_of(visit.url), self._context.source.robots.name
            reader = PageReader(LINKS, ("*/*",), robots_name, content=own.content, limits=own.limits)
            headers = headers_of(response)
            robots_tag = headers.get("x-robots-tag")
            head = PageHeaders(headers.get("content-type", ""), (robots_tag,) if robots_tag else ())
            page = await self._converter.large_page(visit, response.body, visit.url, head, reader)
            if page is None:
                return iter(())
        return self.documents(visit, response, read=page)

    def _views(
        self, visit: Visit, request: Request | None, rendered: Rendered | None, read: Page | None
    ) -> FilterViews:
        """Return the filter state of a URL, with the parsed or rendered page added."""
        known: FilterViews | None = request.meta.get(VIEWS_KEY) if request is not None else None
        views = known or self._filtering.judge(visit.url, visit.entry.depth)
        source, scripted = self._context.source, None
        if rendered is not None:
            from ultracrawl.rules.filters.resource import Scripted  # noqa: PLC0415 - loads all of the filters

            html = rendered.html.encode("utf-8", "replace")
            scripted = Scripted(html, rendered.targets, rendered.kept, rendered.url)
        own = self._context.rules.reader_of(visit.url)
        views.resource.note_page(
            read, scripted, robots_name=source.robots.name, limits=own.limits, content=own.content
        )
        return views

    def _follow(
        self,
        visit: Visit,
        response: Response,
        result: FilterResult,
        page: Page | None,
        twin: UrlRecord | None,
    ) -> None:
        """Queue the links of the enumeration filter if links of this page are followed."""
        if not result.links or not self._should_follow(visit, page, twin):
            return
        base = (page.base if page else "") or response.url
        named = page.links if page is not None else ()
        noted = partial(self._note_enumerated, visit.url, len(result.links))
        links = PageLinks(list(result.links), base, named, are_enumerated=True, on_followed=noted)
        if result.rd is not None and self._watched.may_wait(visit):
            visit.defer_links(links)
        else:
            follow_links(self._context, visit, links)

    def _note_enumerated(self, url: str, number: int, new: int) -> None:
        if self._robot_log is not None:
            self._robot_log.note_enumerated(url, number, new)

    def _should_follow(self, visit: Visit, page: Page | None, twin: UrlRecord | None) -> bool:
        """Whether links are followed: never in a listed source or a page with nofollow.

        The source decides for duplicates and FTP.
        """
        source = self._context.source
        if self._context.rules.listed or source.sitemaps.only:
            return False
        if twin is not None and not source.duplicates.follow_links:
            return False
        if page is not None and source.robots.meta and not page.robots.follow:
            return False
        return source.ftp.search_links or not visit.url.startswith("ftp:")

    def _refusal(self, visit: Visit, response: Response, page: Page | None) -> Cause:
        """Return why a document must not be indexed whatever the filters decide: robots directives or the boundary."""
        permissions, head = self._permissions, visit.head_of(response)
        forbidden = (
            permissions.page_permissions(visit, page, head).refusal
            if page
            else permissions.head_refusal(visit, head)
        )
        return forbidden or permissions.followed_only(visit)


def headers_of(response: Response) -> dict[str, str]:
    """Return the headers of a response, names in lower case, repeated values joined by commas."""
    return {
        name.decode("latin-1").lower(): b",".join(values).decode("latin-1")
        for name, values in response.headers.items()
    }


def _document(context: CrawlContext, visit: Visit, rd: dict[str, list[str]]) -> Document:
    texts = (rd[name] for name in TEXT_FIELDS if name in rd)
    return Document(
        url=visit.display_url,
        access_url=visit.url,
        source=context.source.name,
        title=" ".join(rd.get(TITLE_FIELD, ())),
        text="\n".join(next(texts, ())),
        mimetype=visit.fetch.media_type,
        last_modified=visit.fetch.last_modified,
        checksum=visit.checksum,
        attributes={name.lower(): values for name, values in rd.items() if name not in TEXT_FIELDS},
    )
