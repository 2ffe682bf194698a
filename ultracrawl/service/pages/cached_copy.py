"""The pages of copies: what a document said when it was fetched, and mails, which have no other page.

A copy is shown to whoever may see the document; that of a page, if the source stores responses and the publisher does
not forbid it, that of a mail from its archive. Both are sandboxed, so that nothing in them could use the cookies of the
service even if it ran.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, Request
from starlette.responses import Response

from ultracrawl.errors import NotFoundError, UserError
from ultracrawl.service.api.access import State, Visitor
from ultracrawl.service.pages.page_route import PageRoute
from ultracrawl.service.pages.rendering import render
from ultracrawl.service.pages.result_view import path_of, safe_link
from ultracrawl.service.pages.search_routes import Searches
from ultracrawl.service.pages.stored_copies import find_copy, find_mail
from ultracrawl.service.searching.orders import DocumentOrder

router = APIRouter(route_class=PageRoute)
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; sandbox"
)
"""The Content-Security-Policy of copies: no scripts and no forms, in an origin of its own."""
_HEADERS = {"X-Robots-Tag": "noindex, noarchive"}
_NO_MAIL = "there is no copy of this mail"
_NO_COPY = "there is no cached copy of this page, or its publisher does not allow one"


@router.get("/cached")
async def cached_copy(
    request: Request, state: State, _requester: Visitor, searches: Searches, source: str, url: str
) -> Response:
    """Return the cached copy of a document. 404 also if the requester may not see it, or its publisher forbids it."""
    project, hit = state.project, await _hit(searches, source, url, _NO_COPY)
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
        headers=_HEADERS,
        copy=copy,
        title=hit["title"] or copy.title or path_of(url),
        link=safe_link(url),
    )


@router.get("/mail")
async def mail(
    request: Request, state: State, _requester: Visitor, searches: Searches, source: str, url: str
) -> Response:
    """Return a mail that has no other page. 404 also if the requester may not see it."""
    project, hit = state.project, await _hit(searches, source, url, _NO_MAIL)
    shown = await to_thread.run_sync(find_mail, project, project.known_sources[source], url)
    if shown is None:
        raise NotFoundError(_NO_MAIL)
    return render(
        request,
        "mail.html",
        policy=POLICY,
        headers=_HEADERS,
        mail=shown,
        title=hit["title"] or shown.subject or path_of(url),
    )


async def _hit(searches: Searches, source: str, url: str, missing: str) -> dict[str, Any]:
    """Return a document that the requester may see. Raises `NotFoundError` with the text `missing` without one."""
    try:
        return await searches.answer(DocumentOrder(source, url))
    except UserError:
        raise NotFoundError(missing) from None
