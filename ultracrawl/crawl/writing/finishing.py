"""The end of writing: everything is handed over, and the last commit is waited for."""

from __future__ import annotations

import time
from collections.abc import Callable

from scrapy.utils.asyncio import sleep

from ultracrawl.crawl.writing.writer import IndexWriter

INDEX_TIMEOUT = 3600.0
"""Seconds that the index process may take for what waits at the end."""
_FIRST_POLL, _POLL_SECONDS = 0.001, 0.02
"""Seconds between two looks at the index process: the commit of a few documents takes hardly more than the first."""


async def finish_writing(writer: IndexWriter, flush: Callable[[], None], patience: float) -> str:
    """Wait for the last commit, at most `patience` seconds; returns the problem if it did not come, else nothing.

    Raises `WorkError`.
    """
    flush()
    writer.drain()
    writer.retry()
    deadline, pause = time.monotonic() + patience, _FIRST_POLL
    writer.collect()
    while writer.busy and time.monotonic() < deadline:
        await sleep(pause)
        pause = min(1.25 * pause, _POLL_SECONDS)
        writer.collect()
    flush()
    if not writer.busy:
        return ""
    told = f"the index process gave no answer for {patience:.0f} seconds"
    return f"{told}; what waits for it is kept, and handed over by the next crawl"
