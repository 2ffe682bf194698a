"""Schedules of several sources: what holds one of them does not hold the others."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from support import schedules
from support.schedules import VirtualClock, only, opened_schedules, pass_by, plan, report, run_virtual

from ultracrawl.errors import WorkError
from ultracrawl.model import ScheduleStatus
from ultracrawl.rules.schedules.times import CalendarTimes, IntervalTimes
from ultracrawl.rules.schedules.window import RunWindow, parse_span
from ultracrawl.service.orders import CrawlEnd, CrawlHandle, CrawlOrder, EventStream, Launcher
from ultracrawl.service.schedules.plans import Plan, ScheduleTiming
from ultracrawl.stores.shared.schedule_store import SqlScheduleStore

HOUR, DAY = 3600.0, 86_400.0
START = datetime(2026, 6, 1, 12, tzinfo=UTC).timestamp()


class Kept(schedules.Kept):
    """A runner of plans; the crawls of the source `endless` never end, others take a minute."""

    def __init__(self, plans: Iterable[Plan], store: SqlScheduleStore, **options: object) -> None:
        super().__init__(plans, store, clock=VirtualClock(START), **options)  # type: ignore[arg-type]
        self.world.lasts = lambda order: 1000 * DAY if order.source == "endless" else 60.0


@pytest.fixture
def store(tmp_path: Path) -> Iterable[SqlScheduleStore]:
    with contextlib.closing(opened_schedules(tmp_path / "schedules.sqlite", SqlScheduleStore)) as opened:
        yield opened


def test_an_endless_source_does_not_hold_the_others_of_its_schedule(store: SqlScheduleStore) -> None:
    async def run() -> None:
        kept = Kept([plan("endless", "a", "b")], store)
        async with kept.kept() as runner:
            await pass_by(3 * DAY)
            state, due = only(runner), runner.next_runs()
        assert [kept.hours(one) for one in ("endless", "a", "b")] == [[15], [15, 39, 63], [15, 39, 63]]
        assert (state.status, state.left) == (ScheduleStatus.EXECUTING, ("endless",))
        assert state.next_run == START + 87 * HOUR
        assert due == dict.fromkeys("ab", START + 87 * HOUR)
        assert (state.last_begin, state.last_end) == (START + 63 * HOUR, START + 63 * HOUR)
        assert [(one.begun - START, dict(one.sources)) for one in store.runs("nightly", 5)] == [
            (39 * HOUR, {"a": "", "b": ""}),
            (15 * HOUR, {"a": "", "b": ""}),
        ]

    run_virtual(run())


def test_what_is_done_later_than_the_next_time_is_launched_at_the_time_after(
    store: SqlScheduleStore,
) -> None:
    async def run() -> None:
        kept = Kept([plan("endless", "slow", timing=ScheduleTiming(IntervalTimes(HOUR)))], store)
        kept.world.lasts = lambda order: 1000 * DAY if order.source == "endless" else 2.5 * HOUR
        async with kept.kept():
            await pass_by(9.5 * HOUR)
        assert [kept.hours(one) for one in ("endless", "slow")] == [[1], [1, 4, 7]]

    run_virtual(run())


def test_a_source_that_fails_is_reported_while_others_are_crawled(store: SqlScheduleStore) -> None:
    async def run() -> None:
        kept = Kept([plan("endless", "a", "dies")], store)
        kept.world.ends = lambda order: (
            CrawlEnd(order.source, None, "its process was killed", died=True)
            if order.source == "dies"
            else CrawlEnd(order.source, report(order.source))
        )
        async with kept.kept() as runner:
            await pass_by(40 * HOUR)
            state = only(runner)
        assert (state.status, state.error) == (ScheduleStatus.EXECUTING, "dies: its process was killed")
        (run,) = store.runs("nightly", 5)
        assert run.status is ScheduleStatus.PARTIALLY_FAILED
        assert run.sources == {"a": "", "dies": "its process was killed"}
        assert kept.hours("dies") == kept.hours("a") == [15, 39]

    run_virtual(run())


@pytest.mark.parametrize("holds", ["paused", "crawled elsewhere"])
def test_a_source_that_may_not_start_does_not_hold_the_others(store: SqlScheduleStore, holds: str) -> None:
    async def run() -> None:
        elsewhere = {"a"} if holds == "crawled elsewhere" else set()
        kept = Kept([plan("a", "b")], store, is_crawled=elsewhere.__contains__)
        async with kept.kept() as runner:
            if holds == "paused":
                runner.pause_source("a")
            await pass_by(2 * DAY)
            assert (kept.hours("a"), kept.hours("b")) == ([], [15, 39])
            elsewhere.clear()
            runner.resume_source("a")
            await pass_by(DAY)
        assert (len(kept.hours("a")), kept.hours("b")) == (2, [15, 39, 63])

    run_virtual(run())


def test_all_that_is_left_is_stopped_with_a_schedule_whose_other_sources_are_done(
    store: SqlScheduleStore,
) -> None:
    async def run() -> None:
        kept = Kept([plan("endless", "a")], store)
        async with kept.kept() as runner:
            await pass_by(16 * HOUR)
            runner.find_schedule("nightly").stop_by_hand()
            await pass_by(2 * DAY)
            assert (only(runner).status, only(runner).next_run) == (ScheduleStatus.STOPPED, None)
            runner.find_schedule("nightly").resume_by_hand()
            await pass_by(DAY)
        assert (kept.hours("endless"), kept.hours("a")) == ([15, 87], [15, 87])

    run_virtual(run())


def test_what_is_done_is_launched_by_hand_too(store: SqlScheduleStore) -> None:
    async def run() -> None:
        kept = Kept([plan("endless", "a")], store)
        async with kept.kept() as runner:
            await pass_by(16 * HOUR)
            runner.find_schedule("nightly").launch_by_hand()
            await pass_by(30)
            with pytest.raises(WorkError, match="already"):
                runner.find_schedule("nightly").launch_by_hand()
            await pass_by(HOUR)
            with pytest.raises(WorkError, match="stop it first"):
                runner.find_schedule("nightly").disable()
        assert (kept.hours("endless"), kept.hours("a")) == ([15], [15, 16])

    run_virtual(run())


def test_a_kill_loses_no_time_and_repeats_nothing(store: SqlScheduleStore) -> None:
    async def run() -> None:
        first = Kept([plan("endless", "a")], store)
        async with first.kept():
            await pass_by(40 * HOUR)
        second = Kept([plan("endless", "a")], store)
        async with second.kept():
            await pass_by(DAY)
        assert (first.hours("a"), second.hours("endless"), second.hours("a")) == ([15, 39], [40], [63])

    run_virtual(run())


class TickingClock(VirtualClock):
    """A clock that is later whenever somebody looks, as that on a wall."""

    ticks = 0

    def now(self) -> float:
        TickingClock.ticks += 1
        return super().now() + TickingClock.ticks * 1e-6


def test_what_is_left_is_resumed_by_a_clock_that_ticks(store: SqlScheduleStore) -> None:
    async def run() -> None:
        first = Kept([plan("endless", "a")], store)
        async with first.kept():
            await pass_by(16 * HOUR)
        second = Kept([plan("endless", "a")], store)
        second.clock = second.world.clock = TickingClock(START)
        async with second.kept():
            await pass_by(10)
        assert second.hours("endless") == [16]

    run_virtual(run())


def test_a_time_that_came_while_nothing_ran_is_made_up_for_beside_what_is_resumed(
    store: SqlScheduleStore,
) -> None:
    async def run() -> None:
        first = Kept([plan("endless", "a")], store)
        async with first.kept() as runner:
            await pass_by(16 * HOUR)
            await runner.end_crawls()
        await pass_by(2 * DAY)
        second = Kept([plan("endless", "a")], store)
        async with second.kept():
            await pass_by(DAY)
        assert (second.hours("endless"), second.hours("a")) == ([64], [64, 87])

    run_virtual(run())


def test_what_is_put_off_at_the_end_of_its_window_does_not_hold_the_others(
    store: SqlScheduleStore,
) -> None:
    async def run() -> None:
        window = RunWindow((span for span in parse_span("22:00-06:00")), ZoneInfo("UTC"))
        timing = ScheduleTiming(CalendarTimes(("0 18 * * *",)))
        kept = Kept([plan("endless", "a", timing=timing, window=window)], store)
        async with kept.kept() as runner:
            await pass_by(20 * HOUR)
            state = only(runner)
            await pass_by(2 * DAY)
        assert (state.status, state.next_run, state.left) == (
            ScheduleStatus.SCHEDULED,
            START + 34 * HOUR,
            ("endless",),
        )
        assert (kept.hours("endless"), kept.hours("a")) == ([10, 34, 58], [10, 34, 58])
        assert [dict(run.sources) for run in store.runs("nightly", 5)] == [{"a": ""}] * 3
        assert all(window.is_open(one.begun) for one in kept.world.crawls)

    run_virtual(run())


class SlowlyEnding(Kept):
    """A runner whose crawl of `slow` takes an hour to end when it is stopped."""

    def _launcher(self, events: EventStream) -> Launcher:
        return self

    async def launch(self, order: CrawlOrder) -> CrawlHandle:
        crawl = await self.world.launch(order)
        stop = crawl.stop_crawl

        async def stop_slowly() -> None:
            await pass_by(HOUR)
            await stop()

        if order.source == "slow":
            crawl.stop_crawl = stop_slowly  # type: ignore[method-assign]
        return crawl


def test_what_is_ended_at_the_end_of_its_window_does_not_begin_again_while_others_end(
    store: SqlScheduleStore,
) -> None:
    async def run() -> None:
        window = RunWindow((span for span in parse_span("22:00-06:00")), ZoneInfo("UTC"))
        kept = SlowlyEnding([plan("a", "slow", window=window)], store)
        kept.world.lasts = lambda _: DAY
        async with kept.kept():
            await pass_by(20 * HOUR)
        assert (kept.hours("a"), kept.hours("slow")) == ([15], [15])

    run_virtual(run())


def test_a_schedule_of_another_name_takes_over_what_is_not_being_crawled(store: SqlScheduleStore) -> None:
    async def run() -> None:
        pool_crawls: set[str] = set()
        kept = Kept([plan("endless", "a")], store, is_crawled=pool_crawls.__contains__)
        async with kept.kept() as runner:
            await pass_by(16 * HOUR)
            pool_crawls.add("endless")
            runner.replace_plans([plan("endless", "a", name="renamed")])
            await pass_by(DAY)
            assert (kept.hours("endless"), kept.hours("a")) == ([15], [15, 39])
            pool_crawls.clear()
            runner.stop_source("endless")
            await pass_by(HOUR)
        assert kept.world.crawls[0].ended == START + 40 * HOUR

    run_virtual(run())


def test_a_source_that_leaves_its_schedule_while_it_waits_is_not_crawled_by_it(
    store: SqlScheduleStore,
) -> None:
    async def run() -> None:
        kept = Kept([plan("a", "b")], store)
        async with kept.kept() as runner:
            runner.pause_source("a")
            await pass_by(16 * HOUR)
            runner.replace_plans([plan("b"), plan("a", name="never", enabled=False)])
            runner.resume_source("a")
            await pass_by(30)
            assert [state.status for state in runner.states()] == [
                ScheduleStatus.SCHEDULED,
                ScheduleStatus.DISABLED,
            ]
            await pass_by(DAY)
        assert (kept.hours("a"), kept.hours("b")) == ([], [15, 39])

    run_virtual(run())


def test_one_that_is_launched_once_ends_though_its_times_come_meanwhile(store: SqlScheduleStore) -> None:
    """A plan that is not launched by time: `schedule launch` without a process that runs it."""

    async def run() -> None:
        every = plan("slow", "a", timing=ScheduleTiming(IntervalTimes(60.0)), enabled=False)
        kept = Kept([every], store)
        kept.world.lasts = lambda order: HOUR if order.source == "slow" else 10.0
        async with kept.kept() as runner:
            runner.find_schedule("nightly").launch_by_hand()
            await pass_by(2 * HOUR)
            assert not runner.busy
        assert (kept.hours("slow"), kept.hours("a")) == ([0], [0])

    run_virtual(run())
