"""The last pipeline: proposes the document to the index of its source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DropItem

from ultracrawl.crawl import Visit
from ultracrawl.crawl.ports import Refused
from ultracrawl.index import IndexDocument
from ultracrawl.pipelines.base import DocumentPipeline
from ultracrawl.pipelines.fields import (
    CHECKSUM,
    SEARCH_ATTRIBUTES,
    ItemFields,
    fill_field,
    readers_of,
    sections_of,
    text_of,
    words_of,
)

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ultracrawl.crawl.standalone.items import PlainItems


class IndexPipeline(DocumentPipeline):
    """Proposes documents to the index; what another URL stands for is dropped.

    The crawl decides which URL stands for a document, and ends its visit (`DocumentPort.propose`).
    What comes out can be exported: its checksum is hexadecimal text, because JSON has no bytes.
    """

    @classmethod
    def prepare(cls, plain: PlainItems, crawler: Crawler) -> None:
        """Have the items written to the index that the settings name."""
        plain.write_index(crawler)

    def process_item(self, item: Any) -> Any:
        """Take an item; where nothing else slows a spider down, it waits for the index to keep up."""
        done = super().process_item(item)
        waits = self._plain is not None and self._plain.index.congested
        return self._when_written(done) if waits else done

    async def _when_written(self, item: Any) -> Any:
        assert self._plain is not None
        await self._plain.index.wait()
        return item

    def close_spider(self) -> None:
        """Make what was accepted durable, before its items count as known (Scrapy's pipeline protocol)."""
        if self._plain is not None:
            self._plain.index.sync()

    def process(self, item: ItemFields, visit: Visit) -> None:
        """Propose one document. Raises `DropItem` if another URL stands for it."""
        values = self._context.rules.attributes.typed(
            item.get(SEARCH_ATTRIBUTES) or visit.search_attributes or {}
        )
        text = words_of(item) if self._plain else str(item.get("text", ""))
        document = IndexDocument(
            source=visit.record.source,
            url=str(item.get("url") or visit.shown_url),
            title=text_of(item.get("title")) if self._plain else str(item.get("title", "")),
            text=text,
            # As pipelines of users left them, without values that no index can hold.
            attributes=values.values,
            secret_text=visit.page.hides_text,
            sections=sections_of(item, text),
            acl=tuple(readers_of(item) or self._context.source.acl),
            depth=visit.depth,
        )
        placement = self._context.documents.propose(visit, document)
        if isinstance(placement, Refused):
            raise DropItem(str(placement))
        self._context.counters.count_dropped_values(len(values.dropped))
        if visit.checksum:
            fill_field(item, CHECKSUM, visit.checksum.hex())
