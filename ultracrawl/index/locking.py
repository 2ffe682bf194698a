"""The write lock of an index, shared by all processes."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ultracrawl.errors import IndexLockedError
from ultracrawl.system.wall_guard import wall_limit

LOCK = "write.lock"
"""Lock file in the folder of an index, unless its format defines another one."""
WHOOSH_LOCK = "MAIN_WRITELOCK"
"""Lock file of Whoosh, which programs that use Whoosh lock as well."""
LOCKS = (LOCK, WHOOSH_LOCK)
LOCK_SECONDS = wall_limit(60.0)
"""Seconds to wait for the lock by the clock on the wall: a commit of a large batch takes minutes."""


@contextmanager
def write_lock(path: Path, seconds: float, name: str = LOCK) -> Iterator[None]:
    """Hold the write lock of the index in this folder; the system releases it when the process ends.

    Raises `IndexLockedError` if another process holds it for longer than `seconds`.
    """
    path.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + seconds
    with (path / name).open("ab") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise IndexLockedError(
                        f"index {path} has been locked by another process for {seconds:g} seconds"
                    ) from None
                time.sleep(0.05)
        yield
