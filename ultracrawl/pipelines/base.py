"""What every pipeline of ours does first: find the visit that an item belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter

from ultracrawl.crawl import CrawlSession, Visit

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class DocumentPipeline:
    """Base of the pipelines: holds the session; items that belong to no visit pass untouched."""

    def __init__(self, session: CrawlSession) -> None:
        self.session = session

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Build the pipeline of a crawler."""
        return cls(CrawlSession.of(crawler))

    def process_item(self, item: Any) -> Any:
        """Hand the item to `process` together with its visit (Scrapy's pipeline protocol)."""
        adapter = ItemAdapter(item)
        visit = self.session.items.visit_of(item)
        if visit is not None:
            self.process(adapter, visit)
        return item

    def process(self, item: ItemAdapter, visit: Visit) -> None:
        """Work on one item. Raises `DropItem` to end its way here."""
        raise NotImplementedError
