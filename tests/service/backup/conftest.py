"""A project that was crawled, and another folder with the same definition."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.in_process import InProcessWorkspace
from support.network import NetworkSite
from support.project import Workspace
from support.site import Site


@pytest.fixture
def site(processes: bool) -> Site:
    site = Site() if processes else NetworkSite()
    names = [f"/{number}" for number in range(20)]
    site.page("/", title="Start", links=names, text="where it begins")
    for name in names:
        site.page(name, title=f"Page {name}", links=["/"], text=f"the text of page {name[1:]}")
    return site


@pytest.fixture
def workspace(processes: bool, tmp_path: Path) -> Workspace:
    folder = tmp_path / "here"
    folder.mkdir()
    return Workspace(folder) if processes else InProcessWorkspace(folder)


@pytest.fixture
def elsewhere(workspace: Workspace) -> Workspace:
    """A folder that gets the definition of the project with `move`."""
    folder = workspace.directory.parent / "elsewhere"
    folder.mkdir()
    return type(workspace)(folder)


def move(workspace: Workspace, elsewhere: Workspace) -> Path:
    """Save a project and restore it elsewhere; returns the archive."""
    archive = workspace.directory.parent / "saved.tgz"
    saved = workspace.command("backup", str(archive), "--json")
    assert saved.code == 0, saved.err
    shutil.copy(workspace.directory / "ultracrawl.yaml", elsewhere.directory)
    restored = elsewhere.command("restore", str(archive), "--json")
    assert restored.code == 0, restored.err
    assert restored.json["restored"] == saved.json["saved"]
    assert restored.json["same_definition"] is True
    return archive
