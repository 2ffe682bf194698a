"""One project of nine sources in five runs: what is wrong with one costs the others nothing, and is told once."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from support.neighbours import PAGES, RIGHT, Neighbours
from support.network import NetworkSite
from support.project import Workspace

RUNS = range(1, 6)
LEFT_OUT = 2
"""Rows whose keys are faulty, each in a remark of its own."""


def documents(workspace: Workspace) -> dict[str, set[str]]:
    """Return the paths of the documents in the index by source; none is there twice."""
    found = defaultdict[str, set[str]](set)
    for row in map(json.loads, workspace.command("index", "dump").out.splitlines()):
        path = "/" + row["url"].partition("://")[2].partition("/")[2]
        assert path not in found[row["source"]]
        found[row["source"]].add(path)
    return found


def hits(workspace: Workspace, word: str, *principals: str) -> list[str]:
    """Return the names of what somebody finds."""
    who = [part for name in principals for part in ("--principal", name)]
    return sorted(path.rpartition("/")[2] for path in workspace.search(word, *who))


def check_sums(report: dict[str, Any], kept: set[str], queued: int) -> None:
    """Check that the numbers of a report are those of its outcomes, of the index and of the queue."""
    outcomes = Counter(report["outcomes"])
    assert report["documents"] == len(kept)
    assert report["indexed"] == outcomes["NEW"] + outcomes["MODIFIED"]
    assert report["scheduled"] == outcomes.total() + queued
    assert sum(report["status_codes"].values()) == outcomes.total()
    assert report["statistics"]["to_fetch"] == queued


@pytest.mark.timeout(600)
@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_five_runs_beside_bad_neighbours(workspace: Workspace, tmp_path: Path, engine: str) -> None:
    neighbours = Neighbours(NetworkSite, tmp_path)
    with neighbours.served():
        workspace.write(neighbours.definition(engine))
        for run in RUNS:
            neighbours.enter(run)
            reports = {one["source"]: one for one in workspace.crawl(code=1, PW=RIGHT).json["runs"]}
            kept = documents(workspace)
            assert {name: kept[name] for name in reports} == neighbours.expected()
            queued = Counter(
                row["source"] for row in workspace.command("urls", "--outcome", "QUEUED", "--json").lines
            )
            for name, report in reports.items():
                check_sums(report, kept[name], queued[name])
            troubled = {name: len(report["problems"]) for name, report in reports.items()}
            assert troubled == {name: int(name in neighbours.troubled()) for name in reports}
            remarks = {name: len(report["remarks"]) for name, report in reports.items() if report["remarks"]}
            assert remarks == {"rows": LEFT_OUT, **({"foreign": 1} if run >= 4 else {})}
            check_readers(workspace, neighbours)
            assert workspace.command("index", "check").code == 0
        healthy = ("steady", "lively", "equal", "private", "foreign", "rows", "folder")
        assert workspace.command("crawl", *healthy, PW=RIGHT).code == 0, "only two need a person"
    asked = {request.path.partition("?")[0] for request in neighbours.elsewhere.requests}
    assert asked == {"/robots.txt", "/consent"}


def check_readers(workspace: Workspace, neighbours: Neighbours) -> None:
    """Check that what is private is found by its readers alone."""
    members = sorted(map(str, range(PAGES)))
    assert hits(workspace, "axolotl") == hits(workspace, "axolotl", "members", "user:members") == []
    assert hits(workspace, "axolotl", "group:members") == members
    assert hits(workspace, "kakapo") == hits(workspace, "kakapo", neighbours.owner) == ["open.txt"]
    assert hits(workspace, "kakapo", f"group:{neighbours.group}") == ["open.txt", "shared.txt"]
    assert hits(workspace, "kakapo", f"user:{neighbours.owner}") == ["open.txt", "own.txt", "shared.txt"]
