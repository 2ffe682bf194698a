"""Standard streams that are closed, and too few open files: one line, no traceback."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.project import ROOT, Workspace


def shell(workspace: Workspace, line: str) -> subprocess.CompletedProcess[str]:
    command = f"{sys.executable} -m ultracrawl"
    return subprocess.run(
        ["sh", "-c", line.format(command)],
        cwd=workspace.directory,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def defined(workspace: Workspace) -> Workspace:
    workspace.define("http://127.0.0.1:1/")
    return workspace


@pytest.mark.parametrize("verb", ["urls", "status --json", "crawl", "search x"])
def test_a_closed_output_is_reported_in_a_line(defined: Workspace, verb: str) -> None:
    ended = shell(defined, f"{{}} {verb} >&-")
    told = "ultracrawl: standard output is closed; redirect it, to /dev/null if nobody reads it\n"
    assert (ended.returncode, ended.stderr) == (1, told)


def test_a_closed_error_output_changes_nothing(defined: Workspace) -> None:
    ended = shell(defined, "{} status 2>&-")
    assert (ended.returncode, ended.stdout.splitlines()[0]) == (
        0,
        "site: never crawled; 0 URLs known, 0 indexed",
    )


@pytest.mark.parametrize("files", [63, 20, 14, 10, 7])
def test_too_few_open_files_are_reported_in_a_line(defined: Workspace, files: int) -> None:
    ended = shell(defined, f"ulimit -n {files}; {{}} crawl")
    told = [line for line in ended.stderr.splitlines() if line.strip()]
    assert (ended.returncode, len(told), "Traceback" in ended.stderr) == (1, 1, False), ended.stderr
