"""Every pair does what its trace says; see the package for what that is, and how traces are written anew."""

from __future__ import annotations

import difflib
import json
import os
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from golden import recorder
from golden.pair import PAIRS

pytestmark = pytest.mark.servers

TRACES = Path(__file__).with_name("traces")
WRITING = os.environ.get("ULTRACRAWL_GOLDEN") == "write"
WIDTH = 118
ENGINE_INDEPENDENT = ("code", "requests", "urls", "documents", "documents gone")
"""The parts of a run that are the same with every index engine."""

for file in sorted(Path(__file__).with_name("pairs").glob("[a-z]*.py")):
    import_module(f"golden.pairs.{file.stem}")

NEVER_DUE = {"several_sources", *(name for name in PAIRS if name.startswith("robot_"))}
"""Pairs whose next run is never due by itself."""

every_pair = pytest.mark.parametrize("name", PAIRS)


@every_pair
def test_runs(name: str, tmp_path: Path) -> None:
    check(name, recorder.runs(PAIRS[name], tmp_path))


@pytest.mark.parametrize("name", [name for name, pair in PAIRS.items() if pair.kill_at])
def test_kill(name: str, tmp_path: Path) -> None:
    left = recorder.killed(PAIRS[name], tmp_path)
    assert_same(recorder.undisturbed(stored(name)), left)


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


@pytest.mark.parametrize("name", [name for name, pair in PAIRS.items() if not pair.config])
def test_the_other_engine_has_the_same_documents(name: str, tmp_path: Path) -> None:
    found = recorder.runs(PAIRS[name], tmp_path, "tantivy")
    trace = stored(name)
    assert_same({run: kept(trace[run]) for run in found}, {run: kept(part) for run, part in found.items()})


@every_pair
def test_look(name: str, tmp_path: Path) -> None:
    check(name, {"look": recorder.looks(PAIRS[name], tmp_path)})


def test_no_trace_is_left_over() -> None:
    assert sorted(path.stem for path in TRACES.glob("*.json")) == sorted(PAIRS)


def check(name: str, found: dict[str, Any]) -> None:
    """Compare a part of a trace with what is stored, or store it."""
    if WRITING:
        parts = sorted((stored(name) | found).items(), key=lambda part: (part[0] == "look", part[0]))
        (TRACES / f"{name}.json").write_text(written(dict(parts)) + "\n")
        return
    trace = stored(name)
    assert_same({part: trace.get(part) for part in found}, found)


def kept(run: dict[str, Any]) -> dict[str, Any]:
    """Return what does not depend on the engine of a run of a trace."""
    return {part: run[part] for part in ENGINE_INDEPENDENT if part in run}


def stored(name: str) -> dict[str, Any]:
    file = TRACES / f"{name}.json"
    return json.loads(file.read_text()) if file.exists() else {}


def assert_same(expected: dict[str, Any], found: dict[str, Any]) -> None:
    """Fail with the lines that differ."""
    here, there = written(expected).splitlines(), written(found).splitlines()
    differences = list(difflib.unified_diff(here, there, "trace", "now", n=3, lineterm=""))
    assert not differences, "\n".join(["what happens now is not what the trace says:", *differences[:200]])


def written(value: Any, indent: int = 0) -> str:
    """Return JSON for people: what fits on a line stands on one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= WIDTH or not isinstance(value, dict | list):
        return line
    pad = " " * (indent + 1)
    if isinstance(value, list):
        return "[\n" + ",\n".join(pad + written(one, indent + 1) for one in value) + f"\n{' ' * indent}]"
    inner = ",\n".join(
        f"{pad}{json.dumps(k, ensure_ascii=False)}: {written(v, indent + 1)}" for k, v in value.items()
    )
    return "{\n" + inner + f"\n{' ' * indent}}}"
