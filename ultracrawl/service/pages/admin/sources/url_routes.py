"""Routes of the known URLs of a source: lists by outcome, as pages and as a file."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from ultracrawl.model import UrlOutcome
from ultracrawl.service.api.access import Editor, State
from ultracrawl.service.pages.admin.downloads import csv_answer
from ultracrawl.service.pages.admin.rendering import render_admin
from ultracrawl.service.pages.page_route import ADMIN, PageRoute
from ultracrawl.stores.project_stores import state_to_read
from ultracrawl.stores.url_rows import url_json

if TYPE_CHECKING:
    from ultracrawl.sources import Project

router = APIRouter(prefix=f"{ADMIN}/sources", route_class=PageRoute)
ROWS = 100
"""URLs on one page."""
_BATCH = 1000


@router.get("/{name}/urls")
def urls_page(
    request: Request,
    state: State,
    _requester: Editor,
    name: str,
    outcome: UrlOutcome | None = None,
    after: str = "",
) -> Response:
    """Return a page of the known URLs of a source in their order, of those with an outcome or of all."""
    state.known_source(name)
    rows = _rows(state.project, name, outcome, after, ROWS + 1)
    return render_admin(
        request,
        "admin/urls.html",
        section="overview",
        source=name,
        outcome=outcome,
        outcomes=state.holdings.holdings_of(state.project, name).outcomes,
        urls=rows[:ROWS],
        following=rows[ROWS - 1]["access_url"] if len(rows) > ROWS else "",
        is_first=not after,
    )


@router.get("/{name}/urls.csv")
def urls_csv(state: State, _requester: Editor, name: str, outcome: UrlOutcome | None = None) -> Response:
    """Return all known URLs of a source as CSV, of those with an outcome or of all."""
    state.known_source(name)
    return csv_answer("urls", _all_rows(state.project, name, outcome))


def _all_rows(project: Project, name: str, outcome: UrlOutcome | None) -> Iterator[dict[str, Any]]:
    """Yield all rows; each batch opens the state anew, because different threads send the parts of an answer."""
    after = ""
    while rows := _rows(project, name, outcome, after, _BATCH):
        yield from rows
        after = rows[-1]["access_url"]


def _rows(
    project: Project, name: str, outcome: UrlOutcome | None, after: str, limit: int
) -> list[dict[str, Any]]:
    with state_to_read(project, name) as store:
        if store is None:
            return []
        return [
            url_json(store, record) for record in islice(store.records.all_records(outcome, after), limit)
        ]
