"""Routes of the page of a source."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Request
from fastapi import Path as RoutePath
from pydantic import Field
from starlette.responses import Response

from ultracrawl.errors import StateError, WorkError
from ultracrawl.model.status import status_text
from ultracrawl.service.api.access import Reader, State
from ultracrawl.service.api.state import ApiState
from ultracrawl.service.editing.versions import Version, Versions
from ultracrawl.service.metrics.run_difference import compare_runs
from ultracrawl.service.metrics.run_history import RunNumbers, run_numbers
from ultracrawl.service.metrics.run_plots import PLOT_RUNS, place_of, telling_plots
from ultracrawl.service.orders import SourcePhase, SourceState
from ultracrawl.service.pages.admin.rendering import render_admin
from ultracrawl.service.pages.admin.sources.overview import is_crawled, source_row, speed
from ultracrawl.service.pages.page_route import ADMIN, PageRoute
from ultracrawl.service.pages.rendering import FRAGMENT_HEADER
from ultracrawl.service.source_status import source_status
from ultracrawl.sources import Project
from ultracrawl.sources.checking.access_checks import log_ins_for_everybody
from ultracrawl.stores.project_stores import state_to_read

SHOWN_RUNS = 20
"""Runs of the table."""
_WHOLE_PAGE = {"HX-Retarget": "#main", "HX-Reselect": "#main", "HX-Reswap": "outerHTML"}
"""Headers by which htmx replaces the whole page, and not only the part that has asked."""
router = APIRouter(prefix=f"{ADMIN}/sources", route_class=PageRoute)


class SavedVersion(NamedTuple):
    """A version of the definition that was saved between runs that are shown."""

    version: Version
    run: int
    """The first run that began after it; 0: none yet."""
    place: float
    """Where it stands in the plots."""


@router.get("/{name}")
def source_page(
    request: Request,
    state: State,
    _requester: Reader,
    name: str,
    seen: Annotated[str, Query(max_length=100)] = "",
) -> Response:
    """Return the page of a source: its condition, orders, and latest runs; to its script only how far its crawl is.

    That needs no state of the source. What a page has `seen` is the stage of the crawl; at another one its script gets
    the whole page, which says if a run has ended.
    """
    source, project = state.known_source(name), state.project
    live = next((one for one in state.supervisor.sources() if one.name == name), None)
    now: dict[str, Any] = {
        "live": live,
        "is_crawling": is_crawled(live),
        "rate": speed(live, time.time()),
        "stage": _stage(live),
        "ended": None,
    }
    is_part = FRAGMENT_HEADER in request.headers
    if is_part and seen == now["stage"]:
        return render_admin(request, "admin/source_now.html", section="overview", **now)
    runs = _runs(state, name)
    if is_part and live is not None and live.phase is SourcePhase.IDLE:
        now["ended"] = next(iter(runs), None)
    mistaken = project.invalid_sources.get(name)
    holdings = state.holdings.holdings_of(project, name)
    numbers = source_status(project, source, lambda *_: holdings)
    return render_admin(
        request,
        "admin/source.html",
        section="overview",
        headers=_WHOLE_PAGE if is_part else None,
        row=source_row(project, source, numbers, holdings, live),
        numbers=numbers,
        findings=mistaken.findings if mistaken is not None else (),
        log_ins=[".".join(map(str, path)) for path in log_ins_for_everybody(source)],
        runs=runs[:SHOWN_RUNS],
        plots=telling_plots(runs[::-1]),
        saved=_saved_versions(project, name, runs[::-1]),
        plot_runs=PLOT_RUNS,
        **now,
    )


def _stage(live: SourceState | None) -> str:
    """Return what a source does, and when its last run has ended; at another stage its page has other orders."""
    return f"{live.phase}, {live.last_end or 0}" if live is not None else ""


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


@router.get("/{name}/runs/{number}")
def run_page(
    request: Request,
    state: State,
    _requester: Reader,
    name: str,
    number: Annotated[int, RoutePath(ge=1, le=2**63 - 1)],
) -> Response:
    """Return the report of a run: its numbers, outcomes, answers and excluded links."""
    state.known_source(name)
    runs = _runs(state, name)
    return render_admin(
        request,
        "admin/run.html",
        section="overview",
        source=name,
        found=compare_runs(state.project, name, number, number),
        before=next((run.run for run in runs if run.run < number), None),
        status_text=status_text,
    )


def _saved_versions(project: Project, name: str, runs: Sequence[RunNumbers]) -> list[SavedVersion]:
    """Return what was saved since the first of the runs, the newest first; nothing of a history that is damaged."""
    versions = list[Version]()
    with suppress(WorkError):
        versions = Versions(project, name).all_versions()
    if versions and not versions[-1].who:
        del versions[-1]  # it was there before somebody changed it
    found = list[SavedVersion]()
    for version in versions:
        if (place := place_of(runs, version.time)) is not None:
            run = next((run.run for run in runs if run.began >= version.time), 0)
            found.append(SavedVersion(version, run, place))
    return found


def _runs(state: ApiState, name: str) -> tuple[RunNumbers, ...]:
    """Return the latest runs, the newest first; none of a state that cannot be read, which the page says."""
    with suppress(StateError), state_to_read(state.project, name) as store:
        return run_numbers(store.runs(PLOT_RUNS)) if store is not None else ()
    return ()
