"""From an answer to links and a document, by the filters of a source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ultracrawl.model import Document, Page, StatusCode, UrlOutcome

if TYPE_CHECKING:
    from scrapy.http import Response

    from ultracrawl.extensions import CrawlSession, Visit

TITLE = "title"
TEXTS = ("full-text", "partial-text")
"""Fields of a description that are its text, the first that there is."""

HTML = ("text/html", "application/xhtml+xml")


def filtered_documents(
    session: CrawlSession, visit: Visit, response: Response, converted: Page | None = None
) -> Iterator[Document]:
    """Queue what the enumeration filter found, and yield what the generation filter made; or end the visit."""
    filtering = session.filtering
    assert filtering is not None, "only asked of a source with filters"
    views = visit.filtered or filtering.judge(visit.url, visit.entry.depth)
    result = filtering.use(views, headers_of(response), response.body, converted)
    twin, document = None, None
    if result.rd is not None:
        document = _document(session, visit, result.rd)
        page = Page(title=document.title, text=document.text, meta=document.attributes)
        twin = session.duplicates.find(visit, page, response.body)
    searched = session.source.ftp.search_links or not visit.url.startswith("ftp:")
    if result.links and searched and (twin is None or session.source.duplicates.follow_links):
        html = views.resource.content_type in HTML
        base = (views.resource.page.base if html else "") or response.url
        if html and session.anchors is not None:
            visit.anchor_links = views.resource.page.links
        new = session.links.follow(visit, result.links, base)
        if session.logs.robot is not None:
            session.logs.robot.enumerated(visit.url, len(result.links), new)
    if twin is not None:
        session.duplicates.refuse(visit, twin)
        return
    if result.rd is None or document is None:
        reason = result.reason or "the generation filter denied it"
        session.recorder.finish(visit, UrlOutcome.NOT_INDEXED, StatusCode.OK, reason)
        return
    session.expiry.made(visit, result.rd)
    yield document


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
        source=session.source.name,
        title=" ".join(rd.get(TITLE, ())),
        text="\n".join(next(texts, ())),
        mimetype=visit.media_type,
        last_modified=visit.last_modified,
        checksum=visit.checksum,
        attributes={name.lower(): values for name, values in rd.items() if name not in TEXTS},
    )
