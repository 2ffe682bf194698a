"""What is kept of schedules, on every engine that keeps them, and who shows that he keeps them."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from stores.conftest import Place
from support.project import ROOT

from ultracrawl.model import ScheduleStatus
from ultracrawl.stores.file_notes import FileNotes
from ultracrawl.stores.port.schedule_store import (
    KeptSchedule,
    ScheduleCommand,
    ScheduleOrder,
    ScheduleRun,
    ScheduleStore,
)
from ultracrawl.stores.runner_registry import RunnerRegistration, active_runners

ROW = KeptSchedule("nightly", ScheduleStatus.FAILED, "full", 7.5, 1.0, 2.0, "/a.log\n/b.log", ("a", "b"))


@pytest.fixture
def store(place: Place) -> Iterator[ScheduleStore]:
    with contextlib.closing(place.engine.open_schedules(place.folder)) as opened:
        yield opened


def test_a_schedule_is_kept(store: ScheduleStore) -> None:
    assert store.get_schedule("nightly") is None
    store.put_schedule(ROW)
    assert store.get_schedule("nightly") == ROW
    store.put_schedule(KeptSchedule("nightly"))
    assert store.get_schedule("nightly") == KeptSchedule("nightly")


def test_the_latest_runs_are_kept(store: ScheduleStore) -> None:
    for number in range(150):
        run = ScheduleRun(number, number + 0.5, ScheduleStatus.SCHEDULED, "", "x.log", {"a": "", "b": "why"})
        store.put_schedule(ROW, run)
    runs = store.runs("nightly", 1000)
    assert [one.begun for one in runs] == list(range(149, 49, -1))
    assert runs[0] == run
    assert store.runs("other", 5) == []


def test_paused_sources(store: ScheduleStore) -> None:
    for source in ("a", "a", "b"):
        store.set_paused(source, paused=True)
    store.set_paused("b", paused=False)
    assert store.paused_sources() == {"a"}


def test_orders_are_taken_once_by_who_keeps_what_they_name(store: ScheduleStore) -> None:
    orders = [
        ScheduleOrder("nightly", ScheduleCommand.STOP),
        ScheduleOrder("nightly", ScheduleCommand.PAUSE, of_source=True),
        ScheduleOrder("other", ScheduleCommand.LAUNCH),
        ScheduleOrder("nightly", ScheduleCommand.RESUME),
    ]
    for order in orders:
        store.leave_order(order, 1.0)
    assert store.take_orders(["nightly"], [], since=0.0) == [orders[0], orders[3]]
    assert store.take_orders(["nightly"], ["a"], since=0.0) == []
    assert store.take_orders([], ["nightly"], since=0.0) == [orders[1]]


def test_an_order_that_nothing_took_in_time_is_forgotten(store: ScheduleStore) -> None:
    old, new = (ScheduleOrder(name, ScheduleCommand.LAUNCH) for name in ("nightly", "weekly"))
    store.leave_order(old, 1.0)
    store.leave_order(new, 9.0)
    assert store.take_orders([], [], since=5.0) == []
    assert not store.has_order(old)
    assert store.take_orders(["nightly", "weekly"], [], since=5.0) == [new]


def test_two_keep_different_things_and_never_the_same(tmp_path: Path) -> None:
    first, second = RunnerRegistration(FileNotes(tmp_path)), RunnerRegistration(FileNotes(tmp_path))
    assert first.claim(["nightly"], ["a", "b"]) is None
    refused = second.claim(["weekly"], ["b"])
    assert refused is not None
    assert refused.sources == {"a", "b"}
    assert second.claim(["weekly"], ["c"]) is None
    assert sorted(tuple(one.schedules) for one in active_runners(FileNotes(tmp_path))) == [
        ("nightly",),
        ("weekly",),
    ]
    first.close()
    assert second.claim(["nightly"], []) is None
    second.close()
    assert active_runners(FileNotes(tmp_path)) == []


@pytest.mark.processes
def test_one_that_was_killed_keeps_nothing(tmp_path: Path) -> None:
    program = (
        "import os, sys; from pathlib import Path; from ultracrawl.stores.file_notes import FileNotes\n"
        "from ultracrawl.stores.runner_registry import RunnerRegistration\n"
        "RunnerRegistration(FileNotes(Path(sys.argv[1]))).claim(['nightly'], ['a']); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", program, tmp_path], cwd=ROOT, check=False)
    assert len(list(tmp_path.glob("*.runner"))) == 1
    badge = RunnerRegistration(FileNotes(tmp_path))
    assert badge.claim(["nightly"], ["a"]) is None
    badge.close()
