"""Limits of a run: looked at with each answer, in time, and told once."""

from __future__ import annotations

import json
import logging
import re
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.clock import monotonic_time
from support.context import made_context

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.run.control.limits import DISK_CHECK_TICKS, LIMITS_OVER, RunLimits, limits_over
from ultracrawl.run.ending import Ending
from ultracrawl.run.hooks import Feature
from ultracrawl.run.results import FetchResult
from ultracrawl.run.visit import Visit
from ultracrawl.sources.sections.fetching.limits import LimitsSection
from ultracrawl.stores import QueueEntry, RunMark

RUN_LOG = "ultracrawl.run.control.limits"


class Bench:
    """Run limits over a session that has what they ask for."""

    def __init__(self, stored: int = 0, *, before: Sequence[RunMark] = (), **options: object) -> None:
        self.free = 50.0
        counts = SimpleNamespace(documents=stored)
        source = SimpleNamespace(name="s", limits=LimitsSection.model_validate(options))
        self._context = made_context(
            source,
            store=SimpleNamespace(records=SimpleNamespace(count_urls=lambda: counts), runs=lambda: before),
        )
        self.counters = self._context.counters
        self.limits = RunLimits(self._context)
        self.limits.free = lambda _: self.free
        self.told = 0
        self._context.hooks.call(Feature.limits_changed, self._tell)
        self.limits.open()

    def _tell(self) -> None:
        self.told += 1

    def ends(self, outcome: UrlOutcome) -> None:
        self.counters.outcomes[outcome] += 1
        visit = _visit()
        visit.note_ending(Ending(outcome))
        self.limits.visit_ended(visit)

    def answers(self, size: int) -> None:
        self.limits.response_received(_visit(fetch=FetchResult(size=size)))

    def second(self) -> None:
        for _ in range(DISK_CHECK_TICKS):
            self.limits.tick()


def _visit(**known: Any) -> Visit:
    return Visit(QueueEntry(1, "http://h/", "h", 0, 1), UrlRecord("http://h/", "s"), **known)


def test_bytes_end_a_run_with_the_answer_that_passes_them() -> None:
    bench = Bench(bytes=100)
    bench.answers(99)
    assert bench.limits.reached == ""
    bench.answers(1)
    assert (bench.limits.reached, bench.counters.ended_by, bench.told) == (
        "limits.bytes 100",
        "limits.bytes 100",
        1,
    )
    bench.answers(1)
    assert (bench.counters.bytes, bench.told) == (101, 1)


def test_the_time_ends_a_run_within_a_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(seconds=60)
    began = monotonic_time()
    bench.limits.tick()
    assert bench.limits.reached == ""
    monkeypatch.setattr(time, "monotonic", lambda: began + 60.1)
    bench.limits.tick()
    assert (bench.limits.reached, bench.told) == ("limits.seconds 60", 1)


@pytest.mark.parametrize(("took", "overdue"), [(59.9, False), (89.9, False), (90.1, True)])
def test_visits_are_given_up_once_a_run_took_half_as_long_again(
    monkeypatch: pytest.MonkeyPatch, took: float, overdue: bool
) -> None:
    bench, without = Bench(seconds=60), Bench()
    began = monotonic_time()
    monkeypatch.setattr(time, "monotonic", lambda: began + took)
    assert bench.limits.is_overdue is overdue
    assert not without.limits.is_overdue


@pytest.mark.parametrize(("took", "allowed"), [(0.0, 100.0), (70.0, 50.0), (119.0, 5.0), (200.0, 5.0)])
def test_a_last_step_ends_within_twice_the_time_of_a_run(
    monkeypatch: pytest.MonkeyPatch, took: float, allowed: float
) -> None:
    bench, without = Bench(seconds=60), Bench()
    began = monotonic_time()
    monkeypatch.setattr(time, "monotonic", lambda: began + took)
    assert bench.limits.allowance(100.0, least=5.0) == pytest.approx(allowed, abs=0.5)
    assert without.limits.allowance(100.0, least=5.0) == 100.0


def test_fast_173_the_document_that_reaches_the_number_is_the_last_new_one() -> None:
    bench = Bench(stored=3, documents=5, documents_slack=0)
    for outcome in (UrlOutcome.NEW, UrlOutcome.MODIFIED, UrlOutcome.GONE):
        bench.ends(outcome)
    assert not bench.limits.refresh_only
    bench.ends(UrlOutcome.NEW)
    assert (bench.limits.refresh_only, bench.told, bench.counters.refresh_only) == (True, 1, True)


def test_fast_171_to_174_each_change_of_the_reason_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench(stored=4, documents=5, documents_slack=0, disk_free=10, disk_free_slack=2)
    with caplog.at_level(logging.WARNING, RUN_LOG):
        bench.free = 9.0
        for _ in range(3):
            bench.second()
        bench.ends(UrlOutcome.NEW)
        bench.ends(UrlOutcome.NEW)
        bench.free = 20.0
        bench.second()
        bench.second()
    told = [re.findall(r"limits\.\w+ \d+", record.getMessage()) for record in caplog.records]
    assert told == [
        ["limits.disk_free 10"],
        ["limits.documents 5", "limits.disk_free 10"],
        ["limits.documents 5"],
    ]
    assert bench.told == 1, "nothing changed for those who ask"


def test_fast_172_new_urls_are_let_in_again_within_a_second(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench(disk_free=10, disk_free_slack=2)
    with caplog.at_level(logging.WARNING, RUN_LOG):
        for free, refresh_only in ((9.0, True), (11.5, True), (12.5, False)):
            bench.free = free
            bench.second()
            assert bench.limits.refresh_only is refresh_only
    assert ["limits." in record.getMessage() for record in caplog.records] == [True, False]
    assert bench.told == 2


BEFORE = {
    "exceeded": ({"limits.documents": 10}, 9, True),
    "below the slack": ({"limits.documents": 10}, 6, False),
    "of another limit": ({"limits.documents": 20}, 9, False),
    "not exceeded": ({}, 9, False),
}


@pytest.mark.parametrize(("over", "stored", "refresh_only"), BEFORE.values(), ids=BEFORE)
def test_fast_174_a_limit_stays_exceeded_over_runs_until_its_slack_is_reached(
    over: dict[str, float], stored: int, refresh_only: bool
) -> None:
    ended = RunMark(1, 1.0, report=json.dumps({LIMITS_OVER: over}))
    bench = Bench(stored=stored, before=(RunMark(2, 2.0), ended), documents=10, documents_slack=3)
    assert bench.limits.refresh_only is refresh_only


@pytest.mark.parametrize(("free", "over"), [(9, True), (10, False), (50, False)])
def test_free_disk_is_counted_in_percent_of_the_whole(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, free: int, over: bool
) -> None:
    usage = SimpleNamespace(free=free * 2**20, total=100 * 2**20)

    def usage_of(folder: Path) -> SimpleNamespace:
        folder.stat()  # as the system does, it knows nothing of a folder that is not there
        return usage

    monkeypatch.setattr(shutil, "disk_usage", usage_of)
    options = LimitsSection.model_validate({"disk_free": 10, "disk_free_slack": 0})
    state: Any = SimpleNamespace(runs=tuple)  # nothing else is asked of it: documents are not limited
    found = limits_over(options, state, tmp_path / "not" / "there")
    assert [(one.name, one.value) for one in found] == [("limits.disk_free", float(free))] * over
