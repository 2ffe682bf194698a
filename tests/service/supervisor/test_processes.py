"""A crawl in a process, as its parent sees it; the process is none."""

from __future__ import annotations

import asyncio
import os
from multiprocessing import Pipe
from typing import Any, cast

from ultracrawl.service.orders import CrawlOrder
from ultracrawl.service.supervisor.processes import ChildCrawl


class Held:
    """A process that has said all, and does not end until it is killed."""

    pid = os.getpid()
    exitcode: int | None = None

    def join(self, seconds: float) -> None:
        """Return at once, as after so many seconds."""

    def kill(self) -> None:
        self.exitcode = -9


def test_a_process_that_is_held_at_its_end_does_not_keep_its_source() -> None:
    async def play() -> None:
        ours, theirs = Pipe()
        child = Held()
        crawl = ChildCrawl(CrawlOrder("a"), cast(Any, child), ours, None)
        theirs.close()
        end = await crawl.finished()
        assert end.died
        assert child.exitcode == -9

    asyncio.run(play())
