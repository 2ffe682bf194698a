"""The runner of schedules, over a clock and a launcher that are handed in."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from support import schedules
from support.schedules import VirtualClock, only, opened_schedules, pass_by, plan, report, run_virtual
from support.sentences import sentence

from ultracrawl.errors import StateError, UserError, WorkError
from ultracrawl.model import ScheduleStatus
from ultracrawl.rules.recrawl.cycle import CyclePlace, RefreshMode
from ultracrawl.rules.schedules.times import CalendarTimes, IntervalTimes
from ultracrawl.rules.schedules.window import RunWindow, parse_span
from ultracrawl.service.orders import CrawlEnd, CrawlOrder
from ultracrawl.service.schedules.plans import OwnInterval, Plan, ScheduleTiming
from ultracrawl.sources.definition import DataSource
from ultracrawl.stores import RunMark
from ultracrawl.stores.port.schedule_store import KeptSchedule, ScheduleRun
from ultracrawl.stores.shared.schedule_store import SqlScheduleStore

HOUR, DAY = 3600.0, 86_400.0
START = datetime(2026, 6, 1, 12, tzinfo=UTC).timestamp()


class Kept(schedules.Kept):
    """A runner of plans over a world of its own."""

    def __init__(self, plans: Iterable[Plan], store: SqlScheduleStore, **options: object) -> None:
        super().__init__(plans, store, clock=VirtualClock(START), **options)


@pytest.fixture
def store(tmp_path: Path) -> Iterable[SqlScheduleStore]:
    with contextlib.closing(
        opened_schedules(tmp_path / "schedules" / "schedules.sqlite", SqlScheduleStore)
    ) as opened:
        yield opened


def test_the_crawler_is_started_by_a_schedule__ultra_search_1(store: SqlScheduleStore) -> None:
    async def days() -> None:
        kept = Kept([plan("a")], store)
        async with kept.kept():
            await pass_by(3 * DAY)
        assert kept.hours("a") == [15, 39, 63]
        assert kept.world.crawls[0].order == CrawlOrder("a", schedule="nightly")

    run_virtual(days())


def test_a_schedule_crawls_all_its_sources__ultra_search_110(store: SqlScheduleStore) -> None:
    async def day() -> None:
        kept = Kept([plan("a", "b", mode="examine", force=True, profile="north")], store)
        async with kept.kept():
            await pass_by(DAY)
        assert [one.order for one in kept.world.crawls] == [
            CrawlOrder(name, True, "examine", "nightly", "north") for name in ("a", "b")
        ]

    run_virtual(day())


def test_the_status_moves_and_comes_back__ultra_search_113(store: SqlScheduleStore) -> None:
    async def run() -> None:
        kept = Kept([plan("a")], store)
        async with kept.kept() as runner:
            await pass_by(HOUR)
            waiting = only(runner)
            await pass_by(14 * HOUR + 30)
            going, durable = only(runner), store.get_schedule("nightly")
            await pass_by(HOUR)
            over = only(runner)
        assert (waiting.status, waiting.next_run) == (ScheduleStatus.SCHEDULED, START + 15 * HOUR)
        assert (going.status, going.last_begin, going.next_run) == (
            ScheduleStatus.EXECUTING,
            START + 15 * HOUR,
            None,
        )
        assert durable is not None
        assert durable.status is ScheduleStatus.EXECUTING
        assert (over.status, over.next_run, over.last_end) == (
            ScheduleStatus.SCHEDULED,
            START + 39 * HOUR,
            START + 15 * HOUR + 60,
        )

    run_virtual(run())


def test_a_failed_schedule_keeps_its_error_and_is_tried_again__ultra_search_114(
    store: SqlScheduleStore,
) -> None:
    async def run() -> None:
        kept = Kept([plan("a")], store)
        kept.world.ends = lambda order: CrawlEnd(order.source, report(order.source, "the disk is full"))
        async with kept.kept() as runner:
            await pass_by(16 * HOUR)
            failed = only(runner)
            kept.world.ends = lambda order: CrawlEnd(order.source, report(order.source))
            await pass_by(DAY)
            well = only(runner)
        assert (failed.status, failed.error) == (ScheduleStatus.FAILED, "the disk is full")
        assert failed.next_run == START + 39 * HOUR
        assert (well.status, well.error) == (ScheduleStatus.SCHEDULED, "")
        assert [one.error for one in store.runs("nightly", 5)] == ["", "the disk is full"]

    run_virtual(run())


def test_of_several_sources_some_fail(store: SqlScheduleStore) -> None:
    async def run() -> None:
        kept = Kept([plan("a", "b", "c")], store)
        kept.world.refuses = {"c"}
        kept.world.ends = lambda order: (
            CrawlEnd(order.source, None, "its process was killed", died=True)
            if order.source == "b"
            else CrawlEnd(order.source, report(order.source))
        )
        async with kept.kept() as runner:
            await pass_by(16 * HOUR)
            state = only(runner)
        assert state.status is ScheduleStatus.PARTIALLY_FAILED
        assert sorted(state.error.split("; ")) == [
            "b: its process was killed",
            "c: the password of c cannot be read",
        ]
        (run,) = store.runs("nightly", 5)
        assert run.sources == {
            "a": "",
            "b": "its process was killed",
            "c": "the password of c cannot be read",
        }

    run_virtual(run())


def test_whatever_a_launcher_raises_the_next_time_comes(store: SqlScheduleStore) -> None:
    async def run() -> None:
        kept = Kept([plan("a")], store)

        def broken(_: CrawlOrder) -> float:
            raise RuntimeError("a mistake of ours")

        kept.world.lasts = broken
        async with kept.kept() as keeper:
            await pass_by(16 * HOUR)
            assert only(keeper).error == "RuntimeError: a mistake of ours"
            kept.world.lasts = lambda _: 60.0
            kept.world.going.clear()
            await pass_by(DAY)
            assert only(keeper).status is ScheduleStatus.SCHEDULED
        assert kept.hours("a") == [15, 39]

    run_virtual(run())


def test_documents_that_wait_make_it_pending__ultra_search_117(store: SqlScheduleStore) -> None:
    async def run() -> None:
        kept = Kept([plan("a", mode="examine")], store, has_pending=lambda _: True)
        async with kept.kept() as runner:
            await pass_by(16 * HOUR)
            assert only(runner).status is ScheduleStatus.INDEXING_PENDING
            await pass_by(DAY)
        assert kept.hours("a") == [15, 39], "the next time comes all the same"

    run_virtual(run())


@pytest.mark.parametrize(("skips", "hours"), [(False, [70, 87]), (True, [87])])
def test_a_missed_time_is_made_up_for_once_or_not(
    store: SqlScheduleStore, skips: bool, hours: list[float]
) -> None:
    async def run() -> None:
        timing = ScheduleTiming(CalendarTimes(("0 3 * * *",)), skips)
        first = Kept([plan("a", timing=timing)], store)
        async with first.kept():
            await pass_by(HOUR)
        await pass_by(69 * HOUR)
        second = Kept([plan("a", timing=timing)], store)
        async with second.kept():
            await pass_by(DAY)
        assert second.hours("a") == hours

    run_virtual(run())


def test_a_machine_that_was_suspended_has_missed_times(store: SqlScheduleStore) -> None:
    async def run() -> None:
        skips = plan("b", name="skips", timing=ScheduleTiming(CalendarTimes(("0 3 * * *",)), True))
        kept = Kept([plan("a"), skips], store)
        async with kept.kept():
            await pass_by(HOUR)
            kept.clock.skew += 20 * HOUR
            await pass_by(HOUR)
        assert [len(kept.hours(one)) for one in "ab"] == [1, 0]

    run_virtual(run())


def test_a_clock_that_was_ahead_does_not_put_off_what_is_due(store: SqlScheduleStore) -> None:
    async def run() -> None:
        kept = Kept([plan("a")], store)
        kept.clock.skew = 300 * DAY
        async with kept.kept() as runner:
            await pass_by(2 * DAY)
            kept.clock.skew = 0.0
            await pass_by(600)
            state = only(runner)
        assert state.next_run == START + 63 * HOUR

    run_virtual(run())


def test_a_run_that_lasts_longer_than_its_interval_is_not_begun_again(store: SqlScheduleStore) -> None:
    async def run() -> None:
        kept = Kept([plan("a", timing=ScheduleTiming(IntervalTimes(HOUR)))], store)
        kept.world.lasts = lambda _: 2.5 * HOUR
        async with kept.kept():
            await pass_by(9.5 * HOUR)
        assert kept.hours("a") == [1, 4, 7]

    run_virtual(run())


def test_what_a_kill_interrupts_goes_on_at_once_and_what_was_done_is_not_done_again(
    store: SqlScheduleStore,
) -> None:
    async def run() -> None:
        first = Kept([plan("a", "b", "c")], store)
        first.world.lasts = lambda order: HOUR if order.source == "a" else 5 * HOUR
        async with first.kept():
            await pass_by(17 * HOUR)
        assert store.get_schedule("nightly").status is ScheduleStatus.EXECUTING  # type: ignore[union-attr]
        second = Kept([plan("a", "b", "c")], store)
        async with second.kept() as runner:
            await pass_by(10 * HOUR)
            state = only(runner)
        assert [second.hours(one) for one in "abc"] == [[], [17], [17]]
        assert (state.status, state.next_run) == (ScheduleStatus.SCHEDULED, START + 39 * HOUR)

    run_virtual(run())


def test_a_runner_that_ends_puts_off_what_goes_on(store: SqlScheduleStore) -> None:
    async def run() -> None:
        first = Kept([plan("a", "b")], store)
        first.world.lasts = lambda order: HOUR if order.source == "a" else 5 * HOUR
        async with first.kept() as runner:
            await pass_by(17 * HOUR)
            await runner.end_crawls()
        assert store.get_schedule("nightly").status is ScheduleStatus.SCHEDULED  # type: ignore[union-attr]
        second = Kept([plan("a", "b")], store)
        async with second.kept():
            await pass_by(10 * HOUR)
        assert [second.hours(one) for one in "ab"] == [[], [17]]

    run_virtual(run())


def test_a_crawl_runs_in_its_window_alone_and_goes_on_in_the_next(store: SqlScheduleStore) -> None:
    async def run() -> None:
        window = RunWindow((span for span in parse_span("22:00-06:00")), ZoneInfo("UTC"))
        timing = ScheduleTiming(CalendarTimes(("0 18 * * *",)))
        kept = Kept([plan("a", timing=timing, window=window)], store)
        kept.world.lasts = lambda _: 12 * HOUR if len(kept.world.crawls) == 1 else HOUR
        async with kept.kept() as runner:
            await pass_by(7 * HOUR)
            waiting = only(runner)
            await pass_by(13 * HOUR)
            stopped = only(runner)
            await pass_by(16 * HOUR)
        assert (waiting.status, waiting.next_run) == (ScheduleStatus.SCHEDULED, START + 10 * HOUR)
        assert (stopped.status, stopped.next_run) == (ScheduleStatus.SCHEDULED, START + 34 * HOUR)
        assert kept.hours("a") == [10, 34]
        assert kept.world.crawls[0].ended == START + 18 * HOUR
        (run,) = store.runs("nightly", 5)
        assert run.status is ScheduleStatus.SCHEDULED

    run_virtual(run())


@pytest.mark.parametrize("skips", [False, True])
def test_a_time_that_waits_for_its_window_is_not_lost_by_a_restart(
    store: SqlScheduleStore, skips: bool
) -> None:
    async def run() -> None:
        window = RunWindow((span for span in parse_span("22:00-06:00")), ZoneInfo("UTC"))
        timing = ScheduleTiming(CalendarTimes(("0 18 * * *",)), skips)
        windowed = plan("a", timing=timing, window=window)
        first = Kept([windowed], store)
        async with first.kept():
            await pass_by(7 * HOUR)
        second = Kept([windowed], store)
        async with second.kept():
            await pass_by(DAY)
        assert second.hours("a") == [10]

    run_virtual(run())


def test_a_source_that_somebody_else_crawls_waits(store: SqlScheduleStore) -> None:
    async def run() -> None:
        others = {"a"}
        kept = Kept([plan("a", "b")], store, is_crawled=others.__contains__)
        async with kept.kept():
            await pass_by(16 * HOUR)
            assert (kept.hours("a"), kept.hours("b")) == ([], [15])
            others.clear()
            await pass_by(HOUR)
        assert kept.hours("a") == pytest.approx([16], abs=0.01)

    run_virtual(run())


def test_a_source_that_is_paused_waits_also_over_a_restart(store: SqlScheduleStore) -> None:
    async def run() -> None:
        first = Kept([plan("a", "b")], store)
        async with first.kept() as runner:
            runner.pause_source("a")
            await pass_by(16 * HOUR)
            assert (first.hours("a"), first.hours("b")) == ([], [15])
        second = Kept([plan("a", "b")], store)
        async with second.kept() as runner:
            await pass_by(HOUR)
            assert second.hours("a") == []
            runner.resume_source("a")
            await pass_by(HOUR)
        assert (second.hours("a"), second.hours("b")) == ([17], [])

    run_virtual(run())


def test_a_schedule_is_disabled_and_enabled(store: SqlScheduleStore) -> None:
    async def run() -> None:
        kept = Kept([plan("a")], store)
        async with kept.kept() as runner:
            runner.find_schedule("nightly").disable()
            await pass_by(2 * DAY)
            assert (only(runner).status, only(runner).next_run) == (ScheduleStatus.DISABLED, None)
            with pytest.raises(UserError, match=sentence("schedules.disabled_enable_first")):
                runner.find_schedule("nightly").launch_by_hand()
            runner.find_schedule("nightly").enable()
            await pass_by(DAY)
        assert kept.hours("a") == [63]

    run_virtual(run())


def test_one_that_its_definition_disables_is_launched_by_hand_alone(store: SqlScheduleStore) -> None:
    async def run() -> None:
        kept = Kept([plan("a", enabled=False)], store)
        async with kept.kept() as runner:
            await pass_by(2 * DAY)
            assert only(runner).status is ScheduleStatus.DISABLED
            runner.find_schedule("nightly").launch_by_hand()
            await pass_by(30)
            assert only(runner).status is ScheduleStatus.EXECUTING
            await pass_by(2 * DAY)
            with pytest.raises(UserError, match="`enabled: true`"):
                runner.find_schedule("nightly").enable()
        assert kept.hours("a") == [48]

    run_virtual(run())


def test_a_schedule_is_launched_at_once(store: SqlScheduleStore) -> None:
    async def run() -> None:
        kept = Kept([plan("a")], store)
        async with kept.kept() as runner:
            await pass_by(HOUR)
            runner.find_schedule("nightly").launch_by_hand()
            with pytest.raises(WorkError, match="already"):
                runner.find_schedule("nightly").launch_by_hand()
            await pass_by(DAY)
        assert kept.hours("a") == [1, 15]

    run_virtual(run())


def test_a_schedule_that_runs_is_stopped_and_resumed(store: SqlScheduleStore) -> None:
    async def run() -> None:
        kept = Kept([plan("a", "b")], store)
        kept.world.lasts = lambda _: 3 * HOUR
        async with kept.kept() as runner:
            await pass_by(16 * HOUR)
            runner.find_schedule("nightly").stop_by_hand()
            await pass_by(2 * DAY)
            assert (only(runner).status, only(runner).error) == (ScheduleStatus.STOPPED, "")
            runner.find_schedule("nightly").resume_by_hand()
            await pass_by(DAY)
        assert kept.hours("a") == [15, 87]
        assert [one.ended for one in kept.world.crawls[:2]] == [START + 16 * HOUR] * 2

    run_virtual(run())


def test_one_source_of_a_schedule_is_stopped_and_the_others_go_on(store: SqlScheduleStore) -> None:
    async def run() -> None:
        kept = Kept([plan("a", "b")], store)
        kept.world.lasts = lambda _: 3 * HOUR
        async with kept.kept() as runner:
            await pass_by(16 * HOUR)
            runner.stop_source("a")
            await pass_by(4 * HOUR)
            assert only(runner).status is ScheduleStatus.SCHEDULED
        assert [one.ended - START for one in kept.world.crawls] == [16 * HOUR, 18 * HOUR]

    run_virtual(run())


def test_a_stopped_schedule_stays_so_over_a_restart_and_is_stopped_while_idle(
    store: SqlScheduleStore,
) -> None:
    async def run() -> None:
        first = Kept([plan("a")], store)
        async with first.kept() as runner:
            runner.find_schedule("nightly").stop_by_hand()
        second = Kept([plan("a")], store)
        async with second.kept() as runner:
            await pass_by(2 * DAY)
            assert only(runner).status is ScheduleStatus.STOPPED
        assert second.hours("a") == []

    run_virtual(run())


def test_definitions_change_while_it_runs(store: SqlScheduleStore) -> None:
    async def run() -> None:
        kept = Kept([plan("a"), plan("b", name="gone")], store)
        async with kept.kept() as runner:
            await pass_by(HOUR)
            later = ScheduleTiming(CalendarTimes(("0 5 * * *",)))
            runner.replace_plans([plan("a", timing=later), plan("c", name="new")])
            await pass_by(DAY)
        assert [kept.hours(one) for one in "abc"] == [[17], [], [15]]

    run_virtual(run())


def test_a_run_of_a_schedule_that_is_no_more_goes_on_to_its_end(store: SqlScheduleStore) -> None:
    async def run() -> None:
        kept = Kept([plan("a")], store)
        kept.world.lasts = lambda _: 3 * HOUR
        async with kept.kept() as runner:
            await pass_by(16 * HOUR)
            runner.replace_plans([])
            await pass_by(2 * DAY)
        assert [one.ended - one.begun for one in kept.world.crawls] == [3 * HOUR]

    run_virtual(run())


class FullDisk(SqlScheduleStore):
    """A store whose disk is full for a while."""

    full = False

    def put_schedule(self, schedule: KeptSchedule, run: ScheduleRun | None = None) -> None:
        if self.full:
            raise StateError("the state file cannot be used: database or disk is full")
        super().put_schedule(schedule, run)


def test_a_full_disk_stops_nothing_and_what_happened_is_written_later(tmp_path: Path) -> None:
    async def run() -> None:
        store = opened_schedules(tmp_path / "schedules.sqlite", FullDisk)
        kept = Kept([plan("a")], store)
        async with kept.kept():
            await pass_by(HOUR)
            store.full = True
            await pass_by(2 * DAY)
            assert store.runs("nightly", 5) == []
            store.full = False
            await pass_by(HOUR)
        assert kept.hours("a") == [15, 39]
        assert [one.begun for one in store.runs("nightly", 5)] == [START + 39 * HOUR, START + 15 * HOUR]
        store.close()

    run_virtual(run())


def test_a_source_whose_state_cannot_be_read_is_crawled_when_it_is_due_and_not_before(
    store: SqlScheduleStore,
) -> None:
    place = CyclePlace(1, 0, START - HOUR, RefreshMode.KNOWN)
    done, away = replace(RunMark.at(1, START - HOUR, "", place), finished=START), [True]

    def latest() -> RunMark:
        if away[0]:
            raise StateError("away")
        return done

    async def hours() -> None:
        source = DataSource(name="a", refresh={"interval": "6 h"})
        kept = Kept([Plan("a", ("a",), OwnInterval(source, latest), own=True)], store)
        async with kept.kept():
            await pass_by(2 * HOUR)
            assert not kept.hours("a"), "nobody knows whether it is due"
            away[0] = False
            await pass_by(4 * HOUR)
        assert kept.hours("a")[:1] == [5]

    run_virtual(hours())
