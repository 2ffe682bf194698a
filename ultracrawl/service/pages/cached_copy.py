"""Cached copies: what a document said when it was fetched, from its stored response, without anything that could act.

A copy is shown to whoever may see the document, if the source stores responses and the publisher does not forbid it.
The sanitised text has no scripts, styles, forms, images or frames; and its page is sandboxed, so that nothing in it
could use the cookies of the service even if it ran.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import nh3
from anyio import to_thread
from fastapi import APIRouter, Request
from markupsafe import Markup, escape
from starlette.responses import Response

from ultracrawl.content.charset.decoding import decode
from ultracrawl.content.mime import effective_type
from ultracrawl.content.reader import MARKUP_TYPES, PageHeaders, PageReader
from ultracrawl.errors import NotFoundError, UserError
from ultracrawl.rules.robots.permission import IndexPermission
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.service.api.access import State, Visitor
from ultracrawl.service.pages.page_route import PageRoute
from ultracrawl.service.pages.rendering import render
from ultracrawl.service.pages.result_view import LINKED_SCHEMES, path_of, safe_link
from ultracrawl.service.pages.search_routes import Searches
from ultracrawl.service.searching.orders import DocumentOrder
from ultracrawl.stores.opening import open_documents, state_to_read, stored_documents_exist

if TYPE_CHECKING:
    from ultracrawl.model import Page
    from ultracrawl.model.answer import StoredAnswer
    from ultracrawl.sources import DataSource, Project

router = APIRouter(route_class=PageRoute)
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox"
)
"""The Content-Security-Policy of copies: no scripts and no forms, in an origin of its own."""
MAX_CHARACTERS = 1_000_000
"""Characters of a document that are shown."""
_FORBIDDEN = frozenset({"noarchive", "nocache"})
_TAGS = nh3.ALLOWED_TAGS - {"area", "img", "map", "wbr"} | {"dl", "dt", "dd", "main", "section"}
_WITHOUT_CONTENT = {"script", "style", "template", "iframe", "object", "svg", "math", "canvas", "title"}
_ATTRIBUTES = {
    "*": {"id", "lang", "dir", "title"},
    "a": {"href"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    "ol": {"start", "reversed", "type"},
    "li": {"value"},
    "time": {"datetime"},
}
_NO_COPY = "there is no cached copy of this page, or its publisher does not allow one"
_OWN_IDS = "copy-"
"""Put before the ids of a copy, which could otherwise be those of the page around it."""


@dataclass(frozen=True, slots=True)
class CachedCopy:
    """A copy of a document."""

    title: str
    url: str
    fetched: float
    """Seconds since 1970."""
    body: Markup
    is_truncated: bool


@router.get("/cached")
async def cached_copy(
    request: Request, state: State, _requester: Visitor, searches: Searches, source: str, url: str
) -> Response:
    """Return the cached copy of a document. 404 also if the requester may not see it, or its publisher forbids it."""
    project = state.project
    try:
        hit = await searches.answer(DocumentOrder(source, url))
    except UserError:
        raise NotFoundError(_NO_COPY) from None
    copy = None
    if project.search_page.cached_copies:
        find = partial(find_copy, project, project.known_sources[source], url)
        copy = await to_thread.run_sync(find)
    if copy is None:
        raise NotFoundError(_NO_COPY)
    return render(
        request,
        "cached.html",
        policy=POLICY,
        headers={"X-Robots-Tag": "noindex, noarchive"},
        copy=copy,
        title=hit["title"] or copy.title or path_of(url),
        link=safe_link(url),
    )


def find_copy(project: Project, source: DataSource, url: str) -> CachedCopy | None:
    """Return the copy of a document by its display URL; None if there is none, or it may not be shown."""
    if not stored_documents_exist(project, source):
        return None
    answer = _stored_answer(project, source, url)
    if answer is None:
        return None
    content_type = answer.header("Content-Type")
    media_type = effective_type(content_type, answer.body)
    tags = [value for name, value in answer.headers if name.lower() == "x-robots-tag"]
    reader = PageReader(frozenset(), robots_name=source.robots.name, default_charset=source.default_charset)
    page = reader.read(answer.body, answer.url, media_type, PageHeaders(content_type, tags))
    if page is None or forbids_copies(page):
        return None
    text, _ = decode(answer.body, content_type, source.default_charset)
    shown = text[:MAX_CHARACTERS]
    is_markup = media_type in MARKUP_TYPES
    body = sanitised(shown, answer.url) if is_markup else Markup("<pre>{}</pre>").format(escape(shown))
    return CachedCopy(
        page.title, answer.url, answer.fetched, body, bool(answer.truncated) or len(text) > len(shown)
    )


def forbids_copies(page: Page) -> bool:
    """Return whether META robots or X-Robots-Tag forbid copies (`noarchive`) or text of the page (`nosnippet`)."""
    return IndexPermission().hides_text(page.robots) or not _FORBIDDEN.isdisjoint(page.robots.others)


def sanitised(html: str, url: str) -> Markup:
    """Return the text, structure and links of a document as HTML in which nothing can act; `url` is its own."""
    cleaned = nh3.clean(
        html,
        tags=_TAGS,
        clean_content_tags=_WITHOUT_CONTENT,
        attributes=_ATTRIBUTES,
        attribute_filter=partial(_rewritten, url),
        url_schemes=set(LINKED_SCHEMES),
        link_rel="noopener noreferrer nofollow",
    )
    return Markup(cleaned)  # noqa: S704 - sanitised above


def _rewritten(base: str, _tag: str, attribute: str, value: str) -> str | None:
    """Return an attribute of a copy: links lead where those of the document lead, ids are those of the copy."""
    if attribute == "id":
        return f"{_OWN_IDS}{value}"
    if attribute != "href":
        return value
    if value.startswith("#"):
        return f"#{_OWN_IDS}{value[1:]}"
    try:
        return safe_link(urljoin(base, value.strip())) or None
    except ValueError:
        return None


def _stored_answer(project: Project, source: DataSource, url: str) -> StoredAnswer | None:
    with state_to_read(project, source.name) as state:
        aliases = [] if state is None else [record.url for record in state.records.with_display_url(url)]
    with closing(open_documents(project, source)) as store:
        for known in dict.fromkeys([url, *aliases]):
            answer = store.get(url_key(known))
            if answer is not None and answer.url == known:
                return answer
    return None
