"""Routes of the page of a source."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from ultracrawl.service.api.access import Reader, State
from ultracrawl.service.metrics.run_history import run_numbers
from ultracrawl.service.pages.admin.overview import source_row
from ultracrawl.service.pages.admin.rendering import render_admin
from ultracrawl.service.pages.page_route import ADMIN, PageRoute
from ultracrawl.service.source_status import source_status

router = APIRouter(prefix=f"{ADMIN}/sources", route_class=PageRoute)


@router.get("/{name}")
def source_page(request: Request, state: State, _requester: Reader, name: str) -> Response:
    """Return the page of a source: its condition, orders, and latest runs."""
    state.known_source(name)
    live = next((one for one in state.supervisor.sources() if one.name == name), None)
    mistaken = state.project.invalid_sources.get(name)
    return render_admin(
        request,
        "admin/source.html",
        section="overview",
        row=source_row(state, name, live),
        numbers=source_status(state.project, state.known_source(name), state.holdings.holdings_of),
        findings=mistaken.findings if mistaken is not None else (),
        runs=run_numbers(state.holdings.holdings_of(state.project, name).runs),
    )
