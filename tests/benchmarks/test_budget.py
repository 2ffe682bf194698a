"""benchmarks/budget.py: what counts for which component, the table, and the sampler in a process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from support.benchmarks import load_benchmark
from support.project import ROOT

BUSY = """
import time

def work(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(99))
"""
INDEX = [sys.executable, "-m", "ultracrawl.index.writing.worker", "{}"]


@pytest.fixture
def budget(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return load_benchmark("budget", monkeypatch)


@pytest.mark.parametrize(
    ("place", "counts_for"),
    [
        ("ultracrawl/content/html/walk.py", "reading"),
        ("ultracrawl/rules/urls/canonical.py", "links"),
        ("ultracrawl/scheduler/ingest.py", "links"),
        ("ultracrawl/scheduler/scheduler.py", "scheduler"),
        ("twisted/internet/defer.py", "Scrapy, Twisted, asyncio"),
        ("ultracrawl/run/writing/writer.py", "pipelines, hand-over to the index"),
        ("ultracrawl/run/visit.py", "the rest of a visit"),
        ("import", "start: imports, settings, definitions"),
    ],
)
def test_the_longest_part_of_a_path_says_what_time_counts_for(
    budget: ModuleType, place: str, counts_for: str
) -> None:
    assert budget.component(place) == counts_for


def test_every_file_that_counts_is_there(budget: ModuleType) -> None:
    parts = [part for parts in budget.COMPONENTS.values() for part in parts if part.startswith("ultracrawl")]
    assert parts
    assert [part for part in parts if not list(ROOT.glob(f"{part}*"))] == []


def test_all_of_the_index_process_is_of_the_index_but_its_start(budget: ModuleType) -> None:
    places = {"import": 1.0, "ultracrawl/content/text.py": 2.0, "ultracrawl/index/whoosh/index.py": 4.0}
    processes = [
        {"command": [sys.executable, "-m", "ultracrawl", "crawl"], "places": places, "threads": 8.0},
        {"command": INDEX, "places": places, "threads": 16.0},
    ]
    assert budget.seconds_by_component(processes) == {
        "start: imports, settings, definitions": 1.0,
        "reading": 2.0,
        "pipelines, hand-over to the index": 4.0,
        budget.OTHER: 8.0,
        budget.START_OF_INDEX: 1.0,
        budget.INDEX: 22.0,
    }


def test_calls_of_the_index_process_are_those_of_the_index(budget: ModuleType) -> None:
    reading, index = "ultracrawl/content/text.py", "ultracrawl/index/whoosh/index.py"
    counts = {"functions": {reading: 3}, "in_c": {reading: 1, index: 5}, "given": {}}
    processes = [{"command": ["ultracrawl", "crawl"], **counts}, {"command": INDEX, **counts}]
    assert budget.calls_by_component(processes) == {
        "reading": 4,
        "pipelines, hand-over to the index": 5,
        budget.INDEX: 9,
    }


def test_calls_are_compared_with_those_of_a_release_and_time_is_not(budget: ModuleType) -> None:
    rows = dict.fromkeys(budget.ROWS, budget.Row(0, 0.0))
    now = {"first crawl": rows | {"reading": budget.Row(500, 300.0), "links": budget.Row(0, 100.0)}}
    lines = budget.report(now, "version 1.0", {"first crawl": {"reading": 400}}).splitlines()
    assert lines == [
        "| first crawl: a page | calls | version 1.0 | difference | CPU µs | share |",
        "| --- | --- | --- | --- | --- | --- |",
        "| reading | 500 | 400 | +100 | 300 | 75% |",
        "| links |  |  |  | 100 | 25% |",
        "| all | 500 | 400 | +100 | 400 | 100% |",
    ]


def test_what_is_stored_has_the_rows_of_the_table(budget: ModuleType) -> None:
    stored = json.loads(budget.STORED.read_text())["calls_a_page"]
    assert tuple(stored) == budget.CRAWLS
    assert all(tuple(rows) == budget.ROWS for rows in stored.values())


@pytest.mark.processes
def test_time_goes_to_the_innermost_file_that_belongs_to_somebody(budget: ModuleType, tmp_path: Path) -> None:
    package = tmp_path / "ultracrawl"
    package.mkdir()
    (package / "busy.py").write_text(BUSY)
    script = "import sys; sys.path.insert(0, '.'); from ultracrawl.busy import work; work(0.5)"
    environment = {"PYTHONPATH": str(budget.SAMPLER), "BUDGET_FOLDER": str(tmp_path)}

    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, check=True)

    (found,) = [json.loads(file.read_text()) for file in tmp_path.glob("*.json")]
    assert max(found["places"], key=found["places"].get) == "ultracrawl/busy.py"
    assert found["command"][-2:] == ["-c", script]
