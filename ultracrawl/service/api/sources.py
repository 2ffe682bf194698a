"""Routes for sources: their status, runs and URLs, and orders for their crawls."""

from __future__ import annotations

import json
from collections.abc import Awaitable
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BeforeValidator, Field
from starlette.responses import Response

from ultracrawl.errors import UserError, WorkError
from ultracrawl.model import UrlOutcome
from ultracrawl.model.dates import iso
from ultracrawl.run.inspection.explanation import explain, explain_past
from ultracrawl.run.inspection.source_inspection import forecast_of, queue_of
from ultracrawl.run.source_data.left_over import left_over_sources
from ultracrawl.service.api import answers as shapes
from ultracrawl.service.api.access import Administrator, Editor, Reader, State
from ultracrawl.service.api.problems import Conflict, RequestBody, json_answer
from ultracrawl.service.api.state import ApiState
from ultracrawl.service.metrics.run_difference import compare_runs
from ultracrawl.service.orders import SourceState
from ultracrawl.service.source_status import reading_status, source_status, status_json
from ultracrawl.stores.project_stores import state_to_read
from ultracrawl.stores.url_rows import url_json

router = APIRouter(tags=["sources"])
Name = Annotated[str, Path(description="the name of a source")]
MAX_URLS = 10_000


@router.get("/sources", responses=shapes.answers(shapes.Sources))
def sources(state: State, _requester: Reader) -> Response:
    """Return the status of all sources, as `ultracrawl status --json` does; `service` has the state in the service."""
    live = {source.name: source for source in state.supervisor.sources()}
    names = state.project.known_sources
    left_over = [source.as_json() for source in left_over_sources(state.project)]
    with reading_status(state.project, state.holdings.holdings_of) as status_of:
        rows = [_row(status_of(one), live.get(name)) for name, one in names.items()]
    return json_answer({"sources": rows, "left_over": left_over})


@router.get("/sources/{name}", responses=shapes.answers(shapes.Source))
def source(state: State, _requester: Reader, name: Name) -> Response:
    """Return the status of a source."""
    status = source_status(state.project, state.known_source(name), state.holdings.holdings_of)
    return json_answer(_row(status, _live(state, name)))


def _live(state: ApiState, name: str) -> SourceState | None:
    return next((source for source in state.supervisor.sources() if source.name == name), None)


def _row(status: dict[str, Any], live: SourceState | None) -> dict[str, Any]:
    return {**status_json(status), "service": live_json(live) if live is not None else None}


def live_json(live: SourceState) -> dict[str, Any]:
    """Return the state of a source in the service as a JSON object."""
    return {
        "phase": live.phase.value,
        "run": live.run or None,
        "live": dict(live.live),
        "begun": iso(live.begun or None),
        "next_run": iso(live.next_run),
        "last_end": iso(live.last_end),
        "problem": live.problem or None,
        "paused_by_hand": live.paused_by_hand,
        "schedule": live.schedule or None,
    }


@router.get("/sources/{name}/runs", responses=shapes.answers(shapes.Runs))
def runs(
    state: State, _requester: Reader, name: Name, limit: Annotated[int, Query(ge=1, le=1000)] = 10
) -> Response:
    """Return the reports of the latest runs of a source, the newest first; an active run has only its number."""
    state.known_source(name)
    with state_to_read(state.project, name) as store:
        marks = store.runs(limit) if store is not None else []
    reports = [json.loads(run.report) if run.report else {"run_id": str(run.number)} for run in marks]
    return json_answer({"runs": reports})


@router.get("/sources/{name}/runs/difference", responses=shapes.answers(shapes.RunsCompared))
def run_difference(
    state: State,
    _requester: Reader,
    name: Name,
    first: Annotated[int, Query(ge=1)],
    second: Annotated[int, Query(ge=1)],
) -> Response:
    """Return what is different between two runs of a source, as `ultracrawl stats --compare --json` does."""
    state.known_source(name)
    return json_answer(compare_runs(state.project, name, first, second).as_json())


def _upper(name: str) -> str:  # that of `str` has no signature that FastAPI could read without parsing a text
    return name.upper()


