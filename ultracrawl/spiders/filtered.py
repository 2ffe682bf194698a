"""From an answer to links and a document, by the filters of a source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ultracrawl.content import AnswerHead, PageReader
from ultracrawl.crawl.reading.document_converter import note_cut
from ultracrawl.model import Document, Page, StatusCode, UrlOutcome

if TYPE_CHECKING:
    from scrapy.http import Response

    from ultracrawl.crawl import CrawlSession, Visit
    from ultracrawl.crawl.rendering.browser import Rendered
    from ultracrawl.model import UrlRecord

TITLE = "title"
TEXTS = ("full-text", "partial-text")
"""Fields of a description that are its text, the first that there is."""

HTML = ("text/html", "application/xhtml+xml")


def filtered_documents(
    session: CrawlSession,
    visit: Visit,
    response: Response,
    converted: Page | None = None,
    rendered: Rendered | None = None,
    read: Page | None = None,
) -> Iterator[Document]:
    """Queue what the enumeration filter found, and yield what the generation filter made; or end the visit.

    `converted` is what a document became, `rendered` what a browser has of a page, `read`
    the page if it was read already.
    """
    filtering = session.filtering
    assert filtering is not None, "only asked of a source with filters"
    views = visit.filtered or filtering.judge(visit.url, visit.entry.depth)
    resource = views.resource
    resource.robots_name, resource.limits = (
        session.context.source.robots.name,
        session.context.rules.reader.limits,
    )
    resource.read = read
    if rendered is not None:
        from ultracrawl.rules.filters import Scripted  # noqa: PLC0415 - loads all of the filters, which few sources have

        html, keep = rendered.html.encode("utf-8", "replace"), session.context.source.javascript.keep_html
        resource.scripted = Scripted(html, rendered.targets, keep)
    result = filtering.use(views, headers_of(response), response.body, converted)
    html_page = resource.page if converted is None and resource.content_type in HTML else None
    if html_page is not None:
        note_cut(session.context, visit, html_page)
    reason = result.reason or _refusal(session, visit, response, html_page)
    twin, document, page = None, None, Page()
    if result.rd is not None and not reason:
        document = _document(session, visit, result.rd)
        page = Page(title=document.title, text=document.text, meta=document.attributes)
        # All of its content counts, not what the filters keep of it.
        twin = session.duplicates.find(visit, converted or html_page or Page(), response.body)
    if result.links and _follows(session, visit, html_page, twin):
        base = (html_page.base if html_page else "") or response.url
        if html_page is not None and session.anchors is not None:
            visit.anchor_links = html_page.links
        new = session.context.queue.follow(visit, result.links, base)
        if session.logs.robot is not None:
            session.logs.robot.enumerated(visit.url, len(result.links), new)
    if twin is not None:
        session.duplicates.refuse(visit, twin)
        return
    if result.rd is None or document is None:
        reason = reason or "the generation filter denied it"
        session.context.endings.finish(visit, UrlOutcome.NOT_INDEXED, StatusCode.OK, reason)
        return
    if session.relations.on:
        session.relations.read(visit, response, page)
    session.expiry.note_description(visit, result.rd)
    yield document


async def filtered_large_page(session: CrawlSession, visit: Visit, response: Response) -> Iterator[Document]:
    """Do as `filtered_documents` for a page that is read apart because it is large."""
    source = session.context.source
    page = None
    if visit.media_type in HTML:
        from ultracrawl.rules.filters.resource import LINKS  # noqa: PLC0415 - see above

        reader = PageReader(LINKS, ("*/*",), source.robots.name, limits=session.context.rules.reader.limits)
        headers = headers_of(response)
        named = headers.get("x-robots-tag")
        head = AnswerHead(headers.get("content-type", ""), (named,) if named else ())
        page = await session.conversion.large_page(visit, response.body, visit.url, head, reader)
        if page is None:
            return iter(())
    return filtered_documents(session, visit, response, read=page)


def _refusal(session: CrawlSession, visit: Visit, response: Response, page: Page | None) -> str:
    """Return why a document stays out of the index whatever the filters say: by its owner, or by the boundary."""
    forbidden = (
        session.permissions.page_permissions(page, response).refusal
        if page
        else session.permissions.head_refusal(response)
    )
    if visit.follow_only:
        return forbidden or f"follow_only_types: {visit.media_type} is not indexed"
    return forbidden or session.context.rules.boundary.follow_only(visit.url) or ""


def _follows(session: CrawlSession, visit: Visit, page: Page | None, twin: UrlRecord | None) -> bool:
    """Whether links are followed: not where a page says nofollow, in duplicates, or on FTP if the source says so."""
    source = session.context.source
    if twin is not None and not source.duplicates.follow_links:
        return False
    if page is not None and source.robots.meta and not page.robots.follow:
        return False
    return source.ftp.search_links or not visit.url.startswith("ftp:")


def headers_of(response: Response) -> dict[str, str]:
    """Return the headers of an answer, names in lower case."""
    return {
        name.decode("latin-1").lower(): b",".join(values).decode("latin-1")
        for name, values in response.headers.items()
    }


def _document(session: CrawlSession, visit: Visit, rd: dict[str, list[str]]) -> Document:
    texts = (rd[name] for name in TEXTS if name in rd)
    return Document(
        url=visit.shown_url,
        access_url=visit.url,
        source=session.context.source.name,
        title=" ".join(rd.get(TITLE, ())),
        text="\n".join(next(texts, ())),
        mimetype=visit.media_type,
        last_modified=visit.last_modified,
        checksum=visit.checksum,
        attributes={name.lower(): values for name, values in rd.items() if name not in TEXTS},
    )
