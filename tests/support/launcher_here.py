"""Crawls of a supervisor in the process of the tests, in place of child processes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import TypeVar

from ultracrawl.errors import UltracrawlError, UserError
from ultracrawl.model import RunReport
from ultracrawl.run import RunningCrawl
from ultracrawl.service.orders import CrawlEnd, CrawlOrder, CrawlProgress
from ultracrawl.service.run import Run, crawl_source, crawler_process, run_reactor
from ultracrawl.service.supervisor.child import progress_of
from ultracrawl.service.supervisor.messages import ChildOrder
from ultracrawl.stores.control_channel import Command

T = TypeVar("T")


def run_in_reactor(work: Coroutine[object, object, T]) -> T:
    """Run a coroutine as `asyncio.run` does, in the reactor, so that it can crawl."""
    results = list[T]()

    async def keep_result() -> None:
        results.append(await work)

    run_reactor(crawler_process({}), keep_result())
    return results[0]


class LauncherHere:
    """Starts crawls in this process; as many at a time as its pool wants."""

    def __init__(self, prepare: Callable[[CrawlOrder], ChildOrder]) -> None:
        self._prepare = prepare

    async def launch(self, order: CrawlOrder) -> CrawlHere:
        return CrawlHere(order, self._prepare(order))

    async def complete_dead(self, order: CrawlOrder, death: str) -> None:
        """Do nothing: no crawl dies here."""


class CrawlHere:
    """A crawl in this process."""

    def __init__(self, order: CrawlOrder, prepared: ChildOrder) -> None:
        self.order, self.begun = order, time.time()
        self.progress = CrawlProgress()
        self._crawl: RunningCrawl | None = None
        self._end = asyncio.ensure_future(self._run(prepared))

    async def _run(self, prepared: ChildOrder) -> CrawlEnd:
        source, reports = prepared.source, list[RunReport]()
        process = crawler_process(prepared.settings, force=prepared.force)
        try:
            await crawl_source(process, Run(prepared.project, source), self._note, reports)
        except UltracrawlError as error:
            refused = RunReport.not_begun(source.name, error)
            return CrawlEnd(source.name, refused, mistake=isinstance(error, UserError))
        return CrawlEnd(source.name, reports[-1] if reports else None)

    def _note(self, crawl: RunningCrawl) -> None:
        self._crawl, self.progress = crawl, progress_of(crawl, 0.0)

    async def finished(self) -> CrawlEnd:
        return await asyncio.shield(self._end)

    async def stop_crawl(self) -> None:
        if self._crawl is not None:
            self._crawl.give_order(Command.STOP)

    async def kill_crawl(self) -> None:
        await self.stop_crawl()
