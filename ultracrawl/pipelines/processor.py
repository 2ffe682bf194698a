"""Scrapy's item processor with a time limit for pipelines."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Self

from scrapy.pipelines import ItemPipelineManager

from ultracrawl.errors import WorkError
from ultracrawl.model import Document
from ultracrawl.run import CrawlContext, context_of, parts_of
from ultracrawl.run.control.limits import RunLimits
from ultracrawl.run.control.scrapy_statistics import ScrapyStatistics
from ultracrawl.run.control.visit_watch import VisitWatch
from ultracrawl.run.indexing.items import ItemTracker

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class DocumentPipelines(ItemPipelineManager):
    """Scrapy's item processor (`ITEM_PROCESSOR`) with time limits.

    A document without a visit, yielded by `start()` or another callback of a user's spider, gets a visit here, so that
    it gets an outcome like documents of pages.
    """

    _context: CrawlContext
    _items: ItemTracker
    _watch: VisitWatch
    _limits: RunLimits
    _statistics: ScrapyStatistics

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the item processor with the pipelines of the settings."""
        processor = super().from_crawler(crawler)
        processor.attach(
            context_of(crawler),
            parts_of(crawler)[ItemTracker],
            parts_of(crawler)[VisitWatch],
            parts_of(crawler)[RunLimits],
            parts_of(crawler)[ScrapyStatistics],
        )
        return processor

    def attach(
        self,
        context: CrawlContext,
        items: ItemTracker,
        watch: VisitWatch,
        limits: RunLimits,
        statistics: ScrapyStatistics,
    ) -> None:
        """Set the features of the crawl; called once, before the first item."""
        self._context = context
        self._items = items
        self._watch = watch
        self._limits = limits
        self._statistics = statistics

    async def process_item_async(self, item: Any) -> Any:
        """Return the processed item. Raises `DropItem`, `OverdueError` and whatever pipelines raise."""
        visit = self._items.adopt_document(item) if isinstance(item, Document) else None
        with self._watch.limit_item(item):
            done = await self._processed(item)
        if visit is not None:
            self._watch.fail_visit(visit, "no pipeline finished it")
        self._statistics.count_item()
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
            # Scrapy ignores a `BaseException` here, and the end of the item with it.
            raise RuntimeError(f"a pipeline raised {type(error).__name__}: {error}") from error

    async def open_spider_async(self) -> None:
        """Open the pipelines. Raises `WorkError` if that exceeds the time limit."""
        patience = self._watch.step_timeout
        try:
            async with asyncio.timeout(patience):
                await super().open_spider_async()
        except TimeoutError:
            raise WorkError(
                f"{self._names('open_spider')} did not open within {patience:g} seconds"
            ) from None

    async def close_spider_async(self) -> None:
        """Close the pipelines; exceeding the time limit is a problem of the run."""
        patience = self._limits.allowance(self._watch.step_timeout)
        try:
            async with asyncio.timeout(patience):
                await super().close_spider_async()
        except TimeoutError:
            names = self._names("close_spider")
            self._context.run.note_problem(WorkError(f"{names} did not close within {patience:.1f} seconds"))

    def _names(self, method: str) -> str:
        pipelines = (getattr(bound, "__self__", bound) for bound in self.methods[method])
        return "a pipeline (one of " + ", ".join(sorted(type(each).__name__ for each in pipelines)) + ")"
