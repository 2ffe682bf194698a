"""Routes for query statistics: the report, and clicks on hits."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Query
from starlette.responses import Response

from ultracrawl.errors import NotFoundError
from ultracrawl.service.answers.outcome import CheckOutcome, read_outcome
from ultracrawl.service.api import answers as shapes
from ultracrawl.service.api.access import Address, Editor, State, Visitor
from ultracrawl.service.api.problems import json_answer
from ultracrawl.service.api.state import ApiState
from ultracrawl.service.statistics.report import DEFAULT_DAYS, MAX_DAYS, query_report
from ultracrawl.service.statistics.store import QueryStore

router = APIRouter(tags=["search"])


@router.post("/clicks", status_code=204)
async def click(
    state: State,
    requester: Visitor,
    address: Address,
    q: Annotated[str, Query(max_length=2000)],
    position: Annotated[int, Query(ge=1, le=100_000)],
) -> Response:
    """Count which hit of a query was chosen, by its position from 1.

    Without effect unless the requester searched for the query before.
    """
    state.queries.note_click(requester, q, position, address)
    return Response(status_code=204)


@router.get("/queries", responses=shapes.answers(shapes.QueryReport))
async def queries(
    state: State,
    _requester: Editor,
    days: Annotated[int, Query(ge=1, le=MAX_DAYS)] = DEFAULT_DAYS,
    origin: str = "",
    without_answers: bool = False,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """Return the statistics of queries, as `ultracrawl queries --json` does; counts below three are not shown."""
    await state.queries.flush()
    store, today = QueryStore.of_project(state.project), datetime.fromtimestamp(time.time(), UTC).date()
    report = await to_thread.run_sync(
        lambda: query_report(
            store, today, days=days, origin=origin, without_answers=without_answers, limit=limit
        )
    )
    return json_answer({"statistics": state.project.search_page.statistics, **report})


@router.get("/queries/golden", responses=shapes.answers(shapes.GoldenOutcome))
def golden(state: State, _requester: Editor) -> Response:
    """Return what the latest check of the golden queries found; 404 if there is none."""
    found = checked_answers(state)
    if found is None:
        raise NotFoundError("no golden queries were checked")
    return json_answer(found.as_json())


def checked_answers(state: ApiState) -> CheckOutcome | None:
    """Return what the latest check of the golden queries found; None if the project has none, or none was checked."""
    is_checked = state.project.search_page.check_answers is not None
    return read_outcome(state.project) if is_checked else None
