"""The last pipeline: proposes the document to the index of its source."""

from __future__ import annotations

from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem

from ultracrawl.crawl import Visit
from ultracrawl.crawl.ports import Refused
from ultracrawl.index import IndexDocument
from ultracrawl.pipelines.base import DocumentPipeline


class IndexPipeline(DocumentPipeline):
    """Proposes documents to the index; what another URL stands for is dropped.

    The crawl decides which URL stands for a document, and ends its visit (`DocumentPort.propose`).
    What comes out can be exported: its checksum is hexadecimal text, because JSON has no bytes.
    """

    def process(self, item: ItemAdapter, visit: Visit) -> None:
        """Propose one document. Raises `DropItem` if another URL stands for it."""
        values = self._context.rules.attributes.typed(item.get("search_attributes", {}))
        document = IndexDocument(
            source=visit.record.source,
            url=str(item.get("url") or visit.shown_url),
            title=str(item.get("title", "")),
            text=str(item.get("text", "")),
            # As pipelines of users left them, without values that no index can hold.
            attributes=values.values,
            secret_text=visit.page.hides_text,
        )
        placement = self._context.documents.propose(visit, document)
        if isinstance(placement, Refused):
            raise DropItem(str(placement))
        self._context.counters.count_dropped_values(len(values.dropped))
        item["checksum"] = visit.checksum.hex()
