"""Ends a child process together with its parent."""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from multiprocessing.process import parent_process

GRACE_SECONDS = 60.0
"""Seconds that a process has to end cleanly after its parent has ended."""


def exit_with_parent() -> None:
    """End this process, which `multiprocessing` has started, when its parent ends."""
    parent = parent_process()
    if parent is not None:
        exit_on_close(parent.sentinel)


def exit_on_close(pipe: int) -> None:
    """End this process when the other end of a pipe closes, which only the parent holds.

    The pipe closes however the parent ends. This process then gets SIGTERM, so that its crawl can be resumed, and is
    ended after `GRACE_SECONDS` at the latest.
    """
    threading.Thread(target=_wait_for_close, args=(pipe,), name="parent", daemon=True).start()


def _wait_for_close(pipe: int) -> None:
    select.select([pipe], [], [])
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os._exit(1)
