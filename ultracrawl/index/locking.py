"""The lock that processes take in turns to write to an index."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ultracrawl.errors import IndexLockedError

LOCK = "write.lock"
"""The file in the folder of an index that is locked while somebody writes, unless its format has another one."""
WHOOSH_LOCK = "MAIN_WRITELOCK"
"""The file that programs with Whoosh lock, too."""
LOCKS = (LOCK, WHOOSH_LOCK)


@contextmanager
def write_lock(path: Path, seconds: float, name: str = LOCK) -> Iterator[None]:
    """Hold the lock of the index in this folder; it ends with the process, whatever way that ends.

    Raises `IndexLockedError` if another process holds it for longer than so many seconds.
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
