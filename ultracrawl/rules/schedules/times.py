"""The times at which a schedule is launched: a pure function of what is written, so that nothing shifts them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Protocol
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from ultracrawl.errors import AdvisedError

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
LAST_DAY = "last"
"""The last day of a month, whatever its number."""

_EPOCH = date(1970, 1, 5).toordinal()
"""A Monday: days and weeks are counted from it."""
_TIME_OF_DAY = re.compile(r"(\d{1,2})[:.](\d{2})")


class ScheduleError(AdvisedError, ValueError):
    """What stands for a time is none."""


class ScheduleTimes(Protocol):
    """The times of a schedule."""

    def next_after(self, moment: float) -> float:
        """Return the first time after a moment, both in seconds since 1970."""


class Unit(StrEnum):
    """What a schedule counts."""

    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"


_SECONDS = {Unit.MINUTE: 60.0, Unit.HOUR: 3600.0}
_COUNTS: dict[Unit, Callable[[date], int]] = {
    Unit.DAY: lambda day: day.toordinal() - _EPOCH,
    Unit.WEEK: lambda day: (day.toordinal() - _EPOCH) // 7,
    Unit.MONTH: lambda day: day.year * 12 + day.month - 1,
}


@dataclass(frozen=True, slots=True)
class Step:
    """Every how many minutes, hours, days, weeks or months."""

    number: int
    unit: Unit

    def __str__(self) -> str:
        """Return it as definitions write it."""
        return f"{self.number} {self.unit}{'s' if self.number > 1 else ''}"

    @property
    def of_the_calendar(self) -> bool:
        """Whether days are counted, each of which has times of its own."""
        return self.unit in _COUNTS

    def includes(self, day: date) -> bool:
        """Return whether a day is one that counts; all schedules of a step count from the same day.

        Weeks begin on Monday. Months are counted from a January.
        """
        return _COUNTS[self.unit](day) % self.number == 0


@dataclass(frozen=True, slots=True)
class IntervalTimes:
    """Every so many seconds, counted from the beginning of 1970 in UTC: summer time changes nothing."""

    seconds: float

    def next_after(self, moment: float) -> float:
        """Return the first time after a moment."""
        return (moment // self.seconds + 1) * self.seconds


@dataclass(frozen=True, slots=True)
class CalendarTimes:
    """Times of days in a time zone, as cron expressions.

    A time of day that does not exist, because summer time begins, is the moment at which it begins; one that exists
    twice is the first of the two. Where minutes or hours are `*` or `*/n` true time counts, as in cron.
    """

    expressions: tuple[str, ...]
    zone: ZoneInfo | None = None
    """None is UTC."""
    step: Step = Step(1, Unit.DAY)

    def next_after(self, moment: float) -> float:
        """Return the first time after a moment."""
        local = datetime.fromtimestamp(moment, self.zone or UTC)
        return min(self._first(expression, local, moment) for expression in self.expressions)

    def _first(self, expression: str, local: datetime, moment: float) -> float:
        for found in CronSim(expression, local):
            if found.timestamp() > moment and self.step.includes(found.date()):
                return found.timestamp()
        raise ScheduleError(f"`{expression}` has no time in the next 50 years", "write another one")


def check_expression(expression: str) -> None:
    """Raise `ScheduleError` for what is no cron expression of five fields, or never comes."""
    if len(expression.split()) != 5:  # a sixth one for seconds would be understood
        raise ScheduleError(f"`{expression}` is no cron expression: it has not five fields", _FIELDS)
    try:
        next(CronSim(expression, datetime(2024, 1, 1, tzinfo=UTC)))
    except CronSimError as error:
        reason = str(error)[:1].lower() + str(error)[1:]
        raise ScheduleError(f"`{expression}` is no cron expression: {reason}", _FIELDS) from None
    except StopIteration:
        raise ScheduleError(f"`{expression}` never comes", _FIELDS) from None


_FIELDS = "write minute, hour, day of the month, month and day of the week, as `0 3 * * *`"


def parse_time_of_day(text: str) -> tuple[int, int]:
    """Return hour and minute of `03:30`. Raises `ScheduleError`."""
    found = _TIME_OF_DAY.fullmatch(text.strip())
    if found is None or int(found[1]) > 23 or int(found[2]) > 59:
        raise ScheduleError(f"`{text}` is no time of day", "write it as `03:30`, in quotes")
    return int(found[1]), int(found[2])


def calendar_times(
    step: Step, days: Iterable[str], times: Iterable[tuple[int, int]], zone: ZoneInfo | None
) -> CalendarTimes:
    """Return the times of some days of a step: weekdays of weeks, days of months, none for days."""
    chosen = tuple(days)
    month = ",".join("L" if day == LAST_DAY else day for day in chosen) if step.unit is Unit.MONTH else "*"
    week = ",".join(day.upper() for day in chosen) if step.unit is Unit.WEEK else "*"
    expressions = tuple(f"{minute} {hour} {month} * {week}" for hour, minute in sorted(set(times)))
    return CalendarTimes(expressions, zone, step)


def interval_times(step: Step) -> IntervalTimes:
    """Return the times of a step of minutes or hours."""
    return IntervalTimes(step.number * _SECONDS[step.unit])
