"""Every pair does what its trace says; see the package for what that is, and how traces are written anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from golden import recorder
from golden.pairs import load_pairs
from golden.stored import TRACES, assert_same, check, stored

pytestmark = pytest.mark.servers

ENGINE_INDEPENDENT = ("code", "requests", "urls", "documents", "documents gone")
"""The parts of a run that are the same with every index engine."""

PAIRS = load_pairs()
NEVER_DUE = {"several_sources", "docsearch", *(name for name in PAIRS if name.startswith("robot_"))}
"""Pairs whose next run is never due by itself."""

every_pair = pytest.mark.parametrize("name", PAIRS)


@every_pair
def test_runs(name: str, tmp_path: Path) -> None:
    check(name, recorder.runs(PAIRS[name], tmp_path))


@pytest.mark.parametrize("name", [name for name, pair in PAIRS.items() if pair.kill_at])
def test_kill(name: str, tmp_path: Path) -> None:
    left = recorder.killed(PAIRS[name], tmp_path)
    assert_same(recorder.undisturbed(stored(name), left), left)


@every_pair
def test_runs_in_which_nothing_changes_leave_every_document_as_it_is(name: str, tmp_path: Path) -> None:
    _, third, fourth, fifth = recorder.documents_of_runs(PAIRS[name], tmp_path, 5)
    assert_same(third, fourth)
    assert_same(third, fifth)


@pytest.mark.parametrize("name", [name for name, pair in PAIRS.items() if pair.kill_at])
def test_a_kill_in_a_later_run_leaves_the_documents_of_an_undisturbed_one(name: str, tmp_path: Path) -> None:
    assert_same(*recorder.killed_between(PAIRS[name], tmp_path))


@pytest.mark.parametrize("name", [name for name in PAIRS if name not in NEVER_DUE])
def test_a_kill_between_two_runs_changes_nothing(name: str, tmp_path: Path) -> None:
    assert_same(recorder.second(stored(name)), recorder.killed_waiting(PAIRS[name], tmp_path))


@pytest.mark.parametrize("name", [name for name, pair in PAIRS.items() if not pair.kill_at])
def test_a_kill_before_anything_is_indexed(name: str, tmp_path: Path) -> None:
    wanted = recorder.second(stored(name))["documents"]
    assert_same({"documents": wanted}, recorder.killed_indexing(PAIRS[name], tmp_path))


@every_pair
def test_the_other_engine_has_the_same_documents_and_finds_them(name: str, tmp_path: Path) -> None:
    found = recorder.runs(PAIRS[name], tmp_path, "tantivy")
    trace = stored(name)
    assert_same({run: kept(trace[run]) for run in found}, {run: kept(part) for run, part in found.items()})
    assert_same(found_by(trace["searches"]), found_by(found["searches"]))


@every_pair
def test_look(name: str, tmp_path: Path) -> None:
    check(name, {"look": recorder.looks(PAIRS[name], tmp_path)})


def test_no_trace_is_left_over() -> None:
    assert sorted(path.stem for path in TRACES.glob("*.json")) == sorted(PAIRS)


def kept(run: dict[str, Any]) -> dict[str, Any]:
    """Return what does not depend on the engine of a run of a trace."""
    return {part: run[part] for part in ENGINE_INDEPENDENT if part in run}


def found_by(searches: dict[str, Any]) -> dict[str, Any]:
    """Return what does not depend on the engine of searches: what is found, in whichever order engines score it."""
    return {
        asked: answer
        if isinstance(answer, list)
        else answer | {"hits": sorted(answer.get("hits", ())), "best": ""}
        for asked, answer in searches.items()
    }
