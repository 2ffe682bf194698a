"""Tells whether a document is new, modified or as it was."""

from __future__ import annotations

import json

from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem

from ultracrawl.crawl import Visit
from ultracrawl.crawl.ending import Ending
from ultracrawl.model import UrlOutcome
from ultracrawl.model.cause import part_of
from ultracrawl.pipelines.base import DocumentPipeline
from ultracrawl.rules.recrawl.change import checksum, classify


class ChecksumPipeline(DocumentPipeline):
    """Compares the checksum of a document with the stored one; an unchanged document is not indexed again.

    An item without a checksum gets one over its title, text and attributes.
    """

    def process(self, item: ItemAdapter, visit: Visit) -> None:
        """Drop the item if it is unchanged. Raises `DropItem`."""
        value = item.get("checksum") or checksum(_content(item))
        if visit.page.expires or visit.page.unrendered:
            # Neither validators nor the checksum of the body may end the next visit before the page is looked at.
            value = checksum(value)
            visit.drop_validators()
        visit.note_checksum(value)
        if (
            self._context.run.force
            or visit.page.renewed
            or not visit.record.retained
            or classify(visit.record, value) is not UrlOutcome.UNMODIFIED
        ):
            return
        ending = Ending(UrlOutcome.UNMODIFIED, cause=part_of(visit.fetch.truncated))
        self._context.endings.end_visit(visit, ending)
        raise DropItem("unchanged")


def _content(item: ItemAdapter) -> bytes:
    parts = [item.get("title", ""), item.get("text", ""), item.get("attributes", {})]
    return json.dumps(parts, sort_keys=True, default=str).encode()
