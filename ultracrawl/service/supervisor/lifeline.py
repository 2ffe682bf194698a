"""A crawl in a process of its own ends with who wanted it."""

from __future__ import annotations

import os
import select
import signal
import threading
import time

GRACE = 60.0
"""Seconds that a crawl without a parent has to end cleanly."""


def end_with(parent: int) -> None:
    """Watch the end of a pipe whose other end the parent holds, and nobody else: it closes however the parent ends.

    Then the crawl ends as after SIGTERM, so that it can be resumed; at the latest after `GRACE` seconds.
    """
    threading.Thread(target=_watch, args=(parent,), name="parent", daemon=True).start()


def _watch(parent: int) -> None:
    select.select([parent], [], [])
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(1)