@router.get("/sources/{name}/urls", responses=shapes.answers(shapes.Urls))
def urls(
    state: State,
    _requester: Editor,
    name: Name,
    outcome: Annotated[UrlOutcome | None, BeforeValidator(_upper)] = None,
    after: str = "",
    limit: Annotated[int, Query(ge=1, le=MAX_URLS)] = 1000,
) -> Response:
    """Return known URLs in order, as `ultracrawl urls --json` does; `next` is the `after` of the next page."""
    state.known_source(name)
    with state_to_read(state.project, name) as store:
        records = [] if store is None else list(islice(store.records.all_records(outcome, after), limit + 1))
        rows = [url_json(store, record) for record in records[:limit]] if store is not None else []
    more = len(records) > limit
    return json_answer({"urls": rows, "next": records[limit - 1].url if more else None})


@router.get("/sources/{name}/queue", responses=shapes.answers(None))
def queue(
    state: State, _requester: Editor, name: Name, limit: Annotated[int, Query(ge=1, le=MAX_URLS)] = 20
) -> Response:
    """Return which URLs are fetched next, and why: a member of `sources` of `ultracrawl queue --json`."""
    return json_answer(queue_of(state.project, state.valid_source(name), limit).as_json())


@router.get("/sources/{name}/plan", responses=shapes.answers(None))
def plan(state: State, _requester: Editor, name: Name) -> Response:
    """Return how the next crawl would start: a member of `sources` of `ultracrawl plan --json`."""
    return json_answer(forecast_of(state.project, state.valid_source(name)).as_json())


@router.get("/sources/{name}/explain", responses=shapes.answers(None))
def explanation(
    state: State,
    _requester: Editor,
    name: Name,
    url: str,
    as_of_run: Annotated[int | None, Query(ge=1)] = None,
) -> Response:
    """Return which rule includes or excludes a URL, as `ultracrawl explain --json` does."""
    source = state.valid_source(name)
    if as_of_run is not None:
        return json_answer(explain_past(state.project, source, url, as_of_run).as_json())
    return json_answer(explain(state.project, source, url).as_json())


class Start(RequestBody):
    """The options of a crawl."""

    force: bool = Field(default=False, description="fetch and index every page again, changed or not")


@router.post("/sources/{name}/start", status_code=202, responses=shapes.answers(shapes.Ordered, 202))
async def start(state: State, _requester: Editor, name: Name, order: Start | None = None) -> Response:
    """Crawl a source now; 409 if it is being crawled already."""
    state.valid_source(name)
    return await _ordered(state, name, state.supervisor.start_source(name, force=bool(order and order.force)))


@router.post("/sources/{name}/stop", status_code=202, responses=shapes.answers(shapes.Ordered, 202))
async def stop(state: State, _requester: Editor, name: Name) -> Response:
    """End the crawl of a source cleanly; the next one resumes it."""
    state.known_source(name)
    return await _ordered(state, name, state.supervisor.stop_source(name))


@router.post("/sources/{name}/pause", status_code=202, responses=shapes.answers(shapes.Ordered, 202))
async def pause(state: State, _requester: Editor, name: Name) -> Response:
    """Pause the crawl of a source; an idle source is not crawled until it is resumed."""
    state.known_source(name)
    return await _ordered(state, name, state.supervisor.pause_source(name))


@router.post("/sources/{name}/resume", status_code=202, responses=shapes.answers(shapes.Ordered, 202))
async def resume(state: State, _requester: Editor, name: Name) -> Response:
    """Resume a paused source."""
    state.known_source(name)
    return await _ordered(state, name, state.supervisor.resume_source(name))


async def _ordered(state: ApiState, name: str, order: Awaitable[None]) -> Response:
    await carried_out(order)
    live = _live(state, name)
    return json_answer({"source": name, "service": live_json(live) if live is not None else None}, 202)


async def carried_out(order: Awaitable[None]) -> None:
    """Await an order of the supervisor. Raises `Conflict` if it is impossible now."""
    try:
        await order
    except (UserError, WorkError) as error:
        raise Conflict(str(error)) from error


@router.post("/reload", responses=shapes.answers(shapes.Reloaded))
async def reload(state: State, _requester: Administrator) -> Response:
    """Read the definitions again; with a fatal finding nothing changes, and the status is 409."""
    findings = await state.supervisor.reload_definitions()
    fatal = any(finding.fatal for finding in findings)
    return json_answer(
        {"reloaded": not fatal, "findings": [finding.as_json() for finding in findings]},
        409 if fatal else 200,
    )
