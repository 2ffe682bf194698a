"""The item pipelines of a source, ours and others': none of them holds up a crawl for ever."""

from __future__ import annotations

import asyncio
from typing import Any

from scrapy.pipelines import ItemPipelineManager

from ultracrawl.crawl import CrawlSession
from ultracrawl.errors import WorkError
from ultracrawl.model import Document


class DocumentPipelines(ItemPipelineManager):
    """Scrapy's item processor (`ITEM_PROCESSOR`), with bounds.

    A document that comes without a visit, because `start()` or a callback of the spider's own yielded it, gets one
    here, so that it ends as documents of pages do.
    """

    @property
    def _session(self) -> CrawlSession:
        assert self.crawler is not None
        return CrawlSession.of(self.crawler)

    async def process_item_async(self, item: Any) -> Any:
        """Return the item as the pipelines leave it. Raises `DropItem`, `OverdueError` and what pipelines raise."""
        session = self._session
        visit = session.items.adopted(item) if isinstance(item, Document) else None
        with session.watch.item(item):
            done = await self._processed(item)
        if visit is not None:
            session.watch.fail(visit, "no pipeline ended it")
        return done

    async def _processed(self, item: Any) -> Any:
        try:
            return await super().process_item_async(item)
        except (Exception, KeyboardInterrupt):
            raise
        except BaseException as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            # Scrapy would take no notice of what is no `Exception`, and of the end of the item.
            raise RuntimeError(f"a pipeline raised {type(error).__name__}: {error}") from error

    async def open_spider_async(self) -> None:
        """Open the pipelines. Raises `WorkError` if that takes for ever."""
        patience = self._session.watch.patience
        try:
            async with asyncio.timeout(patience):
                await super().open_spider_async()
        except TimeoutError:
            raise WorkError(
                f"{self._names('open_spider')} did not open within {patience:g} seconds"
            ) from None

    async def close_spider_async(self) -> None:
        """Close the pipelines; one that takes for ever is left alone."""
        session = self._session
        patience = session.limits.allowance(session.watch.patience)
        try:
            async with asyncio.timeout(patience):
                await super().close_spider_async()
        except TimeoutError:
            names = self._names("close_spider")
            session.context.run.note_problem(
                WorkError(f"{names} did not close within {patience:.1f} seconds")
            )

    def _names(self, method: str) -> str:
        found = (getattr(one, "__self__", one) for one in self.methods[method])
        return "a pipeline (one of " + ", ".join(sorted(type(one).__name__ for one in found)) + ")"
