"""A process that lives longer than one crawl: the reactor runs for as long as a piece of work does."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from scrapy.crawler import AsyncCrawlerProcess


def run_reactor(process: AsyncCrawlerProcess, work: Coroutine[Any, Any, None]) -> None:
    """Run the reactor until the work is done, or SIGINT ends it. Raises what the work raised.

    The work may begin any number of crawls of the process, one after the other.
    """
    failures: list[BaseException] = []

    def keep_error(task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            failures.append(error)
        process._stop_reactor()

    task = asyncio.get_event_loop().create_task(work)
    task.add_done_callback(keep_error)
    process.start(stop_after_crawl=False)
    task.cancel()
    if failures:
        raise failures[0]
