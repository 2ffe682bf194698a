"""What every pipeline of ours does first: find the visit that an item belongs to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ultracrawl.crawl import CrawlContext, Visit, context_of, feature_of, has_definition
from ultracrawl.crawl.indexing.items import ItemTracker
from ultracrawl.pipelines.fields import ItemFields, fields_of

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from ultracrawl.crawl.standalone.items import PlainItems


class DocumentPipeline:
    """Base of the pipelines; items that belong to no visit pass untouched."""

    def __init__(
        self,
        context: CrawlContext,
        visit_of: Callable[[Any], Visit | None],
        plain: PlainItems | None = None,
    ) -> None:
        """`visit_of` returns the visit that an item came from, None if it has ended or there is none.

        `plain` is there for a spider without a definition: whatever fields its items have are their content.
        """
        self._context = context
        self._visit_of = visit_of
        self._plain = plain

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the pipeline of a crawler: of a source, or by its settings of a spider without a definition."""
        if has_definition(crawler):
            return cls(context_of(crawler), feature_of(crawler, ItemTracker).visit_of)
        from ultracrawl.crawl.standalone.items import items_of  # noqa: PLC0415 - sources need none of it

        items = items_of(crawler)
        cls.prepare(items, crawler)
        return cls(items.context, items.visit_of, items)

    @classmethod
    def prepare(cls, plain: PlainItems, crawler: Crawler) -> None:
        """Say what the pipeline needs where there is no definition, before the spider is opened."""

    def process_item(self, item: Any) -> Any:
        """Hand the item to `process` together with its visit (Scrapy's pipeline protocol)."""
        visit = self._visit_of(item)
        if visit is not None:
            self.process(fields_of(item), visit)
        return item

    def process(self, item: ItemFields, visit: Visit) -> None:
        """Work on one item. Raises `DropItem` to end its way here."""
        raise NotImplementedError
