"""Base class of the item pipelines: finds the visit of an item."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ultracrawl.pipelines.fields import ItemFields, fields_of
from ultracrawl.run import CrawlContext, Visit, context_of, has_definition, parts_of, standalone
from ultracrawl.run.indexing.items import ItemTracker

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from ultracrawl.run.standalone.items import PlainItems


class DocumentPipeline:
    """Passes items with a visit to `process`; items without one are returned unchanged."""

    def __init__(
        self,
        context: CrawlContext,
        visit_of: Callable[[Any], Visit | None],
        plain: PlainItems | None = None,
    ) -> None:
        """`visit_of` returns the visit of an item, None if it has ended or there is none.

        `plain` is set for a spider without a definition, whose items may have any fields.
        """
        self._context = context
        self._visit_of = visit_of
        self._plain = plain

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Create the pipeline for the crawl of a source, or for a spider without a definition from its settings."""
        if has_definition(crawler):
            return cls(context_of(crawler), parts_of(crawler)[ItemTracker].visit_of)

        items = standalone.items_of(crawler)
        cls.prepare(items, crawler)
        return cls(items.context, items.visit_of, items)

    @classmethod
    def prepare(cls, plain: PlainItems, crawler: Crawler) -> None:
        """Enable the features the pipeline needs without a definition, before the spider is opened."""

    def process_item(self, item: Any) -> Any:
        """Process an item that has a visit."""
        visit = self._visit_of(item)
        if visit is not None:
            self.process(fields_of(item), visit)
        return item

    def process(self, item: ItemFields, visit: Visit) -> None:
        """Process one item. Raises `DropItem` to drop it."""
        raise NotImplementedError
