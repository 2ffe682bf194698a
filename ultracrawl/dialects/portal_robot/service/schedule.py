"""Starts and stops a robot at the times of its schedule (portal robot 14)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime

from ultracrawl.dialects.portal_robot.service.control import RobotState
from ultracrawl.dialects.portal_robot.timetable import Action, Appointment, next_appointment
from ultracrawl.errors import UserError, WorkError

MAX_SLEEP = 30.0
"""Seconds after which clock and schedule are checked again: either may have changed."""
MISSED_AFTER = 120.0
"""Seconds after which a time counts as missed, as when the machine was suspended; missed times are skipped."""
_AT_REST = frozenset({RobotState.OFF, RobotState.IDLE})
"""States in which a start time begins a run: with `onCompletion=idle` a robot stays after its run."""


def keep_schedule(
    schedule: Callable[[], Sequence[Appointment]],
    state: Callable[[], RobotState],
    act: Callable[[Action], None],
    write_line: Callable[[str], None],
    now: Callable[[], datetime] = datetime.now,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Start and stop a robot at its times, until there are no more.

    An action that does not apply to the state of the robot is ignored; failures are passed to `write_line`.
    """
    moment = now()
    while (following := next_appointment(schedule(), moment)) is not None:
        at, appointment = following
        left = (at - now()).total_seconds()
        if left > 0:
            sleep(min(left, MAX_SLEEP))
            continue
        moment = at
        if left > -MISSED_AFTER:
            write_line(_obey(appointment.action, state, act))


def _obey(action: Action, state: Callable[[], RobotState], act: Callable[[Action], None]) -> str:
    """Start a robot that has nothing to do, or stop one that is not Off; returns a line about the result."""
    now = state()
    applies = now in _AT_REST if action is Action.START else now is not RobotState.OFF
    if not applies:
        return f"{action.value} ignored: the robot is {now}"
    try:
        act(action)
    except (UserError, WorkError) as error:
        return f"{action.value} failed: {error}"
    return f"{action.value}: the robot is {state()}"
