"""Processes of a browser that are ended because they have become too large."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.until import stays, until

from ultracrawl.run.rendering.memory_watch import MemoryWatch
from ultracrawl.system.process_memory import memory_of_tree

MEGABYTE = 1 << 20
CHILD = "import sys; kept = b'x' * (int(sys.argv[1]) << 20); print(1, flush=True); sys.stdin.read()"
PARENT = f"""
import subprocess, sys
words = [[sys.executable, '-c', {CHILD!r}, size, '--type=renderer'] for size in sys.argv[1:]]
started = [subprocess.Popen(each, stdin=subprocess.PIPE) for each in words]
sys.stdin.read()
"""
Process = subprocess.Popen[bytes]


def started(code: str, *words: str, lines: int) -> Process:
    """Start a process, and wait until it and those that it starts have written so many lines."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    for _ in range(lines):
        process.stdout.readline()
    return process


@pytest.fixture
def tree() -> Iterator[Process]:
    """A process that stands for a browser, with two that stand for pages: one of 150 MB, one of 50 MB."""
    with started(PARENT, "150", "50", lines=2) as process:
        yield process
        process.kill()


def sizes(process: Process) -> list[int]:
    """Return the megabytes of the pages that have not ended, in steps of 50."""
    own, *pages = memory_of_tree(process.pid)
    assert own.pid == process.pid
    return sorted(page.size // MEGABYTE // 50 * 50 for page in pages if page.size)


def test_a_process_is_measured_with_those_that_it_has_started(tree: Process) -> None:
    own, *pages = memory_of_tree(tree.pid)
    assert own.size < 50 * MEGABYTE
    assert sizes(tree) == [50, 150]
    assert all(page.command.split(b"\0")[-2] == b"--type=renderer" for page in pages)


def test_a_process_that_has_ended_has_none() -> None:
    with started("", lines=0) as process:
        process.wait()
    assert memory_of_tree(process.pid) == []


def test_files_that_are_mapped_do_not_count() -> None:
    own = memory_of_tree(os.getpid())[0]
    status = dict(line.split(":\t") for line in Path("/proc/self/status").read_text().splitlines())
    assert 0 < own.size < int(status["VmRSS"].split()[0]) * 1024


@pytest.mark.parametrize(
    ("page", "total", "left"),
    [(1000, 1000, [50, 150]), (100, 1000, [50]), (1000, 200, [50])],
    ids=["small enough", "a page too large", "all together too large"],
)
def test_the_largest_page_is_ended(tree: Process, page: int, total: int, left: list[int]) -> None:
    watch = MemoryWatch(tree.pid, page * MEGABYTE, total * MEGABYTE)
    until(lambda: sizes(tree) == left)
    if len(left) == 2:
        stays(lambda: sizes(tree), 1.0)
    watch.close()
    assert [watch.claim(), watch.claim()] == [len(left) == 1, False]


def test_the_browser_is_ended_if_it_is_too_large_itself() -> None:
    with started(CHILD, "150", lines=1) as process:
        watch = MemoryWatch(process.pid, 1000 * MEGABYTE, 100 * MEGABYTE)
        assert process.wait(timeout=100) == -signal.SIGKILL
        watch.close()
