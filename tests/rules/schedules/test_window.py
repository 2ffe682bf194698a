"""When crawls of a schedule may run."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from ultracrawl.rules.schedules.window import RunWindow, parse_span

BERLIN = ZoneInfo("Europe/Berlin")


def window(*texts: str) -> RunWindow:
    return RunWindow((span for text in texts for span in parse_span(text)), BERLIN)


def at(text: str, fold: int = 0) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN, fold=fold).timestamp()


@pytest.mark.parametrize(
    ("moment", "opened"),
    [
        ("2026-06-01T21:59", False),
        ("2026-06-01T22:00", True),
        ("2026-06-02T05:59", True),
        ("2026-06-02T06:00", False),
    ],
)
def test_each_day_through_midnight(moment: str, opened: bool) -> None:
    assert window("22:00-06:00").is_open(at(moment)) is opened


def test_it_opens_and_closes() -> None:
    night = window("22:00-06:00")
    assert night.opens(at("2026-06-01T12:00")) == at("2026-06-01T22:00")
    assert night.opens(at("2026-06-01T23:00")) == at("2026-06-01T23:00")
    assert night.closes(at("2026-06-01T23:00")) == at("2026-06-02T06:00")


def test_spans_of_the_week_that_touch_are_one() -> None:
    weekend = window("Fri:22.00-Sat:12.00", "Sat:12.00-Mon:06.00")
    assert weekend.opens(at("2026-06-03T12:00")) == at("2026-06-05T22:00")
    assert weekend.closes(at("2026-06-05T22:00")) == at("2026-06-08T06:00")


def test_without_one_crawls_may_always_run() -> None:
    assert window().is_open(0.0)
    assert window().opens(5.0) == 5.0
    assert window().closes(5.0) is None


def test_one_of_the_whole_week_never_closes() -> None:
    assert window("00:00-12:00", "12:00-24:00").closes(at("2026-06-01T12:00")) is None


def test_it_closes_by_the_clock_of_its_zone_when_summer_time_ends() -> None:
    night = window("01:00-04:00")
    assert night.closes(at("2026-10-25T01:30")) == at("2026-10-25T04:00")
    assert night.closes(at("2026-10-25T01:30")) - at("2026-10-25T01:30") == 3.5 * 3600


@pytest.mark.parametrize("text", ["25:00-01:00", "22:00", "Mon:12-Mon:12", "x"])
def test_what_is_none_says_so(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the reason is shown behind the text
        parse_span(text)
