"""benchmarks/administration.py: its states are full, its crawls write, and each answer is measured."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.benchmarks import load_benchmark

from ultracrawl.model import UrlOutcome
from ultracrawl.stores import SqliteStore


def test_states_are_filled_and_changed_as_by_crawls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    administration = load_benchmark("administration", monkeypatch)
    states = administration.make_project(tmp_path, 2, 120)
    with administration.crawl(states[1]) as steps:
        for _ in range(3):
            next(steps)
    visited = []
    for path in states:
        state = SqliteStore(path, path.stem, read_only=True)
        counts = state.records.count_urls()
        assert (counts.known, counts.documents) == (120, 102)
        assert len(state.runs(100)) == administration.RUNS + (path is states[1])
        visited.append(counts.outcomes.get(UrlOutcome.NOT_MODIFIED, 0))
        state.close()
    assert visited[0] == 0 < visited[1]


@pytest.mark.servers
@pytest.mark.processes
def test_a_service_is_measured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    administration = load_benchmark("administration", monkeypatch)
    administration.main(["--sources", "2", "--urls", "60", "--crawls", "1", "--polls", "2"])
    lines = capsys.readouterr().out.splitlines()
    assert sum("| 50 |" in line for line in lines) == len(administration.PATHS)
    assert sum("| 2 |" in line for line in lines) == len(administration.PATHS)
    assert lines[-1].startswith("Memory: ")
