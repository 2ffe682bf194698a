"""Which clock bounds work of our own: its processor time, so that a busy machine costs nothing.

A limit of seconds for work that this program does itself (reading, converting, functions of filters, searches) is one
of processor time: the same work takes the same, whatever else the machine does. Work that hangs takes none. So the
clock on the wall is looked at as well, and allows ten times as long (`wall_limit`). What meets that may be innocent
(`HungError`): a page is read once more, alone, at the end of the run.

Who waits for other processes of ours, for a lock or for their start, works nothing: only the clock on the wall counts,
with as much time as their work has.

Limits for answers of others, over a network or a pipe, stay on the wall.
"""

from __future__ import annotations

import time
from collections.abc import Callable

WALL_FACTOR = 10
"""How many times as long as its limit of processor time work may take by the clock on the wall."""
LEAST_WALL_SECONDS = 60.0
"""Seconds that it may take at least: a busy machine may need as long to start a process."""

Clock = Callable[[], float]
"""Returns seconds from any beginning."""

WALL: Clock = time.monotonic
"""The clock on the wall, as far as it measures: nobody sets it."""


def wall_limit(seconds: float) -> float:
    """Return the seconds by the clock on the wall that go with a limit of processor time."""
    return max(WALL_FACTOR * seconds, LEAST_WALL_SECONDS)


START_LIMIT = wall_limit(10.0)
"""Seconds by the clock on the wall that a process may take to start; no process of ours needs ten of processor time."""
LOCK_LIMIT = wall_limit(6.0)
"""Seconds by the clock on the wall to wait for a lock that other processes hold for a moment, as for a transaction."""


class HungError(Exception):
    """Work met its limit by the clock on the wall, but not that of processor time: it hangs, or the machine is busy."""
