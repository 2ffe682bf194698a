"""Data of earlier versions are opened, searched, crawled on and checked by this one as they were by those."""

from __future__ import annotations

import json
import re
import sqlite3
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from support.project import Workspace
from support.site import Site

from upgrade.journey import in_full, journey, served
from upgrade.make import NAMES
from upgrade.projects import CRAWL, PROJECTS

pytestmark = pytest.mark.servers  # much time

HERE = Path(__file__).parent
VERSIONS = sorted(path.parent.name for path in HERE.glob("*/expected.json"))
EXPECTED = {name: json.loads((HERE / name / "expected.json").read_text()) for name in VERSIONS}
OUR_MODULE = re.compile(rb"\bultracrawl\.[a-z_]+\.[a-z_]")
CASES = [(version, project) for version in VERSIONS for project in EXPECTED[version]]


@pytest.fixture(params=CASES, ids="-".join)
def case(request: pytest.FixtureRequest) -> tuple[str, str]:
    version, project = request.param
    return version, project


@pytest.fixture
def workspace(case: tuple[str, str], tmp_path: Path) -> Workspace:
    """The data of a version, with its definitions."""
    version, project = case
    with tarfile.open(HERE / version / "data.tar.xz") as archive:
        of_project = [one for one in archive if one.name.split("/")[0] == project]
        archive.extractall(tmp_path, of_project, filter="data")
    return Workspace(tmp_path / project)


@pytest.fixture
def site(case: tuple[str, str], workspace: Workspace) -> Iterator[Site]:
    """The site as it was when the version had crawled it last."""
    project, site = PROJECTS[case[1]], Site()
    for run in range(1, project.runs + 1):
        project.fill(site, run)
    with served(site, workspace.directory, NAMES):
        yield site


def test_data_of_an_earlier_version_are_those_of_this_one(
    case: tuple[str, str], workspace: Workspace, site: Site
) -> None:
    expected = in_full(EXPECTED[case[0]][case[1]])
    seen = journey(workspace, PROJECTS[case[1]], site)
    assert list(differences(expected, seen)) == []
    files = [
        path for path in (workspace.directory / "var").rglob("*") if path.is_file() and path.suffix != ".log"
    ]
    assert [path.name for path in files if OUR_MODULE.search(path.read_bytes())] == [], "modules may move"


@pytest.mark.parametrize("case", [CASES[0]], ids="-".join)
@pytest.mark.parametrize("words", [CRAWL, ("urls", "--json"), ("status",)], ids=" ".join)
def test_a_state_of_a_later_version_is_refused_in_one_line_and_stays_as_it_is(
    workspace: Workspace, site: Site, words: tuple[str, ...]
) -> None:
    (state,) = (workspace.directory / "var" / "state").glob("*.sqlite")
    with closing(sqlite3.connect(state)) as db:
        db.execute("PRAGMA user_version=999999")
    before = state.read_bytes()
    ended = workspace.command(*words)
    said = "the state was written by a newer version"
    assert [said in line for line in (ended.out + ended.err).splitlines()].count(True) == 1
    assert "Traceback" not in ended.err
    assert ended.code == 1
    assert state.read_bytes() == before
    assert list(state.parent.glob("*damaged*")) == []
    assert site.requests == []


def differences(expected: Any, seen: Any, place: str = "") -> Iterator[str]:
    """Yield where something is missing or another; what a later version shows beside it is none of this."""
    if isinstance(expected, dict) and isinstance(seen, dict):
        for name in expected:
            yield from differences(expected[name], seen.get(name, "nothing"), f"{place} {name}")
    elif isinstance(expected, list) and isinstance(seen, list) and len(expected) == len(seen):
        for number, (one, other) in enumerate(zip(expected, seen, strict=True)):
            yield from differences(one, other, f"{place}[{number}]")
    elif expected != seen:
        yield f"{place.strip()}: {str(expected)[:300]} and not {str(seen)[:300]}"
