"""Thirty sources under a service that is killed again and again: they stay in step, and it does not grow.

`ULTRACRAWL_SOAK_MINUTES` says for how long, `ULTRACRAWL_SOAK_ENGINE` with which engine.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.project import Workspace
from support.same_index import index_differences
from support.until import until

from soak.looking import MOST_GROWTH, growth, last_success, runs_at_once, runs_of, tracebacks
from soak.service import Sample, ShakenService
from soak.sites import BROKEN, ThirtySites

MINUTES = float(os.environ.get("ULTRACRAWL_SOAK_MINUTES", "3"))
ENGINE = os.environ.get("ULTRACRAWL_SOAK_ENGINE", "whoosh")
PATIENCE = 600.0
"""Seconds in which all sources have to be crawled once more after the last kill."""
STALE = 240.0
"""Seconds that the latest success of a source may lie back: two intervals, and a crawl that died and waited."""
SEED = 18

pytestmark = [pytest.mark.night, pytest.mark.timeout(MINUTES * 60 + PATIENCE + 300)]


def times_of(dice: random.Random, shortest: float, longest: float) -> Iterator[float]:
    """Yield times at random distances, from now on."""
    at = time.monotonic()
    while True:
        at += dice.uniform(shortest, longest)
        yield at


def shake(sites: ThirtySites, service: ShakenService) -> list[Sample]:
    """Change pages, kill and measure until the time is over."""
    dice, begun, samples = random.Random(SEED), time.monotonic(), list[Sample]()
    end = begun + MINUTES * 60
    between = (180.0, 300.0) if MINUTES >= 10 else (45.0, 75.0)

    def measure() -> None:
        samples.append(service.take_sample((time.monotonic() - begun) / 60))
        print(samples[-1], flush=True)

    once = [begun + MINUTES * 60 * part for part in (0.2, 0.35)]
    doings: list[tuple[Iterator[float], Callable[[], None]]] = [
        (times_of(dice, 10, 40), service.kill_child),
        (times_of(dice, *between), service.kill_service),
        (times_of(dice, 2, 10), sites.change_something),
        (times_of(dice, 30, 30), measure),
        (iter((once[0], end + 1)), sites.fall_silent),
        (iter((once[1], end + 1)), sites.speak_again),
    ]
    due = {number: next(times) for number, (times, _) in enumerate(doings)}
    while time.monotonic() < end:
        service.assure()
        for number, (times, do) in enumerate(doings):
            if due[number] <= time.monotonic():
                do()
                due[number] = next(times)
        time.sleep(0.25)
    sites.speak_again()
    return samples


def wait_for_success(workspace: Workspace, names: list[str], since: float) -> None:
    """Wait until all sources have been crawled well since a time."""
    deadline, left = time.monotonic() + PATIENCE, list(names)
    while left:
        assert time.monotonic() < deadline, f"{left} have not been crawled again"
        time.sleep(2)
        left = [name for name in left if last_success(runs_of(workspace, name))[0] < since]


def test_thirty_sources_stay_in_step_whatever_is_killed(tmp_path: Path) -> None:
    sites, shaken, calm = ThirtySites(SEED), Workspace(tmp_path / "shaken"), Workspace(tmp_path / "calm")
    with sites.served():
        for workspace in (shaken, calm):
            workspace.directory.mkdir()
            definition = sites.definition(kept=workspace is shaken)
            workspace.write({"index": {"engine": ENGINE}, **definition})
        service = ShakenService(shaken, SEED)
        begun = time.time()
        try:
            samples = shake(sites, service)
            wait_for_success(shaken, sites.healthy, time.time())
            service.stop()
            until(lambda: not service.leftovers())
            ended = time.time()
            runs = {name: runs_of(shaken, name) for name in [*sites.healthy, BROKEN]}
            late = {name: ended - last_success(runs[name])[1] for name in sites.healthy}
            numbers = sorted(map(len, runs.values()))
            print(f"{service.kills} killed; {sum(numbers)} runs, {numbers[0]} to {numbers[-1]} of a source")
            print(f"the oldest success is {max(late.values()):.0f} s old; growth {growth(samples):.3f}")
            calm.crawl("--jobs", "2", code=1, timeout=300)  # one is broken
            assert sum(service.kills.values())
            assert index_differences(calm, shaken) == []
            assert [one for name in runs for one in runs_at_once(name, runs[name])] == []
            assert sites.asked_at_once() == []
            assert numbers[-1] <= (ended - begun) / 60 + 2
            assert max(late.values()) <= STALE, late
            assert not last_success(runs[BROKEN])[0]
            assert tracebacks(shaken) == []
            assert growth(samples) <= MOST_GROWTH
        finally:
            service.kill_all()
