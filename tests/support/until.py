"""Waiting for something that a process does, however slow the machine."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

PATIENCE = 40.0


def until(
    true: Callable[[], object], process: subprocess.Popen[str] | None = None, patience: float = PATIENCE
) -> None:
    """Wait until something holds; fail if that takes too long, or the process that is to bring it about has ended."""
    deadline = time.monotonic() + patience
    while not true():
        assert process is None or process.poll() is None, "it ended before it came to that"
        assert time.monotonic() < deadline, "it did not come to that in time"
        time.sleep(0.02)
