"""Orders that wait for a slot: waiting is not crawling, and whoever waits keeps its place."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from support.schedules import Kept, Marks, VirtualClock, opened_schedules, pass_by, plan, run_virtual

from ultracrawl.rules.schedules.times import CalendarTimes, IntervalTimes
from ultracrawl.rules.schedules.window import RunWindow, parse_span
from ultracrawl.service.schedules.plans import Plan, ScheduleTiming
from ultracrawl.stores.shared.schedule_store import SqlScheduleStore

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
START = datetime(2026, 6, 1, 12, tzinfo=UTC).timestamp()
NIGHT = RunWindow((span for span in parse_span("22:00-06:00")), ZoneInfo("UTC"))


@pytest.fixture
def store(tmp_path: Path) -> Iterable[SqlScheduleStore]:
    with contextlib.closing(opened_schedules(tmp_path / "schedules.sqlite", SqlScheduleStore)) as opened:
        yield opened


@pytest.fixture
def marks() -> Marks:
    return Marks(VirtualClock(START))


def kept_by(marks: Marks, plans: Iterable[Plan], store: SqlScheduleStore, **options: object) -> Kept:
    """Return a runner over a pool of one slot."""
    kept = Kept(plans, store, clock=marks.clock, **{"jobs": 1, **options})  # type: ignore[arg-type]
    kept.world.marks = marks
    return kept


def test_sources_whose_intervals_are_shorter_than_the_queue_take_turns(
    marks: Marks, store: SqlScheduleStore
) -> None:
    """24 crawls of nine seconds each do not fit into a minute; none is left out for that."""

    async def run() -> None:
        names = [f"s{number:02}" for number in range(24)]
        kept = kept_by(marks, [marks.plan(name, interval="1 m") for name in names], store)
        kept.world.lasts = lambda _: 9.0
        async with kept.kept():
            await pass_by(HOUR)
        times = {name: len(kept.hours(name)) for name in names}
        assert max(times.values()) - min(times.values()) <= 1, times
        assert min(times.values()) == int(HOUR / (24 * 9))
        ends = [one.end for one in kept.world.crawls if one.end is not None]
        assert not any(end.report is None or end.report.interrupted for end in ends)

    run_virtual(run())


def test_a_crawl_that_waited_for_most_of_its_interval_has_a_whole_one(
    marks: Marks, store: SqlScheduleStore
) -> None:
    async def run() -> None:
        blocks = plan("blocks", name="noon", timing=ScheduleTiming(CalendarTimes(("55 12 * * *",))))
        kept = kept_by(marks, [marks.plan("late", interval="1 h"), blocks], store)
        kept.world.lasts = lambda _: 50 * MINUTE
        async with kept.kept():
            await pass_by(2.8 * HOUR)
        crawl = [one for one in kept.world.crawls if one.order.source == "late"][1]
        assert (crawl.begun - START, crawl.ended - START) == (105 * MINUTE, 155 * MINUTE)
        assert crawl.end is not None
        assert crawl.end.report is not None
        assert not crawl.end.report.interrupted

    run_virtual(run())


def test_a_crawl_that_is_not_done_in_its_interval_is_ended_and_the_next_one_begins(
    marks: Marks, store: SqlScheduleStore
) -> None:
    async def run() -> None:
        kept = kept_by(marks, [marks.plan("a", interval="1 h")], store)
        kept.world.lasts = lambda _: 10 * DAY
        async with kept.kept():
            await pass_by(5.5 * HOUR)
        assert kept.hours("a") == [0, 1, 2, 3, 4, 5]
        assert [one.ended - one.begun for one in kept.world.crawls[:5]] == [HOUR] * 5

    run_virtual(run())


def test_a_crawl_whose_cycle_ends_while_it_waits_for_its_next_turn_keeps_its_place(
    marks: Marks, store: SqlScheduleStore
) -> None:
    async def run() -> None:
        slow, other = marks.plan("slow", interval="1 h"), marks.plan("other", interval="10 h")
        third = plan("third", name="later", timing=ScheduleTiming(CalendarTimes(("10 13 * * *",))))
        kept = kept_by(marks, [slow, other, third], store, turn=40 * MINUTE)
        kept.world.lasts = lambda order: (39 if order.source == "other" else 90) * MINUTE
        async with kept.kept():
            await pass_by(3 * HOUR)
        begun = [(one.order.source, round((one.begun - START) / MINUTE)) for one in kept.world.crawls]
        assert begun[:3] == [("slow", 0), ("other", 40), ("slow", 79)], begun
        assert begun[3][0] == "third", "it was due later than the crawl that waited already"

    run_virtual(run())


def test_an_order_that_waits_as_its_window_closes_begins_first_when_it_opens(
    marks: Marks, store: SqlScheduleStore
) -> None:
    """It does not begin outside of the window, and what became due since does not go ahead of it."""

    async def run() -> None:
        six = ScheduleTiming(CalendarTimes(("0 18 * * *",)))
        windowed = plan("windowed", name="evening", timing=six, window=NIGHT)
        endless = plan("endless", name="noon", timing=ScheduleTiming(CalendarTimes(("0 13 * * *",))))
        often = [
            plan(f"o{one}", name=f"often{one}", timing=ScheduleTiming(IntervalTimes(HOUR)))
            for one in range(3)
        ]
        kept = kept_by(marks, [endless, windowed, *often], store)
        kept.world.lasts = lambda order: {"endless": 20 * HOUR, "windowed": HOUR}.get(order.source, 5 * HOUR)
        async with kept.kept():
            await pass_by(3 * DAY)
        assert kept.hours("windowed")[0] == 36, (
            "its window opened at 34, and it was due before all that wait then"
        )
        assert kept.hours("endless")[:2] == [1, 37], "it has waited since 25"

    run_virtual(run())
