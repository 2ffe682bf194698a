"""The end of a command: quick, with everything said and done that was to be, and one line for output that fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.project import ROOT
from support.sentences import sentence

PROGRAM = """
import atexit, sys, weakref
class Loaded:
    def __del__(self):
        print("taken apart", flush=True)
kept = [Loaded()]
kept.append(kept)
from ultracrawl.cli import main
import click
atexit.register(print, "done at the end")
sys.argv = ["ultracrawl", *sys.argv[1:]]
main()
"""


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM, *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.skipif("COVERAGE_RUN" in os.environ, reason="to be measured, a process has to end as usual")
@pytest.mark.parametrize(("words", "code"), [(["--version"], 0), (["status", "-c", "/no/such/file.yaml"], 2)])
def test_what_was_registered_for_the_end_is_done_and_nothing_is_taken_apart(
    words: list[str], code: int
) -> None:
    ended = run(*words)
    assert ended.returncode == code
    assert ended.stdout.splitlines()[-1] == "done at the end"


def test_an_error_of_the_program_is_shown_by_python() -> None:
    program = (
        "import sys, ultracrawl.cli as package\n"
        "sys.modules['ultracrawl.cli.main'].cli = lambda *_, **__: 1 / 0\n"
        "package.main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["schema"]])
def test_output_that_cannot_be_written_is_one_line(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "ultracrawl", *words],
            cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (1, sentence("output.disk_full"))


def test_a_profiler_has_its_say() -> None:
    command = [sys.executable, "-m", "cProfile", "-m", "ultracrawl", "--version"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "cumtime" in ended.stdout
