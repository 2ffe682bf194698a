"""The page of a URL: why it is, or is not, in the index, and what is known of it."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any, NamedTuple

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from ultracrawl.errors import NotFoundError, WorkError
from ultracrawl.model import Decision, UrlRecord
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.inspection.explanation import Explanation, explain, explain_past
from ultracrawl.service.api.access import Address, Editor, State
from ultracrawl.service.pages.admin.rendering import render_admin
from ultracrawl.service.pages.page_route import ADMIN, PageRoute
from ultracrawl.service.pages.result_view import safe_link
from ultracrawl.service.searching.orders import DocumentOrder
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores.project_stores import state_to_read

router = APIRouter(prefix=f"{ADMIN}/sources", route_class=PageRoute)
_MOST = 50
"""Redirects and texts of links that are shown."""


class Life(NamedTuple):
    """What is known of a URL beside its record."""

    redirects: list[str]
    """URLs that redirect to it."""
    link_texts: list[str]
    """Texts of links to it, of all pages together."""


@router.get("/{name}/url")
async def url_page(
    request: Request,
    state: State,
    requester: Editor,
    address: Address,
    name: str,
    url: Annotated[str, Query(min_length=1, max_length=2000)],
    as_of_run: Annotated[int | None, Query(ge=1)] = None,
) -> Response:
    """Return the checks of a URL in their order, by the present rules or as a past run made them, and its life."""
    source, project = state.valid_source(name), state.project
    found = await to_thread.run_sync(explain, project, source, url)
    past = None
    if as_of_run is not None:
        past = await to_thread.run_sync(explain_past, project, source, url, as_of_run)
    record, hit = found.record, dict[str, Any]()
    if record is not None and record.indexed:
        with suppress(NotFoundError, WorkError):  # what the requester may not see is not shown
            hit = await state.searching.run(requester, DocumentOrder(name, record.shown_url), address=address)
    return render_admin(
        request,
        "admin/url.html",
        section="overview",
        source=name,
        found=found,
        deciding=deciding(found),
        past=None if past is None else past.verdicts,
        as_of_run=as_of_run,
        record=record,
        life=await to_thread.run_sync(_life, project, source, record),
        attributes={"Title": hit["title"], **hit["attributes"]} if hit else {},
        link=safe_link(record.shown_url if record is not None else found.canonical_url),
    )


def deciding(found: Explanation) -> Decision | None:
    """Return the first decision that excludes a URL; None if no rule does."""
    return next((decision for decision in found.decisions if not decision.accept), None)


def _life(project: Project, source: DataSource, record: UrlRecord | None) -> Life:
    if record is None:
        return Life([], [])
    with state_to_read(project, source.name) as store:
        if store is None:
            return Life([], [])
        redirects = [one.url for one in store.records.redirecting_to(record.url)]
        key = url_key(record.url)
        texts = store.links.anchor_texts([key]).get(key)
    found = [] if texts is None else [*texts.whole, *(text for _, text in texts.parts)]
    return Life(sorted(redirects)[:_MOST], found[:_MOST])
