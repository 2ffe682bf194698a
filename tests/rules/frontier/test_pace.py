"""How fast a site may be asked: time spans, back-off, Retry-After, slow answers, delays combined."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.frontier import made_frontier

from ultracrawl.rules.frontier.frontier import Frontier
from ultracrawl.rules.frontier.politeness.backoff import BackOff
from ultracrawl.rules.frontier.politeness.clock import Clock
from ultracrawl.rules.frontier.politeness.pace import Pace
from ultracrawl.rules.frontier.politeness.retry_after import retry_after
from ultracrawl.rules.frontier.politeness.windows import WEEK, Span, Week

MONDAY = datetime(2026, 11, 16, tzinfo=UTC)


class Entry(NamedTuple):
    site: str
    number: int


def week(**spans: float | None) -> Week:
    return Week([Span.parse(text.replace("_", "-"), delay) for text, delay in spans.items()], zone=UTC)


def wall(day: int, hour: int, minute: int = 0) -> float:
    return (MONDAY + timedelta(days=day, hours=hour, minutes=minute)).timestamp()


# ---- time spans

BUSY = week(**{"Wed:09-Wed:19": 20.0, "Wed:12.30-Wed:13": None})


@pytest.mark.parametrize(
    ("hour", "minute", "suspended", "delay"),
    [(8, 59, False, None), (9, 0, False, 20), (12, 45, True, 20), (13, 0, False, 20), (19, 0, False, None)],
    ids=["before", "begin is inside", "suspend first", "suspension over", "end is outside"],
)
def test_fast_180_spans_of_the_week(hour: int, minute: int, suspended: bool, delay: float | None) -> None:
    rate = BUSY.at(wall(2, hour, minute))
    assert (rate.suspended, rate.delay) == (suspended, delay)


@pytest.mark.parametrize(
    ("spans", "at", "expected"),
    [
        ({"Sat:00-Mon:06.00": 0.5}, wall(0, 5, 59), 0.5),
        ({"Sat:00-Mon:06.00": 0.5}, wall(0, 6), None),
        ({"Sat:00-Mon:06.00": 0.5}, wall(6, 23, 59), 0.5),
        ({"Mon:08.30-Mon:17.45": 30.0, "Mon:17-Mon:18": 60.0}, wall(0, 17, 30), 60.0),
        ({"Mon:08.30-Mon:17.45": 30.0, "Mon:17-Mon:18": 6.0}, wall(0, 17, 30), 30.0),
        ({"sun:00-sun:24": 9.0}, wall(6, 23, 59), 9.0),
        ({"sun:00-sun:24": 9.0}, wall(7, 0), None),
        ({"mon:00-sun:24": 9.0}, wall(3, 12), 9.0),
    ],
    ids=[
        "wraps",
        "wraps, end",
        "before the wrap",
        "larger of two",
        "larger first",
        "to midnight",
        "after",
        "all",
    ],
)
def test_fast_180_week_end_wrap_and_overlap(
    spans: dict[str, float], at: float, expected: float | None
) -> None:
    assert week(**spans).at(at).delay == expected


@pytest.mark.parametrize(
    "text",
    ["Mon:08", "Mon:25-Tue:01", "Mon:08.60-Mon:09", "Foo:08-Mon:09", "Mon:08-Mon:08", "Mon:24.30-Tue:03"],
)
def test_fast_180_a_malformed_span_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"time of day|it "):
        Span.parse(text, 1.0)


def test_a_suspension_ends_by_itself() -> None:
    assert BUSY.opens(wall(2, 12, 45)) == wall(2, 13)
    assert BUSY.opens(wall(2, 14)) == wall(2, 14)
    always = week(**{"mon:00-sun:24": None})
    assert always.opens(wall(0, 0)) > wall(6, 0)


def test_a_suspension_holds_in_the_hour_that_comes_twice() -> None:
    """On 25 October 2026 the clocks of Berlin go back from 3:00 to 2:00."""
    night = Week([Span.parse("Sun:01-Sun:02.30", None)], zone=ZoneInfo("Europe/Berlin"))
    second_time = datetime(2026, 10, 25, 1, 15, tzinfo=UTC).timestamp()
    assert night.at(second_time).suspended
    assert night.opens(second_time) == second_time + 15 * 60


@given(
    st.lists(
        st.tuples(
            st.integers(0, WEEK - 1), st.integers(0, WEEK - 1), st.one_of(st.none(), st.integers(0, 99))
        ).filter(lambda span: span[0] != span[1]),
        max_size=6,
    ),
    st.lists(st.integers(0, 2 * WEEK), min_size=1, max_size=30),
)
def test_a_week_says_the_same_as_each_span(
    spans: list[tuple[int, int, float | None]], minutes: list[int]
) -> None:
    known = [Span(*span) for span in spans]
    here = Week(known, zone=UTC)
    for minute in minutes:
        at = MONDAY.timestamp() + minute * 60 + 30
        covering = [span.delay for span in known if span.covers(minute % WEEK)]
        rate = here.at(at)
        assert rate.suspended == (None in covering)
        assert rate.delay == max((delay for delay in covering if delay is not None), default=None)
        assert rate.until > at


# ---- back-off


@pytest.mark.parametrize(
    ("delay", "longest", "failing", "recovering"),
    [
        (60.0, 600.0, [120, 240, 480, 600, 600], [300, 150, 75, 60, 60]),
        (0.0, 600.0, [2, 4, 8], [4, 2, 1, 0]),
        (0.5, 3.0, [2, 3, 3], [1.5, 0.75, 0.5]),
        (60.0, 30.0, [60, 60], [60]),
        (1.0, 0.0, [1, 1], [1]),
    ],
    ids=["example", "no delay", "bounded", "own delay is longer", "off"],
)
def test_fast_17_18_the_delay_doubles_and_is_halved(
    delay: float, longest: float, failing: list[float], recovering: list[float]
) -> None:
    pace, clock = Pace(delay, backoff=BackOff(longest)), Clock()
    grown = []
    for _ in failing:
        pace.backoff.fail(clock, delay)
        grown.append(pace.current_delay(clock, 0.0))
    fallen = []
    for _ in recovering:
        pace.backoff.recover(clock, delay)
        fallen.append(pace.current_delay(clock, 0.0))
    assert (grown, fallen) == (failing, recovering)


def test_fast_17_three_errors_in_a_row_give_the_site_up() -> None:
    frontier: Frontier[Entry] = made_frontier(Pace(1.0, 9, backoff=BackOff(600, limit=3)))
    for number in range(9):
        frontier.add_entry(Entry("a", number))
    frontier.add_entry(Entry("b", 0))
    now, given_up = 0.0, []
    for _ in range(3):
        while (entry := frontier.pop_entry(now)) is None or entry.site == "b":
            now += 1
        given_up.append(frontier.note_failure("a"))
        if given_up[-1]:
            assert len(frontier.give_up_site("a")) == 6
        frontier.finish_entry("a")
    assert given_up == [False, False, True]
    assert frontier.given_up == {"a"}
    assert len(frontier) == 0
    assert not frontier.pending, "what is left of the site is not waited for"
    assert frontier.add_entry(Entry("a", 99)) is False


def test_fast_17_answers_lower_the_counter() -> None:
    frontier: Frontier[Entry] = made_frontier(Pace(0.0, 9, backoff=BackOff(0, limit=3)))
    for number in range(20):
        frontier.add_entry(Entry("a", number))
    outcomes = []
    for _ in range(4):
        assert frontier.pop_entry(1.0)
        outcomes.append(frontier.note_failure("a"))
        assert frontier.pop_entry(1.0)
        frontier.note_answer("a")
    assert outcomes == [False] * 4


def test_a_failing_site_is_asked_more_slowly_and_others_are_not() -> None:
    frontier: Frontier[Entry] = made_frontier(Pace(1.0))
    for number in range(3):
        frontier.add_entry(Entry("a", number))
        frontier.add_entry(Entry("b", number))
    assert [frontier.pop_entry(0.0), frontier.pop_entry(0.0)] == [Entry("a", 0), Entry("b", 0)]
    frontier.note_failure("a")
    assert frontier.pop_entry(1.0) == Entry("b", 1)
    assert frontier.pop_entry(1.9) is None
    assert frontier.pop_entry(2.0) == Entry("a", 1)


# ---- Retry-After


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        (" 7 ", 7),
        ("999999999999999999", 3600),
        ("Mon, 16 Nov 2026 00:01:30 GMT", 90),
        ("Sun, 15 Nov 2026 00:00:00 GMT", 0),
        ("soon", 0),
        ("-5", 0),
        ("", 0),
        ("Mon, 16 Nov 99999 00:01:30 GMT", 0),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str, seconds: float) -> None:
    assert retry_after(value, MONDAY.timestamp(), 3600.0) == seconds


# ---- slow answers


def test_slow_answers_lengthen_the_delay_if_that_is_wanted() -> None:
    on, off, clock = Pace(1.0, throttle=0.5), Pace(1.0), Clock()
    off.learn_latency(clock, 9.0, well=True)
    assert off.current_delay(clock, 0.0) == 1.0
    on.learn_latency(clock, 4.0, well=True)
    assert on.current_delay(clock, 0.0) == 8.0
    on.learn_latency(clock, 0.1, well=False)
    assert on.current_delay(clock, 0.0) == 8.0, "errors come fast"
    on.learn_latency(clock, 0.1, well=True)
    assert on.current_delay(clock, 0.0) == pytest.approx(4.1)
    for _ in range(20):
        on.learn_latency(clock, 0.1, well=True)
    assert on.current_delay(clock, 0.0) == 1.0


# ---- combined


@pytest.mark.parametrize(
    ("own_delay", "slowed", "span", "seconds", "origin"),
    [
        (None, 0, None, 1, "definition"),
        (None, 0, 20, 20, "time span"),
        (None, 0, 0.25, 0.25, "time span"),
        (7.0, 0, 20, 7, "robots.txt"),
        (7.0, 9, 20, 9, "back-off"),
        (None, 9, 20, 20, "time span"),
    ],
)
def test_fast_36_180_delays_are_combined(
    own_delay: float | None, slowed: float, span: float | None, seconds: float, origin: str
) -> None:
    spans = week(**{"mon:00-sun:24": span}) if span is not None else Week()
    pace = Pace(1.0, week=spans, wall_clock=lambda now: wall(0, 1) + now)
    clock = Clock(own_delay=own_delay, backoff_delay=slowed)
    assert pace.current_delay(clock, 0.0) == seconds
    assert pace.explain_delay(clock, 0.0) == (seconds, origin)


def test_fast_180_a_suspended_crawl_sleeps_and_goes_on_by_itself() -> None:
    pace = Pace(10.0, week=BUSY, wall_clock=lambda now: wall(2, 12, 29) + now)
    frontier: Frontier[Entry] = made_frontier(pace)
    for number in range(9):
        frontier.add_entry(Entry("a", number))
    starts = []
    now = 0.0
    while len(starts) < 5:
        if frontier.pop_entry(now):
            starts.append(now)
            frontier.finish_entry("a")
        at = frontier.next_at()
        assert at is not None
        now = at
    assert starts == [0.0, 20.0, 40.0, 31 * 60, 31 * 60 + 20]
    assert frontier.claim_turn("b", 100.0) == 31 * 60


def test_fast_180_a_longer_delay_counts_from_the_latest_request() -> None:
    spans = week(**{"Mon:01-Mon:02": 60.0})
    frontier: Frontier[Entry] = made_frontier(
        Pace(1.0, week=spans, wall_clock=lambda now: wall(0, 0, 59) + now)
    )
    frontier.add_entry(Entry("a", 0))
    frontier.add_entry(Entry("a", 1))
    assert frontier.pop_entry(50.0)
    assert frontier.pop_entry(61.0) is None
    assert frontier.next_at() == 110.0
    assert frontier.pop_entry(110.0)


def test_the_longest_delay_of_a_site_is_known() -> None:
    pace = Pace(2.0, week=week(**{"Wed:09-Wed:19": 20.0, "Thu:09-Thu:19": None}))
    assert pace.longest_delay(Clock()) == 20.0
    assert pace.longest_delay(Clock(own_delay=90.0)) == 90.0
    assert pace.longest_delay(Clock(backoff_delay=600.0)) == 600.0
    assert Pace(2.0).longest_delay(Clock()) == 2.0
    assert Pace(2.0, throttle=1.0, backoff=BackOff(longest=300.0)).longest_delay(Clock()) == 300.0
