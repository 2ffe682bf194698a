"""Starts and stops a robot at the times of its schedule (portal robot 14)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime

from ultracrawl.errors import UserError, WorkError
from ultracrawl.rules.recrawl.timetable import Action, Appointment, next_appointment
from ultracrawl.service.robot.control import RobotState

LONGEST_SLEEP = 30.0
"""Seconds after which clock and schedule are looked at again: either may have been changed."""
LATE = 120.0
"""Seconds after which a time counts as missed, as when the machine was suspended; what was missed is not made up."""


class ScheduleRunner:
    """Keeps the times of one robot; all that it needs of the world is handed in."""

    def __init__(
        self,
        schedule: Callable[[], Sequence[Appointment]],
        state: Callable[[], RobotState],
        act: Callable[[Action], None],
        say: Callable[[str], None],
        now: Callable[[], datetime] = datetime.now,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._schedule = schedule
        self._state = state
        self._act = act
        self._say = say
        self._now = now
        self._sleep = sleep

    def keep(self) -> None:
        """Act at every time, until there is none any more; what fails is told, and the next time is waited for."""
        moment = self._now()
        while (following := next_appointment(self._schedule(), moment)) is not None:
            at, appointment = following
            left = (at - self._now()).total_seconds()
            if left > 0:
                self._sleep(min(left, LONGEST_SLEEP))
                continue
            moment = at
            if left > -LATE:
                self._obey(appointment.action)

    def _obey(self, action: Action) -> None:
        """Start a robot that is Off, stop one that is not; nothing is done to one that is so already."""
        off = self._state() is RobotState.OFF
        if off is not (action is Action.START):
            self._say(f"{action.value} ignored: the robot is {self._state()}")
            return
        try:
            self._act(action)
        except (UserError, WorkError) as error:
            self._say(f"{action.value} failed: {error}")
        else:
            self._say(f"{action.value}: the robot is {self._state()}")
