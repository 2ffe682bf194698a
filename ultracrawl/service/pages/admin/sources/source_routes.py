"""Routes of the page of a source."""

from __future__ import annotations

from contextlib import suppress

from fastapi import APIRouter, Request
from starlette.responses import Response

from ultracrawl.errors import StateError
from ultracrawl.service.api.access import Reader, State
from ultracrawl.service.api.state import ApiState
from ultracrawl.service.metrics.run_history import RunNumbers, run_numbers
from ultracrawl.service.metrics.run_plots import PLOT_RUNS, plots
from ultracrawl.service.pages.admin.rendering import render_admin
from ultracrawl.service.pages.admin.sources.overview import source_row
from ultracrawl.service.pages.page_route import ADMIN, PageRoute
from ultracrawl.service.source_status import source_status
from ultracrawl.stores.project_stores import state_to_read

SHOWN_RUNS = 20
"""Runs of the table."""
router = APIRouter(prefix=f"{ADMIN}/sources", route_class=PageRoute)


@router.get("/{name}")
def source_page(request: Request, state: State, _requester: Reader, name: str) -> Response:
    """Return the page of a source: its condition, orders, and latest runs."""
    state.known_source(name)
    live = next((one for one in state.supervisor.sources() if one.name == name), None)
    runs = _runs(state, name)
    mistaken = state.project.invalid_sources.get(name)
    return render_admin(
        request,
        "admin/source.html",
        section="overview",
        row=source_row(state, name, live),
        numbers=source_status(state.project, state.known_source(name), state.holdings.holdings_of),
        findings=mistaken.findings if mistaken is not None else (),
        runs=runs[:SHOWN_RUNS],
        plots=plots(runs[::-1]),
        plot_runs=PLOT_RUNS,
    )


def _runs(state: ApiState, name: str) -> tuple[RunNumbers, ...]:
    """Return the latest runs, the newest first; none of a state that cannot be read, which the page says."""
    with suppress(StateError), state_to_read(state.project, name) as store:
        return run_numbers(store.runs(PLOT_RUNS)) if store is not None else ()
    return ()
