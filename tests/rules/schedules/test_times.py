"""The times of schedules: every n hours, days, weeks, months, cron expressions, daylight saving."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from support.sentences import sentence

from ultracrawl.rules.schedules.times import (
    LOCAL_ZONE,
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

BERLIN = ZoneInfo("Europe/Berlin")
LORD_HOWE = ZoneInfo("Australia/Lord_Howe")
"""Its summer time is half an hour."""


def times_of(times: ScheduleTimes, begin: str, number: int, zone: ZoneInfo | None = None) -> list[str]:
    """The first times after a moment of a zone, as its clocks show them."""
    moment, found = datetime.fromisoformat(begin).replace(tzinfo=zone or UTC).timestamp(), list[str]()
    for _ in range(number):
        moment = times.next_after(moment)
        found.append(datetime.fromtimestamp(moment, zone or UTC).isoformat(timespec="minutes"))
    return found


def test_hourly__ultra_search_112() -> None:
    every = interval_times(Step(6, Unit.HOUR))
    assert times_of(every, "2026-03-28T23:10", 3) == [
        "2026-03-29T00:00+00:00",
        "2026-03-29T06:00+00:00",
        "2026-03-29T12:00+00:00",
    ]


def test_hourly_through_summer_time__ultra_search_112() -> None:
    every, moments = interval_times(Step(5, Unit.HOUR)), [1_774_000_000.0]
    for _ in range(60):
        moments.append(every.next_after(moments[-1]))
    assert {after - before for before, after in pairwise(moments[1:])} == {5 * 3600.0}


def test_daily__ultra_search_112() -> None:
    every = calendar_times(Step(2, Unit.DAY), (), [(3, 30), (15, 0)], BERLIN)
    found = times_of(every, "2026-06-01T00:00", 4, BERLIN)
    assert [one[8:16] for one in found] in (
        ["01T03:30", "01T15:00", "03T03:30", "03T15:00"],
        ["02T03:30", "02T15:00", "04T03:30", "04T15:00"],
    )
    assert times_of(every, found[1][:16], 2, BERLIN) == found[2:], "nothing shifts them"


def test_weekly__ultra_search_112() -> None:
    every = calendar_times(Step(2, Unit.WEEK), ("mon", "thu"), [(4, 0)], BERLIN)
    found = [datetime.fromisoformat(one) for one in times_of(every, "2026-01-01T00:00", 6, BERLIN)]
    assert [one.strftime("%a") for one in found[found[0].weekday() != 0 :]][:4] == [
        "Mon",
        "Thu",
        "Mon",
        "Thu",
    ]
    mondays = [one.date() for one in found if one.weekday() == 0]
    assert {(after - before).days for before, after in pairwise(mondays)} == {14}


def test_monthly__ultra_search_112() -> None:
    every = calendar_times(Step(3, Unit.MONTH), ("15", "last"), [(4, 0)], BERLIN)
    assert times_of(every, "2026-02-01T00:00", 4, BERLIN) == [
        "2026-04-15T04:00+02:00",
        "2026-04-30T04:00+02:00",
        "2026-07-15T04:00+02:00",
        "2026-07-31T04:00+02:00",
    ]


def test_a_month_without_the_day_is_left_out() -> None:
    every = calendar_times(Step(1, Unit.MONTH), ("31",), [(0, 0)], None)
    assert [one[:10] for one in times_of(every, "2026-01-31T00:00", 3)] == [
        "2026-03-31",
        "2026-05-31",
        "2026-07-31",
    ]


def test_a_leap_day_comes() -> None:
    (found,) = times_of(CalendarTimes(("0 0 29 2 *",)), "2026-01-01T00:00", 1)
    assert found == "2028-02-29T00:00+00:00"


@pytest.mark.parametrize(
    ("zone", "begin", "expression", "expected"),
    [
        (BERLIN, "2026-03-28T12:00", "30 2 * * *", ["2026-03-29T03:00+02:00", "2026-03-30T02:30+02:00"]),
        (BERLIN, "2026-10-24T12:00", "30 2 * * *", ["2026-10-25T02:30+02:00", "2026-10-26T02:30+01:00"]),
        (
            BERLIN,
            "2026-10-25T01:40",
            "*/30 * * * *",
            [
                "2026-10-25T02:00+02:00",
                "2026-10-25T02:30+02:00",
                "2026-10-25T02:00+01:00",
                "2026-10-25T02:30+01:00",
                "2026-10-25T03:00+01:00",
            ],
        ),
        (
            LORD_HOWE,
            "2026-10-03T12:00",
            "15 2 * * *",
            ["2026-10-04T02:30+11:00", "2026-10-05T02:15+11:00"],
        ),
    ],
)
def test_daylight_saving(zone: ZoneInfo, begin: str, expression: str, expected: list[str]) -> None:
    """A time that does not exist is that at which summer time begins; one that exists twice is the first."""
    assert times_of(CalendarTimes((expression,), zone), begin, len(expected), zone) == expected


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo"])
@pytest.mark.parametrize("expression", ["30 2 * * *", "0 0 * * *", "0 3 * * *", "59 23 * * *"])
def test_a_daily_time_comes_once_on_each_of_two_years_of_days(zone: str, expression: str) -> None:
    times, moment = CalendarTimes((expression,), ZoneInfo(zone)), 1_767_225_600.0
    days = []
    for _ in range(730):
        moment = times.next_after(moment)
        days.append(datetime.fromtimestamp(moment, ZoneInfo(zone)).date().toordinal())
    assert days == list(range(days[0], days[0] + 730))


def test_the_second_of_two_equal_times_leads_to_the_next_day() -> None:
    second = datetime(2026, 10, 25, 2, 40, tzinfo=BERLIN, fold=1).timestamp()
    found = CalendarTimes(("30 2 * * *",), BERLIN).next_after(second)
    assert datetime.fromtimestamp(found, BERLIN).isoformat() == "2026-10-26T02:30:00+01:00"


def test_the_local_zone_is_that_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        for begin in ("2026-03-28T12:00", "2026-10-24T12:00", "2026-10-25T01:40", "2026-06-01T12:00"):
            for expression in ("30 2 * * *", "*/30 * * * *", "0 22 * * fri,sat"):
                moment = datetime.fromisoformat(begin).replace(tzinfo=BERLIN).timestamp()
                local, named = (CalendarTimes((expression,), zone) for zone in (LOCAL_ZONE, BERLIN))
                for _ in range(5):
                    assert local.next_after(moment) == named.next_after(moment)
                    moment = named.next_after(moment)
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    "text", ["* * * *", "0 0 3 * * *", "0 25 * * *", "@daily", "", "0 0 30 2 *", "a b c d e"]
)
def test_what_is_no_cron_expression_says_what_to_write(text: str) -> None:
    with pytest.raises(ScheduleError, match=sentence("schedules.minute_hour_day_month")):
        check_expression(text)


@pytest.mark.parametrize(("text", "time"), [("03:30", (3, 30)), ("3.05", (3, 5)), ("23:59", (23, 59))])
def test_times_of_day(text: str, time: tuple[int, int]) -> None:
    assert parse_time_of_day(text) == time


@pytest.mark.parametrize("text", ["24:00", "3", "03:60", "3 pm", "-1:00"])
def test_what_is_no_time_of_day_says_what_to_write(text: str) -> None:
    with pytest.raises(ScheduleError, match="03:30"):
        parse_time_of_day(text)
