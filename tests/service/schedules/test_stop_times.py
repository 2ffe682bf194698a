"""Schedules with stop times: crawls are stopped then, and the next launch continues them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support import schedules
from support.schedules import VirtualClock, only, opened_schedules, pass_by, plan, report, run_virtual

from ultracrawl.model import ScheduleStatus
from ultracrawl.rules.schedules.times import CalendarTimes
from ultracrawl.service.orders import CrawlEnd
from ultracrawl.service.schedules.plans import REST, Plan, ScheduleTiming
from ultracrawl.stores.shared.schedule_store import SqlScheduleStore

HOUR, DAY = 3600.0, 86_400.0
START = datetime(2026, 6, 1, 12, tzinfo=UTC).timestamp()


class Kept(schedules.Kept):
    """A runner of plans whose crawls last two days, and need some seconds to end when they are stopped."""

    def __init__(self, plans: Iterable[Plan], store: SqlScheduleStore, **options: object) -> None:
        super().__init__(plans, store, clock=VirtualClock(START), **options)  # type: ignore[arg-type]
        self.world.lasts = lambda _: 2 * DAY
        self.world.stops = lambda _: 5.0

    def ended(self) -> list[float]:
        """Return when the crawls ended, in hours since the beginning; without the seconds that a stop takes."""
        return [(one.ended - START) // HOUR for one in self.world.crawls]


@pytest.fixture
def store(tmp_path: Path) -> Iterable[SqlScheduleStore]:
    with contextlib.closing(opened_schedules(tmp_path / "schedules.sqlite", SqlScheduleStore)) as opened:
        yield opened


def from_to(start: str, stop: str, *sources: str, **options: object) -> Plan:
    timing = ScheduleTiming(CalendarTimes((start,)), skips_missed=True)
    return plan(*sources, timing=timing, stops=CalendarTimes((stop,)), **options)


def test_a_crawl_is_stopped_at_its_time_and_goes_on_at_the_next_launch(store: SqlScheduleStore) -> None:
    async def run() -> None:
        kept = Kept([from_to("0 22 * * *", "0 6 * * *")], store)
        async with kept.kept() as runner:
            await pass_by(19 * HOUR)
            state = only(runner)
            await pass_by(2 * DAY)
        assert (state.status, state.error, state.left) == (ScheduleStatus.SCHEDULED, "", ())
        assert state.next_run == START + 34 * HOUR
        assert (kept.hours("a"), kept.ended()) == ([10, 34, 58], [18, 42, 66])

    run_virtual(run())


def test_a_stop_at_the_time_of_a_start_begins_anew(store: SqlScheduleStore) -> None:
    async def run() -> None:
        kept = Kept([from_to("0 5 * * *", "0 5 * * *")], store)
        async with kept.kept():
            await pass_by(3 * DAY)
        assert [round(one, 1) for one in kept.hours("a")] == [17, 41, 65]
        assert kept.ended()[:2] == [41, 65]

    run_virtual(run())


def test_what_waits_for_a_slot_at_the_stop_time_waits_no_longer(store: SqlScheduleStore) -> None:
    async def run() -> None:
        kept = Kept([from_to("0 22 * * *", "0 6 * * *", "a", "b")], store, jobs=1)
        async with kept.kept():
            await pass_by(20 * HOUR)
        assert (kept.hours("a"), kept.hours("b")) == ([10], [])

    run_virtual(run())


def test_one_that_repeats_is_launched_again_until_its_stop_time(store: SqlScheduleStore) -> None:
    async def run() -> None:
        kept = Kept([from_to("0 22 * * *", "0 0 * * *", repeat=True)], store)
        kept.world.lasts = lambda _: HOUR - REST
        kept.world.stops = lambda _: 0.0
        async with kept.kept():
            await pass_by(DAY)
        assert kept.hours("a") == [10, 11]

    run_virtual(run())


def test_one_that_repeats_waits_a_minute_after_a_failure(store: SqlScheduleStore) -> None:
    async def run() -> None:
        kept = Kept([from_to("0 22 * * *", "10 22 * * *", repeat=True)], store)
        kept.world.lasts = lambda _: 0.0
        kept.world.ends = lambda order: CrawlEnd(order.source, report(order.source, "the server is down"))
        async with kept.kept():
            await pass_by(DAY)
        assert len(kept.world.crawls) == 10

    run_virtual(run())


def test_one_that_a_person_stops_is_not_repeated(store: SqlScheduleStore) -> None:
    async def run() -> None:
        kept = Kept([from_to("0 22 * * *", "0 6 * * *", repeat=True)], store)
        async with kept.kept() as runner:
            await pass_by(11 * HOUR)
            runner.find_schedule("nightly").stop_by_hand()
            await pass_by(2 * DAY)
            assert only(runner).status is ScheduleStatus.STOPPED
        assert kept.hours("a") == [10]

    run_virtual(run())


@pytest.mark.parametrize(("back", "resumed"), [(4, True), (12, False)])
def test_a_kill_is_made_up_for_until_the_stop_time_only(
    store: SqlScheduleStore, back: int, resumed: bool
) -> None:
    async def run() -> None:
        plans = [from_to("0 22 * * *", "0 6 * * *")]
        first = Kept(plans, store)
        async with first.kept():
            await pass_by(11 * HOUR)
        first.world.die()
        await pass_by(back * HOUR)
        second = Kept(plans, store)
        async with second.kept():
            await pass_by(HOUR)
        assert bool(second.world.crawls) is resumed

    run_virtual(run())
