"""The versions of a definition: their order, who saved them, and that old ones are forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.clock import wall_time

from ultracrawl.errors import NotFoundError, WorkError
from ultracrawl.service.editing import versions as module
from ultracrawl.service.editing.versions import MOST_VERSIONS, Versions, versions_folder
from ultracrawl.sources import Project, adhoc_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return adhoc_project(["http://site.example/"], tmp_path)


def add(project: Project, *revisions: str, at: float | None = None, lines: str = "x") -> None:
    for revision in revisions:
        with Versions(project, "site").adding() as added:
            added.add(revision, lines, "user:anna", at)


def test_versions_are_numbered_and_the_same_revision_is_no_new_one(project: Project) -> None:
    assert Versions(project, "site").all_versions() == []
    add(project, "a", "b", "b", "a")
    assert [(one.number, one.revision) for one in Versions(project, "site").all_versions()] == [
        (3, "a"),
        (2, "b"),
        (1, "a"),
    ]
    assert Versions(project, "site").find(2).who == "user:anna"
    assert Versions(project, "other").all_versions() == []
    with pytest.raises(NotFoundError):
        Versions(project, "site").find(4)


def test_only_the_latest_are_kept(project: Project) -> None:
    add(project, *map(str, range(MOST_VERSIONS + 3)))
    numbers = [one.number for one in Versions(project, "site").all_versions()]
    assert numbers == [*range(MOST_VERSIONS + 3, 3, -1)]


def test_versions_end_by_age_and_size_but_not_the_latest(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(project, "a", at=wall_time() - module.LONGEST - 10)
    assert len(Versions(project, "site").all_versions()) == 1
    add(project, "b")
    assert [one.revision for one in Versions(project, "site").all_versions()] == ["b"]
    monkeypatch.setattr(module, "MOST_CHARACTERS", 10)
    add(project, "c", "d", lines="x" * 9)
    assert [one.revision for one in Versions(project, "site").all_versions()] == ["d"]


def test_a_damaged_history_is_no_reason_to_lose_it(project: Project) -> None:
    add(project, "a")
    file = versions_folder(project) / "site.json"
    file.write_text("{")
    with pytest.raises(WorkError):
        add(project, "b")
    assert file.read_text() == "{"
