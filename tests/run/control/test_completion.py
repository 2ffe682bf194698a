"""The program at the end of a run: also after one that failed, or could not begin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.project import Workspace
from support.site import Site


@pytest.fixture
def reported(workspace: Workspace) -> Path:
    return workspace.directory / "told"


def define(workspace: Workspace, url: str, after: Any = None, **options: Any) -> None:
    names = ("RUN", "RESULT", "REGISTERED", "FETCHED", "INDEXED", "DELETED", "PROBLEM")
    line = " ".join(f"${{ULTRACRAWL_{name}}}" for name in names)
    program = workspace.directory / "note.sh"
    program.write_text(f'#!/bin/sh\necho "{line}" >> told\n')
    program.chmod(0o700)
    completion = {"command": str(program), **({"after": after} if after else {})}
    workspace.define(url, completion=completion, **options)


def test_a_run_with_documents_is_reported_with_its_numbers(
    workspace: Workspace, site: Site, url: str, reported: Path
) -> None:
    site.page("/", title="Home", links=["/a"])
    site.page("/a", title="A")
    define(workspace, f"{url}/")
    workspace.crawl()
    assert reported.read_text() == "1 done 2 2 2 0 \n"
    workspace.crawl()
    assert reported.read_text().count("\n") == 1, "nothing came into the index"


def test_a_run_that_failed_is_reported(workspace: Workspace, site: Site, url: str, reported: Path) -> None:
    site.respond("/", status=500)
    define(workspace, f"{url}/")
    workspace.crawl(code=1)
    assert reported.read_text().startswith("1 failed 0 ")
    assert url in reported.read_text()


def test_a_run_that_could_not_begin_is_reported(
    workspace: Workspace, site: Site, url: str, reported: Path
) -> None:
    site.page("/", title="Home")
    access = {"a": {"url": f"{url}/", "user": "u", "password": "${NOT_SET_AT_ALL}"}}
    define(workspace, f"{url}/", authentication=access)
    assert workspace.command("crawl", "--json").code == 2
    assert reported.read_text().startswith(" failed 0 0 0 0 ")
    assert "NOT_SET_AT_ALL" in reported.read_text()


def test_which_runs_are_reported_is_up_to_the_definition(
    workspace: Workspace, site: Site, url: str, reported: Path
) -> None:
    site.page("/", title="Home", text="words")
    define(workspace, f"{url}/", after="failure")
    workspace.crawl()
    assert not reported.exists()
    define(workspace, f"{url}/", after=["nothing new"])
    workspace.crawl()
    assert reported.read_text().startswith("2 done 0 ")
