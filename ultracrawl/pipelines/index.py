"""The end of the way: the document goes into the durable cache that feeds the index."""

from __future__ import annotations

from itemadapter import ItemAdapter

from ultracrawl.extensions import Visit
from ultracrawl.index import IndexDocument
from ultracrawl.pipelines.base import DocumentPipeline
from ultracrawl.recrawl import classify


class IndexPipeline(DocumentPipeline):
    """Hands documents over to the index and records NEW or MODIFIED.

    What comes out can be exported: its checksum is hexadecimal text, because JSON has no bytes.
    """

    def process(self, item: ItemAdapter, visit: Visit) -> None:
        """Put one document into the cache and end its visit."""
        url = str(item.get("url") or visit.shown_url)
        document = IndexDocument(
            source=visit.record.source,
            url=url,
            title=str(item.get("title", "")),
            text=str(item.get("text", "")),
            attributes=item.get("search_attributes", {}),
        )
        self.session.feed.add(visit.entry.key, document)
        self.session.recorder.finish(visit, classify(visit.record, visit.checksum, force=True), 200)
        item["checksum"] = visit.checksum.hex()
