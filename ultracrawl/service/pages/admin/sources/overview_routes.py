"""Routes of the overview: the page, and its table as JSON and CSV."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from ultracrawl.service.access.requester import Role
from ultracrawl.service.api.access import Reader, State
from ultracrawl.service.api.problems import json_answer
from ultracrawl.service.pages.admin.downloads import csv_answer
from ultracrawl.service.pages.admin.rendering import render_admin
from ultracrawl.service.pages.admin.sources.overview import FILTERS, SHOWN_RUNS, crawled_now, overview
from ultracrawl.service.pages.page_route import ADMIN, PageRoute
from ultracrawl.service.pages.rendering import FRAGMENT_HEADER

router = APIRouter(prefix=ADMIN, route_class=PageRoute)
ROWS = 200
"""Sources on one page."""
Filter = Annotated[str, Query(alias="state", max_length=20)]


@router.get("")
def overview_page(
    request: Request,
    state: State,
    requester: Reader,
    chosen: Filter = "",
    page: Annotated[int, Query(ge=1, le=10_000)] = 1,
) -> Response:
    """Return the overview of all sources, or of those in some states; to its script only what is crawled now.

    That needs no state of a source, so that an open page can ask each two seconds.
    """
    crawling = crawled_now(state)
    if FRAGMENT_HEADER in request.headers:
        return render_admin(request, "admin/now.html", section="overview", crawling=crawling)
    found = overview(state)
    rows = found.filtered(chosen)
    return render_admin(
        request,
        "admin/overview.html",
        section="overview",
        found=found,
        unreadable=state.indexes.problems(state.project) if requester.allows(Role.EDITOR) else {},
        crawling=crawling,
        rows=rows[(page - 1) * ROWS : page * ROWS],
        chosen=chosen if chosen in FILTERS else "",
        page=page,
        has_more=len(rows) > page * ROWS,
        shown_runs=SHOWN_RUNS,
    )


@router.get("/sources.json")
def overview_json(state: State, _requester: Reader, chosen: Filter = "") -> Response:
    """Return the rows of the overview as JSON."""
    return json_answer({"sources": [row.as_json() for row in overview(state).filtered(chosen)]})


@router.get("/sources.csv")
def overview_csv(state: State, _requester: Reader, chosen: Filter = "") -> Response:
    """Return the rows of the overview as CSV."""
    return csv_answer("sources", [row.as_cells() for row in overview(state).filtered(chosen)])
