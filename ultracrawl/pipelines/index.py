"""The end of the way: the document goes into the durable cache that feeds the index."""

from __future__ import annotations

from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem

from ultracrawl.crawl import Visit
from ultracrawl.index import IndexDocument
from ultracrawl.model import AttributeValue, StatusCode, UrlOutcome
from ultracrawl.pipelines.base import DocumentPipeline
from ultracrawl.rules.recrawl import classify


class IndexPipeline(DocumentPipeline):
    """Hands documents over to the index and records NEW or MODIFIED.

    In the crawling mode `examine` documents are kept back instead, with status 952.
    A second document of a display URL ends as 956, and one of equal content as 909.
    What comes out can be exported: its checksum is hexadecimal text, because JSON has no bytes.
    """

    def process(self, item: ItemAdapter, visit: Visit) -> None:
        """Put one document into the cache and end its visit."""
        url = str(item.get("url") or visit.shown_url)
        self._check_unique(visit)
        self._check_content(visit)
        document = IndexDocument(
            source=visit.record.source,
            url=url,
            title=str(item.get("title", "")),
            text=str(item.get("text", "")),
            attributes=self._values(item),
            secret_text=visit.hides_text,
        )
        if self.session.relations.on:
            document = self.session.relations.dress(visit, document)
        self._hand_over(visit, document)
        item["checksum"] = visit.checksum.hex()

    def _values(self, item: ItemAdapter) -> dict[str, list[AttributeValue]]:
        """Return the search attributes as pipelines of others left them, without values that no index can hold."""
        found = self.session.context.rules.attributes.typed(item.get("search_attributes", {}))
        self.session.context.report.dropped_values += len(found.dropped)
        return found.values

    def _hand_over(self, visit: Visit, document: IndexDocument) -> None:
        session = self.session
        if session.examines(visit):
            session.pending.keep(visit.entry.key, document)
            session.duplicates.displace(visit)
            session.context.endings.finish(visit, UrlOutcome.PENDING, StatusCode.CRAWLED, visit.truncated)
            return
        if session.duplicates.succeeds(visit, document):
            return
        session.context.documents.add(visit.entry.key, document)
        session.duplicates.displace(visit)
        outcome = classify(visit.record, visit.checksum, force=True)
        session.context.endings.finish(visit, outcome, 200, visit.truncated)

    def _check_unique(self, visit: Visit) -> None:
        """End a visit whose display URL belongs to another document of the source. Raises `DropItem`."""
        holder = self.session.names.holder(visit)
        if holder is not None:
            reason = f"{visit.shown_url} is the display URL of {holder.url}"
            self.session.context.endings.finish(visit, UrlOutcome.DUPLICATE, StatusCode.NOT_UNIQUE, reason)
            raise DropItem(reason)

    def _check_content(self, visit: Visit) -> None:
        """End a visit whose content another document has by now. Raises `DropItem`."""
        twin = self.session.duplicates.find_again(visit)
        if twin is not None:
            self.session.duplicates.refuse(visit, twin)
            raise DropItem(f"has the content of {twin.url}")
