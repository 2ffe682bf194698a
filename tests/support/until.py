"""Waiting for something that a process does, however slow the machine."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

PATIENCE = 120.0
"""Seconds that something may take which comes within a few on a machine that has nothing else to do."""


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
