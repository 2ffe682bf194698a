"""A launcher whose crawls are none: they end when the test says so."""

from __future__ import annotations

import asyncio
from typing import Any

from ultracrawl.model import RunReport
from ultracrawl.service.orders import CrawlEnd, CrawlOrder, CrawlProgress


class Crawl:
    def __init__(self, order: CrawlOrder, begun: float = 1.0, *, starting: bool = False) -> None:
        self.order, self.begun = order, begun
        self.progress = CrawlProgress("" if starting else "1")
        self.starting = starting
        """Whether it has nothing to report yet, if it is stopped."""
        self.end: asyncio.Future[CrawlEnd] = asyncio.get_running_loop().create_future()

    async def finished(self) -> CrawlEnd:
        return await asyncio.shield(self.end)

    async def stop_crawl(self) -> None:
        if self.starting:
            self.end.set_result(CrawlEnd(self.order.source, None, "stopped before it had begun"))
        self.finish(interrupted=True)

    async def kill_crawl(self) -> None:
        self.die()

    def finish(self, **report: Any) -> None:
        if not self.end.done():
            self.end.set_result(
                CrawlEnd(self.order.source, RunReport(self.order.source, "1", "2026", **report))
            )

    def die(self) -> None:
        if not self.end.done():
            self.end.set_result(CrawlEnd(self.order.source, None, "was killed", died=True))


class Launcher:
    def __init__(self) -> None:
        self.launched: list[Crawl] = []
        self.starting = False
        """Whether further crawls tell nothing yet."""

    async def launch(self, order: CrawlOrder) -> Crawl:
        self.launched.append(Crawl(order, starting=self.starting))
        return self.launched[-1]

    async def complete_dead(self, order: CrawlOrder, death: str) -> Crawl | None:
        return None

    @property
    def names(self) -> list[str]:
        return [crawl.order.source for crawl in self.launched]


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)
