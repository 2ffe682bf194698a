"""A smaller run of the simulation: the schedule is the ideal one, no site breaks its delay, none starves."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest
from support.benchmarks import load_benchmark


@pytest.fixture(scope="module")
def simulation() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        yield load_benchmark("schedule_simulation", patch)


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
