"""Waits for the last commit at the end of writing."""

from __future__ import annotations

import time
from collections.abc import Callable

from scrapy.utils.asyncio import sleep

from ultracrawl.run.writing.writer import IndexWriter

INDEX_TIMEOUT = 3600.0
"""Seconds that the index process may take for the last segments."""
_FIRST_POLL, _POLL_SECONDS = 0.001, 0.02
"""Seconds between checks of the index process: the commit of a few documents takes hardly longer than the first."""


async def finish_writing(writer: IndexWriter, flush: Callable[[], None], timeout: float) -> str:
    """Hand over all changes and wait up to `timeout` seconds for the last commit; returns the problem, or "".

    Raises `WorkError`.
    """
    flush()
    writer.drain()
    writer.retry()
    deadline, pause = time.monotonic() + timeout, _FIRST_POLL
    writer.collect()
    while writer.busy and time.monotonic() < deadline:
        await sleep(pause)
        pause = min(1.25 * pause, _POLL_SECONDS)
        writer.collect()
    flush()
    if not writer.busy:
        return ""
    problem = f"the index process did not respond for {timeout:.0f} seconds"
    return f"{problem}; its queued documents are kept, and the next crawl delivers them"
