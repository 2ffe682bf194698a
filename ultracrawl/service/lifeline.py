"""What works in a process of its own ends with who wanted it."""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from multiprocessing.process import parent_process

GRACE = 60.0
"""Seconds that a process without a parent has to end cleanly."""


def end_with_parent() -> None:
    """Have a process that `multiprocessing` has started end with the one that wanted it."""
    above = parent_process()
    if above is not None:
        end_with(above.sentinel)


def end_with(parent: int) -> None:
    """Watch the end of a pipe whose other end the parent holds, and nobody else: it closes however the parent ends.

    Then this process ends as after SIGTERM, so that it can be resumed; at the latest after `GRACE` seconds.
    """
    threading.Thread(target=_watch, args=(parent,), name="parent", daemon=True).start()


def _watch(parent: int) -> None:
    select.select([parent], [], [])
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(1)
