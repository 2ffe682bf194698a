"""The days and times at which a robot is started and stopped (portal robot 14)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import AdvisedError
from ultracrawl.rules.schedules.times import LOCAL_ZONE, CalendarTimes

DAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
"""Days of the week as schedules write them."""

_TIME = re.compile(r"(?P<hour>\d{1,2}):(?P<minute>\d{2})\s*(?P<half>am|pm)", re.IGNORECASE)


class ScheduleError(AdvisedError, ValueError):
    """An invalid time or day."""


class Action(StrEnum):
    """The action at a time."""

    START = "start"
    STOP = "stop"


def parse_time(text: str) -> tuple[int, int]:
    """Return hour (0 to 23) and minute of `hh:mm am` or `hh:mm pm`: 12:00 am is midnight, 12:00 pm noon.

    Raises `ScheduleError`.
    """
    match = _TIME.fullmatch(text.strip())
    if match is None or not 1 <= int(match["hour"]) <= 12 or int(match["minute"]) > 59:
        raise ScheduleError(f"`{text}` is no time", "write it as `10:30 pm`")
    is_pm = match["half"].lower() == "pm"
    return int(match["hour"]) % 12 + 12 * is_pm, int(match["minute"])


def parse_days(text: str) -> frozenset[str]:
    """Parse a comma-separated list of days. Raises `ScheduleError` if it is empty or a day is invalid."""
    days = [part.strip().capitalize() for part in text.split(",") if part.strip()]
    invalid = [day for day in days if day not in DAYS]
    if invalid or not days:
        problem = f"`{invalid[0]}` is no day" if invalid else "no day is given"
        raise ScheduleError(problem, f"write days as `{','.join(DAYS)}`")
    return frozenset(days)


@dataclass(frozen=True, slots=True)
class Appointment:
    """An action at a time of day on at least one day of the week."""

    action: Action
    hour: int
    minute: int
    days: frozenset[str]

    def __str__(self) -> str:
        """Return the time in the syntax of schedules."""
        half, hour = ("pm" if self.hour >= 12 else "am"), self.hour % 12 or 12
        return f"{hour}:{self.minute:02} {half} {','.join(day for day in DAYS if day in self.days)}"

    @property
    def cron(self) -> str:
        """The cron expression of the time."""
        return f"{self.minute} {self.hour} * * {','.join(day for day in DAYS if day in self.days)}"

    def after(self, moment: datetime) -> datetime:
        """Return the first time after a moment, both local."""
        times = CalendarTimes((self.cron,), LOCAL_ZONE)
        return datetime.fromtimestamp(times.next_after(moment.timestamp()))


def next_appointment(
    appointments: Iterable[Appointment], moment: datetime
) -> tuple[datetime, Appointment] | None:
    """Return the first appointment after a moment; of two at the same time the stop, so that a robot is restarted."""
    upcoming = [
        (appointment.after(moment), appointment.action is Action.START, number, appointment)
        for number, appointment in enumerate(appointments)
    ]
    if not upcoming:
        return None
    at, _, _, first = min(upcoming, key=lambda item: item[:3])
    return at, first
