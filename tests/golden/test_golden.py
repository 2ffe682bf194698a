"""Every pair does what its trace says; see the package for what that is, and how traces are written anew."""

from __future__ import annotations

from collections.abc import Container, Iterable
from pathlib import Path
from typing import Any

import pytest

from golden import recorder
from golden.drawn import commit, draw
from golden.pairs import load_pairs
from golden.stored import TRACES, assert_same, check, stored

ENGINE_INDEPENDENT = ("code", "requests", "urls", "documents", "documents gone")
"""The parts of a run that are the same with every index engine."""

PAIRS = load_pairs()
NEVER_DUE = {"several_sources", "docsearch", *(name for name in PAIRS if name.startswith("robot_"))}
"""Pairs whose next run is never due by itself."""

QUICK = (
    "boundary",  # which links are followed, explained by rule
    "conditional",  # validators, bodies that are the same
    "deletion_guard",  # removal, and what is held back
    "destinations",  # several indexes and files
    "documents",  # converters
    "duplicates",  # which URL a document has
    "errors",  # statuses, broken connections, retries
    "examine",  # documents that wait for approval
    "feeds",  # expiry of entries
    "form_login",  # log-ins, cookies
    "priorities_and_logs",  # levels of the queue, all logs
    "relations",  # related URLs, texts of links
    "rewriting",  # rules for URLs
    "several_sources",  # sources that hand each other links
    "sitemaps",  # sitemaps and their parts
    "storage",  # stored responses, `reindex`
    "folder",  # files
    "table_compared",  # rows
    "smart_agent",  # an agent that lists changes, readers
    "fast_sub_collections",  # an XML file of collections
    "robot_filters",  # a portal robot with filters
)
"""The pairs that `make test` plays: those that enter most rooms."""
KILLS = {
    "first run": [name for name, pair in PAIRS.items() if pair.kill_at],
    "later run": [name for name, pair in PAIRS.items() if pair.kill_at],
    "between runs": [name for name in PAIRS if name not in NEVER_DUE],
    "before anything is indexed": [name for name, pair in PAIRS.items() if not pair.kill_at],
}
"""The pairs that are killed at a moment; `make ci` does it once a pair, at a moment that its commit draws."""
QUICK_KILLS = {
    "first run": {"boundary", "several_sources", "fast_sub_collections"},
    "between runs": {"folder", "conditional"},
}
"""The kills of `make test`."""
DRAWN = {name: draw([at for at, names in KILLS.items() if name in names], name, commit()) for name in PAIRS}


def pairs(
    names: Iterable[str], quick: Container[str] = (), night: Container[str] = ()
) -> pytest.MarkDecorator:
    """Have pairs played in `make ci`, but those of `quick` in `make test` and those of `night` at night."""

    def marks(name: str) -> list[pytest.MarkDecorator]:
        if name in quick:
            return [pytest.mark.processes, pytest.mark.essential]
        return [pytest.mark.servers, *([pytest.mark.night] if name in night else [])]

    return pytest.mark.parametrize("name", [pytest.param(name, marks=marks(name)) for name in names])


def killed_pairs(moment: str) -> pytest.MarkDecorator:
    """Have the pairs killed for which this moment is drawn, and the others at night."""
    others = [name for name in KILLS[moment] if DRAWN[name] != moment]
    return pairs(KILLS[moment], QUICK_KILLS.get(moment, ()), others)


@pairs(PAIRS, QUICK)
def test_runs(name: str, tmp_path: Path) -> None:
    check(name, recorder.runs(PAIRS[name], tmp_path))


@killed_pairs("first run")
def test_kill(name: str, tmp_path: Path) -> None:
    left = recorder.killed(PAIRS[name], tmp_path)
    assert_same(recorder.undisturbed(stored(name), left), left)


@pairs(PAIRS, night=PAIRS)
def test_runs_in_which_nothing_changes_leave_every_document_as_it_is(name: str, tmp_path: Path) -> None:
    _, third, fourth, fifth = recorder.documents_of_runs(PAIRS[name], tmp_path, 5)
    assert_same(third, fourth)
    assert_same(third, fifth)


@killed_pairs("later run")
def test_a_kill_in_a_later_run_leaves_the_documents_of_an_undisturbed_one(name: str, tmp_path: Path) -> None:
    assert_same(*recorder.killed_between(PAIRS[name], tmp_path))


@killed_pairs("between runs")
def test_a_kill_between_two_runs_changes_nothing(name: str, tmp_path: Path) -> None:
    assert_same(recorder.second(stored(name)), recorder.killed_waiting(PAIRS[name], tmp_path))


@killed_pairs("before anything is indexed")
def test_a_kill_before_anything_is_indexed(name: str, tmp_path: Path) -> None:
    wanted = recorder.second(stored(name))["documents"]
    assert_same({"documents": wanted}, recorder.killed_indexing(PAIRS[name], tmp_path))


@pairs(PAIRS)
def test_the_other_engine_has_the_same_documents_and_finds_them(name: str, tmp_path: Path) -> None:
    found = recorder.runs(PAIRS[name], tmp_path, "tantivy")
    trace = stored(name)
    assert_same({run: kept(trace[run]) for run in found}, {run: kept(part) for run, part in found.items()})
    assert_same(found_by(trace["searches"]), found_by(found["searches"]))


@pairs(PAIRS)
def test_look(name: str, tmp_path: Path) -> None:
    check(name, {"look": recorder.looks(PAIRS[name], tmp_path)})


def test_a_commit_kills_each_pair_and_others_kill_it_at_other_moments() -> None:
    assert all(name in KILLS[moment] for name, moment in DRAWN.items())
    assert {draw(list(KILLS), "boundary", str(number)) for number in range(99)} == {*KILLS}


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
