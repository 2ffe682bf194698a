"""Tells whether a document is new, modified or as it was."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from scrapy.exceptions import DropItem

from ultracrawl.crawl import Visit
from ultracrawl.crawl.ending import Ending
from ultracrawl.model import UrlOutcome
from ultracrawl.model.cause import truncation_cause
from ultracrawl.pipelines.base import DocumentPipeline
from ultracrawl.pipelines.fields import CHECKSUM, ItemFields, content_of, fill_field, readers_of, text_of
from ultracrawl.rules.recrawl.change import checksum, classify

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ultracrawl.crawl.standalone.items import PlainItems


class ChecksumPipeline(DocumentPipeline):
    """Compares the checksum of a document with the stored one; an unchanged document is not indexed again.

    An item without a checksum gets one over its title, text and attributes; one of a spider without a definition over
    all its fields. Who may see a document is part of it.
    """

    @classmethod
    def prepare(cls, plain: PlainItems, crawler: Crawler) -> None:
        """Have it remembered which items came out of earlier crawls. Raises `NotConfigured`."""
        plain.compare_items(crawler)

    def process(self, item: ItemFields, visit: Visit) -> None:
        """Drop the item if it is unchanged. Raises `DropItem`."""
        try:
            readers = readers_of(item)
        except DropItem:
            visit.drop_validators()  # so that it is read again when its spider has been mended
            raise
        value = self._checksum(item)
        # Validators and checksum of the body may not end the next visit before the page is looked at; those of a
        # lister change with the readers.
        is_doubted = (
            visit.page.expires or visit.page.unrendered or (readers and not self._context.rules.listed)
        )
        if readers or is_doubted:
            value = checksum(value + json.dumps(readers).encode() if readers else value)
        if is_doubted:
            visit.drop_validators()
        visit.note_checksum(value)
        if self._context.run.force or visit.page.renewed or not self._is_known(visit, value):
            return
        ending = Ending(UrlOutcome.UNMODIFIED, cause=truncation_cause(visit.fetch.truncated))
        self._context.endings.end_visit(visit, ending)
        raise DropItem("unchanged", log_level="DEBUG")

    def _is_known(self, visit: Visit, value: bytes) -> bool:
        if self._plain is not None:
            return self._plain.is_known(visit, value)
        return visit.record.retained and classify(visit.record, value) is UrlOutcome.UNMODIFIED

    def _checksum(self, item: ItemFields) -> bytes:
        own = item.get(CHECKSUM)
        if self._plain is None:
            return own or checksum(_content(item))
        value = checksum(own if isinstance(own, bytes) else text_of(own).encode() or content_of(item))
        fill_field(item, CHECKSUM, value.hex())
        return value


def _content(item: ItemFields) -> bytes:
    parts = [item.get("title", ""), item.get("text", ""), item.get("attributes", {})]
    return json.dumps(parts, sort_keys=True, default=str).encode()
