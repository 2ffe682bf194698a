"""The page of schedules as the coming day, and the forms that steer them."""

from __future__ import annotations

import time

from fastapi import APIRouter, Request
from starlette.responses import Response

from ultracrawl.service.api import schedules
from ultracrawl.service.api.access import Administrator, Reader, State
from ultracrawl.service.pages.admin.rendering import leads_to, render_admin
from ultracrawl.service.pages.admin.schedules.day_view import coming_day
from ultracrawl.service.pages.page_route import ADMIN, PageRoute

router = APIRouter(prefix=f"{ADMIN}/schedules", route_class=PageRoute)


@router.get("")
def schedules_page(request: Request, state: State, _requester: Reader) -> Response:
    """Return when each source is crawled in the coming day, and the states of all schedules."""
    now = time.time()
    return render_admin(
        request,
        "admin/schedules.html",
        section="schedules",
        rows=coming_day(state, now),
        schedules=state.supervisor.schedules(),
        hours=[now + hour * 3600 for hour in range(0, 24, 6)],
    )


@router.post("/{name}/{order}", name="steer")
async def steer(
    request: Request, state: State, requester: Administrator, name: str, order: schedules.ScheduleOrder
) -> Response:
    """Give an order to a schedule: launch it now, enable, disable, stop or resume it."""
    await schedules.steer(state, requester, name, order)
    return leads_to(request, f"{ADMIN}/schedules", order.value)
