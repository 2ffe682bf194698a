"""Routes for schedules: their states, and orders for them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import StrEnum

from fastapi import APIRouter
from starlette.responses import Response

from ultracrawl.errors import NotFoundError
from ultracrawl.service.api import answers as shapes
from ultracrawl.service.api.access import Administrator, Reader, State
from ultracrawl.service.api.problems import json_answer
from ultracrawl.service.api.sources import carried_out
from ultracrawl.service.orders import ScheduleState, Supervision
from ultracrawl.service.schedules.schedule_status import state_as_json

router = APIRouter(tags=["schedules"])


class ScheduleOrder(StrEnum):
    """The orders for a schedule."""

    LAUNCH = "launch"
    ENABLE = "enable"
    DISABLE = "disable"
    STOP = "stop"
    RESUME = "resume"


_METHODS: dict[ScheduleOrder, Callable[[Supervision, str], Awaitable[None]]] = {
    ScheduleOrder.LAUNCH: lambda supervisor, name: supervisor.launch_schedule(name),
    ScheduleOrder.ENABLE: lambda supervisor, name: supervisor.enable_schedule(name),
    ScheduleOrder.DISABLE: lambda supervisor, name: supervisor.disable_schedule(name),
    ScheduleOrder.STOP: lambda supervisor, name: supervisor.stop_schedule(name),
    ScheduleOrder.RESUME: lambda supervisor, name: supervisor.resume_schedule(name),
}


@router.get("/schedules", responses=shapes.answers(shapes.Schedules))
async def schedules(state: State, _requester: Reader) -> Response:
    """Return the states of all schedules."""
    return json_answer({"schedules": [state_as_json(schedule) for schedule in state.supervisor.schedules()]})


@router.post("/schedules/{name}/{order}", status_code=202, responses=shapes.answers(shapes.Schedule, 202))
async def steer(state: State, _requester: Administrator, name: str, order: ScheduleOrder) -> Response:
    """Give an order to a schedule: launch it now, enable, disable, stop or resume it."""
    _state_of(state.supervisor, name)
    await carried_out(_METHODS[order](state.supervisor, name))
    return json_answer(state_as_json(_state_of(state.supervisor, name)), 202)


def _state_of(supervisor: Supervision, name: str) -> ScheduleState:
    for schedule in supervisor.schedules():
        if schedule.name == name:
            return schedule
    raise NotFoundError(f"no schedule is named {name!r}")
