"""The start times of schedules; they depend only on the definition, so that they do not drift."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta, tzinfo
from enum import StrEnum
from typing import Protocol

from cronsim import CronSim, CronSimError

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import AdvisedError

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
LAST_DAY = "last"
"""The last day of a month, whatever its number."""

_EPOCH = date(1970, 1, 5).toordinal()
"""A Monday; days and weeks are counted from it."""
_TIME_OF_DAY = re.compile(r"(\d{1,2})[:.](\d{2})")


class ScheduleError(AdvisedError, ValueError):
    """An invalid time or cron expression."""


class ScheduleTimes(Protocol):
    """The start times of a schedule."""

    def next_after(self, moment: float) -> float:
        """Return the first start time after a moment, both in seconds since the epoch."""


class _LocalZone(tzinfo):
    """The time zone of this machine, as the system knows it now."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        return moment.replace(tzinfo=None).astimezone().utcoffset() if moment else None

    def dst(self, moment: datetime | None) -> timedelta:
        return timedelta()

    def tzname(self, moment: datetime | None) -> str:
        return "local"

    def fromutc(self, moment: datetime) -> datetime:
        return datetime.fromtimestamp(moment.replace(tzinfo=UTC).timestamp()).replace(tzinfo=self)


LOCAL_ZONE = _LocalZone()


class Unit(StrEnum):
    """The unit of a step."""

    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


_SECONDS = {Unit.MINUTE: 60.0, Unit.HOUR: 3600.0}
_NUMBER_OF: dict[Unit, Callable[[date], int]] = {
    Unit.DAY: lambda day: day.toordinal() - _EPOCH,
    Unit.WEEK: lambda day: (day.toordinal() - _EPOCH) // 7,
    Unit.MONTH: lambda day: day.year * 12 + day.month - 1,
}


@dataclass(frozen=True, slots=True)
class Step:
    """A number of minutes, hours, days, weeks or months."""

    number: int
    unit: Unit

    def __str__(self) -> str:
        """Return the step in the syntax of definitions."""
        return f"{self.number} {self.unit}{'s' if self.number > 1 else ''}"

    @property
    def is_calendar_step(self) -> bool:
        """Whether the unit is days, weeks or months."""
        return self.unit in _NUMBER_OF

    def includes(self, day: date) -> bool:
        """Return whether a day is in the step; all schedules count from the same day.

        Weeks begin on Monday, months are counted from a January.
        """
        return _NUMBER_OF[self.unit](day) % self.number == 0


@dataclass(frozen=True, slots=True)
class IntervalTimes:
    """Every `seconds` seconds since the epoch in UTC, regardless of summer time."""

    seconds: float

    def next_after(self, moment: float) -> float:
        """Return the first start time after a moment."""
        return (moment // self.seconds + 1) * self.seconds


@dataclass(frozen=True, slots=True)
class CalendarTimes:
    """Times of days in a time zone, as cron expressions.

    A time of day skipped at the beginning of summer time is that beginning; one that occurs
    twice is the first of the two. If minutes or hours are `*` or `*/n`, elapsed time counts, as in cron.
    """

    expressions: tuple[str, ...]
    zone: tzinfo | None = None
    """None is UTC."""
    step: Step = Step(1, Unit.DAY)

    def next_after(self, moment: float) -> float:
        """Return the first start time after a moment."""
        local = datetime.fromtimestamp(moment, self.zone or UTC)
        return min(self._first(expression, local, moment) for expression in self.expressions)

    def _first(self, expression: str, local: datetime, moment: float) -> float:
        for time in CronSim(expression, local):
            if time.timestamp() > moment and self.step.includes(time.date()):
                return time.timestamp()
        raise ScheduleError(f"`{expression}` has no time in the next 50 years", "write another one")


def check_expression(expression: str) -> None:
    """Raise `ScheduleError` unless this is a cron expression of five fields that matches some time."""
    if len(expression.split()) != 5:  # CronSim also accepts a sixth field for seconds
        raise ScheduleError(f"`{expression}` is no cron expression: it does not have five fields", _FIELDS)
    try:
        next(CronSim(expression, datetime(2024, 1, 1, tzinfo=UTC)))
    except CronSimError as error:
        reason = str(error)[:1].lower() + str(error)[1:]
        raise ScheduleError(f"`{expression}` is no cron expression: {reason}", _FIELDS) from None
    except StopIteration:
        raise ScheduleError(f"`{expression}` never occurs", _FIELDS) from None


_FIELDS = "write minute, hour, day of the month, month and day of the week, as `0 3 * * *`"


def parse_time_of_day(text: str) -> tuple[int, int]:
    """Return hour and minute of `03:30`. Raises `ScheduleError`."""
    match = _TIME_OF_DAY.fullmatch(text.strip())
    if match is None or int(match[1]) > 23 or int(match[2]) > 59:
        raise ScheduleError(f"`{text}` is no time of day", "write it as `03:30`, in quotes")
    return int(match[1]), int(match[2])


def calendar_times(
    step: Step, days: Iterable[str], times: Iterable[tuple[int, int]], zone: tzinfo | None
) -> CalendarTimes:
    """Return times on days of a step: `days` are weekdays for weeks, days of the month for months, empty for days."""
    chosen = tuple(days)
    month = ",".join("L" if day == LAST_DAY else day for day in chosen) if step.unit is Unit.MONTH else "*"
    week = ",".join(day.upper() for day in chosen) if step.unit is Unit.WEEK else "*"
    expressions = tuple(f"{minute} {hour} {month} * {week}" for hour, minute in sorted(set(times)))
    return CalendarTimes(expressions, zone, step)


def interval_times(step: Step) -> IntervalTimes:
    """Return the start times of a step of minutes or hours."""
    return IntervalTimes(step.number * _SECONDS[step.unit])
