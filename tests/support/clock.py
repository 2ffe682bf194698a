"""The wall clock of hosted commands, which may be ahead of the true one."""

from __future__ import annotations

import time

AHEAD = "TESTS_CLOCK_AHEAD"
"""The variable that tells a hosted command by how many seconds its clock is ahead."""

_true = time.time
_ahead = 0.0


def install() -> None:
    """Replace `time.time` for whatever is imported from now on."""
    time.time = _now


def set_ahead(seconds: float) -> None:
    """Have it be so much later for this process and those that it forks."""
    global _ahead  # noqa: PLW0603
    _ahead = seconds


def _now() -> float:
    return _true() + _ahead
