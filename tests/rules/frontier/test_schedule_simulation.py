"""A smaller run of the simulation: the schedule is the ideal one, no site breaks its delay, none starves."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).parents[3] / "benchmarks" / "schedule_simulation.py"


@pytest.fixture(scope="module")
def simulation() -> ModuleType:
    spec = importlib.util.spec_from_file_location("schedule_simulation", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(importlib.import_module("sys").modules, "schedule_simulation", module)
        spec.loader.exec_module(module)
        yield module


@pytest.mark.parametrize("capacity", [50_000, 200])
def test_a_hundred_sites_keep_the_ideal_schedule(
    simulation: ModuleType, monkeypatch: pytest.MonkeyPatch, capacity: int
) -> None:
    monkeypatch.setattr(simulation, "CAPACITY", capacity)
    course = simulation.simulate(100, 100)
    result = simulation.judge(course, 100)
    assert all(len(starts) == 100 for starts in course.starts.values())
    assert 0 <= result["longer_than_ideal_percent"] < 1
    assert result["closest_requests_in_delays"] >= 1 - 1e-9
    assert result["half_way_in_ideal_times"][1] <= 1.01
    assert result["most_entries_in_memory"] <= 40 * 100
