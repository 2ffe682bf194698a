"""What a crawl writes is for its account alone, unless the operator says otherwise."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from scrapy_ways.runs import Desk
from support.project import Workspace
from support.sentences import sentence
from support.site import Site

WRITTEN = ["cache", "documents", "index", "links", "log", "state"]
"""What lies in `var` after a crawl that keeps all that can be kept."""


def modes(folder: Path) -> dict[str, int]:
    """Return the permissions of a folder and of all in it, by path."""
    return {
        str(path.relative_to(folder)): stat.S_IMODE(path.stat().st_mode)
        for path in [folder, *folder.rglob("*")]
    }


@pytest.fixture
def open_umask() -> Any:
    before = os.umask(0o022)
    yield
    os.umask(before)


def define(site: Site, url: str, workspace: Workspace, engine: str) -> None:
    site.page("/", title="Home", text="words", links=["/a"])
    site.page("/a", title="A", text="heron")
    options = {
        "storage": {"keep": True, "link_lists": "var/links"},
        "log": {"screened": True, "header": True},
    }
    workspace.define(f"{url}/", **options)
    text = (workspace.directory / "ultracrawl.yaml").read_text()
    (workspace.directory / "ultracrawl.yaml").write_text(f"index: {{engine: {engine}}}\n{text}")


@pytest.mark.parametrize("way", ["ultracrawl", "scrapy"])
@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
@pytest.mark.processes
def test_nobody_else_reads_what_a_crawl_writes(
    site: Site, url: str, workspace: Workspace, open_umask: None, engine: str, way: str
) -> None:
    define(site, url, workspace, engine)
    if way == "ultracrawl":
        workspace.crawl()
        workspace.command("index", "rebuild")
    else:
        desk = Desk(workspace.directory)
        assert desk.scrapy("crawl", "site", SCRAPY_SETTINGS_MODULE="ultracrawl.settings").code == 0
    found = modes(workspace.directory / "var")
    assert {path: oct(mode) for path, mode in found.items() if mode & 0o077} == {}
    assert sorted({path.partition("/")[0] for path in found} & set(WRITTEN)) == WRITTEN


def test_a_group_may_be_let_in(site: Site, url: str, workspace: Workspace, open_umask: None) -> None:
    define(site, url, workspace, "whoosh")
    workspace.crawl(ULTRACRAWL_UMASK="027")
    found = modes(workspace.directory / "var")
    assert {mode for path, mode in found.items() if (workspace.directory / "var" / path).is_dir()} == {0o750}
    (segment,) = (mode for path, mode in found.items() if path.endswith(".seg"))
    assert segment == 0o640


def test_what_is_no_umask_is_a_mistake(url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/")
    ended = workspace.command("status", ULTRACRAWL_UMASK="rwx")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == sentence("settings.bad_umask")


def test_a_new_project_is_as_other_files_of_the_account(tmp_path: Path, open_umask: None) -> None:
    workspace = Workspace(tmp_path)
    assert workspace.command("startproject", "sources").code == 0
    assert modes(tmp_path / "sources")["scrapy.cfg"] == 0o644
