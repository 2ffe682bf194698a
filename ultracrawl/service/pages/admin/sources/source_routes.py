"""Routes of the page of a source."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import Response

from ultracrawl.errors import StateError
from ultracrawl.model.status import status_text
from ultracrawl.service.api.access import Reader, State
from ultracrawl.service.api.state import ApiState
from ultracrawl.service.metrics.run_difference import compare_runs
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
    source, project = state.known_source(name), state.project
    live = next((one for one in state.supervisor.sources() if one.name == name), None)
    runs = _runs(state, name)
    mistaken = project.invalid_sources.get(name)
    holdings = state.holdings.holdings_of(project, name)
    numbers = source_status(project, source, lambda *_: holdings)
    return render_admin(
        request,
        "admin/source.html",
        section="overview",
        row=source_row(project, source, numbers, holdings, live),
        numbers=numbers,
        findings=mistaken.findings if mistaken is not None else (),
        runs=runs[:SHOWN_RUNS],
        plots=plots(runs[::-1]),
        plot_runs=PLOT_RUNS,
    )


@router.get("/{name}/runs")
def runs_page(
    request: Request,
    state: State,
    _requester: Reader,
    name: str,
    compare: Annotated[list[Annotated[int, Field(ge=1)]], Query(min_length=2, max_length=2)],
) -> Response:
    """Return two runs of a source side by side, with what is different between them."""
    state.known_source(name)
    return render_admin(
        request,
        "admin/runs.html",
        section="overview",
        source=name,
        found=compare_runs(state.project, name, *compare),
        runs=_runs(state, name),
        status_text=status_text,
    )


def _runs(state: ApiState, name: str) -> tuple[RunNumbers, ...]:
    """Return the latest runs, the newest first; none of a state that cannot be read, which the page says."""
    with suppress(StateError), state_to_read(state.project, name) as store:
        return run_numbers(store.runs(PLOT_RUNS)) if store is not None else ()
    return ()
