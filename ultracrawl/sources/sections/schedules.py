"""The `schedules` section of a project (when sources are crawled), and `index.optimise`."""

import re
from collections.abc import Callable
from datetime import tzinfo
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from ultracrawl.rules.schedules.times import (
    LAST_DAY,
    LOCAL_ZONE,
    WEEKDAYS,
    CalendarTimes,
    ScheduleError,
    ScheduleTimes,
    Step,
    Unit,
    calendar_times,
    check_expression,
    interval_times,
    parse_time_of_day,
)
from ultracrawl.rules.schedules.window import RunWindow, parse_span
from ultracrawl.sources.durations import Interval
from ultracrawl.sources.mistakes import format_value, mistake, suggestion
from ultracrawl.sources.sections.section import Editable, Section
from ultracrawl.sources.values import NodeName, one_or_list

_EVERY = re.compile(r"(?:(\d{1,4})\s*)?([a-z]*)", re.IGNORECASE)
_UNITS = {
    **dict.fromkeys(("", "m", "min", "minute", "minutes"), Unit.MINUTE),
    **dict.fromkeys(("h", "hour", "hours"), Unit.HOUR),
    **dict.fromkeys(("d", "day", "days"), Unit.DAY),
    **dict.fromkeys(("w", "week", "weeks"), Unit.WEEK),
    **dict.fromkeys(("month", "months"), Unit.MONTH),
}
_ADVERBS = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month"}
"""What to write for words that name no unit."""
_LONG_WEEKDAYS = frozenset({
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
})  # fmt: skip
_MIDNIGHT = (0, 0)
_LOCAL = "local"
"""The name of the time zone of the machine."""


def _parse_step(value: object) -> object:
    if value is None or isinstance(value, Step):
        return value
    text = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else "?"
    found = _EVERY.fullmatch(text)
    unit = _UNITS.get(found[2].lower()) if found else None
    number = int(found[1] or 1) if found else 0
    if unit is None or not number or not text:
        meant = _ADVERBS.get(text.lower())
        raise mistake(
            f"{format_value(value)} is not how often a schedule is launched",
            f"write `{meant}`"
            if meant
            else "write a number of minutes, or one with min, h, d, w or months, as `6 h`",
        )
    return Step(number, unit)


def _checked(check: Callable[[str], object]) -> AfterValidator:
    """Return a validator of texts that `check` must accept; it raises `ScheduleError` for others."""

    def pass_text(text: str) -> str:
        try:
            check(text)
        except ScheduleError as error:
            raise mistake(error.problem, error.instead) from None
        return text

    return AfterValidator(pass_text)


def _check_window(text: str) -> str:
    try:
        parse_span(text)
    except ValueError as error:
        raise mistake(
            f"{format_value(text)} is no window: {error}",
            "write it as `22:00-06:00`, or as `Fri:22.00-Mon:06.00`",
        ) from None
    return text


def _check_zone(name: str) -> str:
    try:
        _zone(name)
    except (ValueError, OSError, LookupError):
        otherwise = "write one of the time zone database, as `Europe/Berlin`"
        raise mistake(
            f"{format_value(name)} is no time zone", suggestion(name, available_timezones(), otherwise)
        ) from None
    return name


def _zone(name: str) -> tzinfo | None:
    """Return a time zone; None is UTC. Raises `ValueError`, `OSError`, `LookupError` if there is none of that name."""
    return {"UTC": None, _LOCAL: LOCAL_ZONE}[name] if name in {"UTC", _LOCAL} else ZoneInfo(name)


def _parse_day(value: object) -> object:
    """Return a weekday as its first three letters, a day of the month as its number, or `last`."""
    text = str(value).strip().lower()
    if text in WEEKDAYS or text in _LONG_WEEKDAYS:
        return text[:3]
    if text == LAST_DAY or (text.isdecimal() and 1 <= int(text) <= 31):
        return str(int(text)) if text.isdecimal() else text
    raise mistake(
        f"{format_value(value)} is neither a day of the week nor of the month", "write `mon`, `15` or `last`"
    )


Every = Annotated[
    Step | None,
    BeforeValidator(_parse_step),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}, {"type": "null"}]}),
]
"""A repetition interval: minutes, or a text with a unit."""
Cron = Annotated[str, _checked(check_expression)]
TimeOfDay = Annotated[str, _checked(parse_time_of_day)]
Day = Annotated[
    str, BeforeValidator(_parse_day), WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "integer"}]})
]
WindowSpan = Annotated[str, AfterValidator(_check_window)]
SourceReference = Annotated[str, Field(min_length=1, max_length=100)]


