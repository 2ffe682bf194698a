"""The days and times of day at which a robot is started and stopped (portal robot 14)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from ultracrawl.errors import AdvisedError

DAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
"""Days of the week as schedules write them."""

_TIME = re.compile(r"(?P<hour>\d{1,2}):(?P<minute>\d{2})\s*(?P<half>am|pm)", re.IGNORECASE)
_WEEK = 7


class ScheduleError(AdvisedError, ValueError):
    """A time or a day that is none."""


class Action(StrEnum):
    """What is to happen at a time."""

    START = "start"
    STOP = "stop"


def parse_time(text: str) -> tuple[int, int]:
    """Return hour (0 to 23) and minute of `hh:mm am` or `hh:mm pm`: 12:00 am is midnight, 12:00 pm noon.

    Raises `ScheduleError`.
    """
    found = _TIME.fullmatch(text.strip())
    if found is None or not 1 <= int(found["hour"]) <= 12 or int(found["minute"]) > 59:
        raise ScheduleError(f"`{text}` is no time", "write it as `10:30 pm`")
    afternoon = found["half"].lower() == "pm"
    return int(found["hour"]) % 12 + 12 * afternoon, int(found["minute"])


def parse_days(text: str) -> frozenset[str]:
    """Return the days of a list with commas. Raises `ScheduleError` if there is none, or one is no day."""
    named = [part.strip().capitalize() for part in text.split(",") if part.strip()]
    wrong = [day for day in named if day not in DAYS]
    if wrong or not named:
        problem = f"`{wrong[0]}` is no day" if wrong else "no day is given"
        raise ScheduleError(problem, f"write days as `{','.join(DAYS)}`")
    return frozenset(named)


@dataclass(frozen=True, slots=True)
class Appointment:
    """An action at a time of some days; at least one day."""

    action: Action
    hour: int
    minute: int
    days: frozenset[str]

    def __str__(self) -> str:
        """Return it as the schedule writes it."""
        half, hour = ("pm" if self.hour >= 12 else "am"), self.hour % 12 or 12
        return f"{hour}:{self.minute:02} {half} {','.join(day for day in DAYS if day in self.days)}"

    def after(self, moment: datetime) -> datetime:
        """Return its first time after a moment, both local."""
        for later in range(_WEEK + 1):
            day = moment + timedelta(days=later)
            at = day.replace(hour=self.hour, minute=self.minute, second=0, microsecond=0)
            if at > moment and DAYS[(at.weekday() + 1) % _WEEK] in self.days:
                return at
        raise AssertionError("a week has every day")


def next_appointment(
    appointments: Iterable[Appointment], moment: datetime
) -> tuple[datetime, Appointment] | None:
    """Return what comes first after a moment; of two at the same time the stop, so that a robot is started anew."""
    coming = [
        (one.after(moment), one.action is Action.START, number, one)
        for number, one in enumerate(appointments)
    ]
    if not coming:
        return None
    at, _, _, first = min(coming, key=lambda one: one[:3])
    return at, first
