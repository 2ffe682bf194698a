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


@pytest.mark.xfail(strict=True, reason="a closed output ends in a traceback")
@pytest.mark.parametrize("verb", ["urls", "status --json", "crawl", "search x"])
def test_a_closed_output_is_told_in_a_line(defined: Workspace, verb: str) -> None:
    ended = shell(defined, f"{{}} {verb} >&-")
    told = "ultracrawl: standard output is closed; redirect it, to /dev/null if nobody reads it\n"
    assert (ended.returncode, ended.stderr) == (1, told)
