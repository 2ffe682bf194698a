"""The last pipeline: submits the document to the index of its source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DropItem

from ultracrawl.index import IndexDocument
from ultracrawl.pipelines.base import DocumentPipeline
from ultracrawl.pipelines.fields import (
    CHECKSUM,
    SEARCH_ATTRIBUTES,
    ItemFields,
    fill_field,
    full_text_of,
    readers_of,
    sections_of,
    text_of,
)
from ultracrawl.run import Visit
from ultracrawl.run.ports import Refused

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ultracrawl.run.standalone.items import PlainItems


class IndexPipeline(DocumentPipeline):
    """Proposes documents to the index, and drops those that are indexed under another URL.

    The crawl decides on the URL of a document, and ends its visit (`DocumentPort.propose`). The checksum of the
    returned item is a hexadecimal string, because feed exports as JSON have no bytes.
    """

    @classmethod
    def prepare(cls, plain: PlainItems, crawler: Crawler) -> None:
        """Enable writing to the index of the settings."""
        plain.write_index(crawler)

    def process_item(self, item: Any) -> Any:
        """Process an item; without a definition the item waits while the index is congested, which slows the spider."""
        done = super().process_item(item)
        waits = self._plain is not None and self._plain.index.congested
        return self._wait_for_index(done) if waits else done

    async def _wait_for_index(self, item: Any) -> Any:
        assert self._plain is not None
        await self._plain.index.wait()
        return item

    def close_spider(self) -> None:
        """Sync the accepted documents to disk before their items count as known."""
        if self._plain is not None:
            self._plain.index.sync()

    def process(self, item: ItemFields, visit: Visit) -> None:
        """Propose one document. Raises `DropItem` if it is indexed under another URL."""
        made, given = visit.search_attributes or {}, item.get(SEARCH_ATTRIBUTES)
        attributes, dropped = made, 0
        if given is not None and given != made:  # a pipeline of the user changed them
            typed = self._context.rules.attributes.typed(given)
            attributes, dropped = typed.values, len(typed.dropped)
        text = full_text_of(item) if self._plain else str(item.get("text", ""))
        url = str(item.get("url") or visit.display_url)
        document = IndexDocument(
            source=visit.record.source,
            url=url,
            title=text_of(item.get("title")) if self._plain else str(item.get("title", "")),
            text=text,
            attributes=attributes,
            secret_text=visit.page.hides_text,
            sections=sections_of(item, text),
            acl=self._context.source.indexed_readers(readers_of(item), visit.url, url),
            depth=visit.depth,
        )
        placement = self._context.documents.propose(visit, document)
        if isinstance(placement, Refused):
            raise DropItem(str(placement))
        self._context.counters.count_dropped_values(dropped)
        if visit.checksum:
            fill_field(item, CHECKSUM, visit.checksum.hex())
