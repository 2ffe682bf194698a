"""Waiting for what processes and tasks do, however slow the machine: the one place where tests wait, or see a clock."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

PATIENCE = 120.0
"""Seconds that something may take which comes within a few on a machine that has nothing else to do."""
PROCESSOR_PATIENCE = 30.0
"""Seconds of the processor that work may take which grows with its input, and needs less than two."""


def until(
    true: Callable[[], object], process: subprocess.Popen[str] | None = None, patience: float = PATIENCE
) -> None:
    """Wait until something holds; fail if that takes too long, or the process that is to bring it about has ended."""
    deadline = time.monotonic() + patience
    while True:
        # Before the look, so that what comes to hold in its course, or as the last of the process, counts.
        is_over, is_late = process is not None and process.poll() is not None, time.monotonic() >= deadline
        if true():
            return
        assert not is_over, "it ended before it came to that"
        assert not is_late, "it did not come to that in time"
        time.sleep(0.02)


async def until_on_loop(
    true: Callable[[], object], doing: Callable[[], Awaitable[object]] | None = None
) -> None:
    """Wait as `until` does, while the other tasks of the loop run on; `doing` is awaited before each look."""
    deadline = time.monotonic() + PATIENCE
    while True:
        is_late = time.monotonic() >= deadline
        if doing is not None:
            await doing()
        if true():
            return
        assert not is_late, "it did not come to that in time"
        await asyncio.sleep(0.02)


@contextmanager
def bounded() -> Iterator[None]:
    """Fail if what is done takes the processor for much longer than it should: its input makes anything else hang."""
    began = time.process_time()
    yield
    assert time.process_time() - began < PROCESSOR_PATIENCE, (
        "it takes more than time that grows with its input"
    )


def stays(value: Callable[[], object], seconds: float = 0.5) -> None:
    """Fail if a value changes within a while. A fault may need longer on a busy machine; what is right never fails."""
    before, end = value(), time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.02)
        assert value() == before


def some_time(seconds: float) -> None:
    """Let a process get wherever it gets, to be killed there: nothing that a test asserts may depend on how far."""
    time.sleep(seconds)
