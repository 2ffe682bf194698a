"""The page of the audit log, and the log as a file."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from ultracrawl.service.api.access import Administrator, State
from ultracrawl.service.pages.admin.downloads import csv_answer
from ultracrawl.service.pages.admin.rendering import render_admin
from ultracrawl.service.pages.page_route import ADMIN, PageRoute
from ultracrawl.stores.audit_log import recorded_actions

router = APIRouter(prefix=ADMIN, route_class=PageRoute)
ROWS = 100
_MEMBERS = ("time", "who", "from", "action", "targets", "result")
Who = Annotated[str, Query(max_length=200)]


@router.get("/audit")
def audit_page(
    request: Request,
    state: State,
    _requester: Administrator,
    who: Who = "",
    page: Annotated[int, Query(ge=1, le=10_000)] = 1,
) -> Response:
    """Return who changed what, the newest first, by one person or by all."""
    rows = (row for row in recorded_actions(state.project) if not who or row.get("who") == who)
    shown = list(islice(rows, (page - 1) * ROWS, page * ROWS + 1))
    return render_admin(
        request,
        "admin/audit.html",
        section="audit",
        rows=shown[:ROWS],
        who=who,
        page=page,
        has_more=len(shown) > ROWS,
    )


@router.get("/audit.csv")
def audit_csv(state: State, _requester: Administrator) -> Response:
    """Return the whole audit log as CSV, the newest line first."""
    rows = (
        {
            name: ", ".join(map(str, row["targets"])) if name == "targets" else row.get(name)
            for name in _MEMBERS
        }
        for row in recorded_actions(state.project)
    )
    return csv_answer("audit", rows)
