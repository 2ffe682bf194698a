"""Bounds the memory of the browser: ends its processes that have become too large."""

from __future__ import annotations

import logging
import os
import signal
import threading
from contextlib import suppress

from ultracrawl.system.process_memory import memory_of_tree

logger = logging.getLogger(__name__)

CHECK_SECONDS = 0.2
"""Seconds between two checks."""
_PAGE_PROCESS = b"--type=renderer"


class MemoryWatch:
    """Looks at the processes of a browser five times a second, in a thread, because a page may allocate 1 GB a second.

    A process of a page with more than `page_bytes` is ended, and so is the largest one while all processes together
    have more than `all_bytes`; the whole browser, if that is the largest. Playwright tells the page.
    """

    def __init__(self, pid: int, page_bytes: int, all_bytes: int) -> None:
        self._pid = pid
        self._page_bytes = page_bytes
        self._all_bytes = all_bytes
        self._ended = 0
        self._closed = threading.Event()
        threading.Thread(target=self._run, name="browser memory", daemon=True).start()

    def claim(self) -> bool:
        """Return whether a process was ended that no page has claimed yet, for a page that is gone."""
        self._ended, had = max(self._ended - 1, 0), self._ended > 0
        return had

    def close(self) -> None:
        """Look no more."""
        self._closed.set()

    def _run(self) -> None:
        while not self._closed.wait(CHECK_SECONDS):
            self.check()

    def check(self) -> None:
        """End the processes that are too large now."""
        processes = sorted(memory_of_tree(self._pid), key=lambda process: process.size, reverse=True)
        total = sum(process.size for process in processes)
        for process in processes:
            is_page = _PAGE_PROCESS in process.command
            if total > self._all_bytes or (is_page and process.size > self._page_bytes):
                logger.warning("A process of the browser is ended: it has %d MB", process.size >> 20)
                self._ended += 1
                total -= process.size
                with suppress(ProcessLookupError):
                    os.kill(process.pid if is_page else self._pid, signal.SIGKILL)