class TimesSection(Section):
    """Times at which something is done: either `cron`, or `every` with `at` and `on`."""

    cron: Editable[Annotated[tuple[Cron, ...], one_or_list(Cron)]] = Field(default=(), examples=["0 3 * * *"])
    """Cron expressions: minute, hour, day of the month, month, day of the week."""
    every: Editable[Every] = Field(default=None, examples=["6 h"])
    """Interval: minutes, or a number with min, h, d, w or months. The number 1 may be omitted, as in `week`."""
    at: Editable[Annotated[tuple[TimeOfDay, ...], one_or_list(TimeOfDay)]] = Field(
        default=(), examples=["03:30"]
    )
    """Times of day, for intervals of days, weeks and months. None: midnight."""
    on: Editable[Annotated[tuple[Day, ...], one_or_list(Day, types=(str, int))]] = Field(
        default=(), examples=[["mon", "thu"]]
    )
    """Weekdays, for weeks (none: Monday); days of the month or `last`, for months (none: the first)."""
    timezone: Editable[Annotated[str, AfterValidator(_check_zone)]] = Field(
        default="UTC", examples=["Europe/Berlin"]
    )
    """The time zone of `cron`, `at`, `stop` and `window`; `local`: that of the machine."""

    @property
    def zone(self) -> tzinfo | None:
        """The time zone; None is UTC."""
        return _zone(self.timezone)

    @property
    def times(self) -> ScheduleTimes:
        """The compiled times; the section must have passed `check_times`."""
        if self.cron:
            return CalendarTimes(self.cron, self.zone)
        step = self.every
        assert step is not None
        if not step.is_calendar_step:
            return interval_times(step)
        days = self.on or {Unit.WEEK: ("mon",), Unit.MONTH: ("1",)}.get(step.unit, ())
        return calendar_times(step, days, [*map(parse_time_of_day, self.at)] or [_MIDNIGHT], self.zone)


class ScheduleSection(TimesSection):
    """Sources that are crawled at the same times."""

    sources: Editable[Annotated[tuple[SourceReference, ...], one_or_list(SourceReference)]] = Field(
        default=(), examples=[["handbook", "intranet"]]
    )
    """The names of the sources. Each belongs to at most one schedule."""
    mode: Editable[Literal["accept-all", "examine", "index-only"] | None] = Field(
        default=None, examples=["examine"]
    )
    """Overrides `crawling_mode` of the sources."""
    force: Editable[bool] = Field(default=False, examples=[True])
    """Fetch and index every page again, changed or not."""
    missed: Editable[Literal["run", "skip"]] = Field(default="run", examples=["skip"])
    """What to do about launch times missed while nothing ran: run once immediately (`run`), or nothing (`skip`)."""
    window: Editable[Annotated[tuple[WindowSpan, ...], one_or_list(WindowSpan)]] = Field(
        default=(), examples=["22:00-06:00"]
    )
    """When the crawls of the schedule may run: times of every day, or spans of the week. Outside of them crawls wait;
    at the end they are stopped."""
    stop: Editable[Annotated[tuple[Cron, ...], one_or_list(Cron)]] = Field(
        default=(), examples=["0 6 * * sat"]
    )
    """Cron expressions of the times at which crawls of the schedule are stopped. The next launch continues them."""
    repeat: Editable[bool] = Field(default=False, examples=[True])
    """Launch the schedule again as soon as its run has ended, until the next stop time."""
    enabled: Editable[bool] = Field(default=True, examples=[False])
    """Launch the schedule at its times. `ultracrawl schedule launch` works even if this is off."""
    profile: str = Field(default="", examples=["north"])
    """The profile of the machine on which the crawls of the schedule run. Empty: this machine."""
    node: NodeName = Field(default="", examples=["crawler-a"])
    """The node that alone runs the schedule. Empty: any."""

    @property
    def stop_times(self) -> ScheduleTimes | None:
        """The compiled `stop`; None if there are no stop times."""
        return CalendarTimes(self.stop, self.zone) if self.stop else None

    @property
    def run_window(self) -> RunWindow:
        """The compiled `window`."""
        return RunWindow((span for text in self.window for span in parse_span(text)), self.zone)


class OptimiseSection(TimesSection):
    """When the index is optimised: its segments are merged, and the space of deleted documents is freed."""

    limit: Interval = Field(default=None, examples=["1 h"])
    """Maximum duration; unfinished work waits for the next time. None: no limit."""
