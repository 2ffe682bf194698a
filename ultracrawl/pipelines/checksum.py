"""Drops unchanged documents by their checksum."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from scrapy.exceptions import DropItem

from ultracrawl.model import UrlOutcome
from ultracrawl.model.cause import truncation_cause
from ultracrawl.pipelines.base import DocumentPipeline
from ultracrawl.pipelines.fields import CHECKSUM, ItemFields, content_bytes, fill_field, readers_of, text_of
from ultracrawl.rules.recrawl.change import checksum, classify, live_checksum, steady_checksum
from ultracrawl.run import Visit
from ultracrawl.run.ending import Ending

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from ultracrawl.run.standalone.items import PlainItems


class ChecksumPipeline(DocumentPipeline):
    """Compares the checksum of a document with the stored one; an unchanged document is not indexed again.

    An item without a checksum gets one of its title, text and attributes, and in a spider without a definition of all
    its fields. The readers of a document (`acl`) are part of the checksum.
    """

    @classmethod
    def prepare(cls, plain: PlainItems, crawler: Crawler) -> None:
        """Enable the table of items known from earlier crawls. Raises `NotConfigured`."""
        plain.compare_items(crawler)

    def process(self, item: ItemFields, visit: Visit) -> None:
        """Drop the item if it is unchanged. Raises `DropItem`."""
        try:
            readers = readers_of(item)
        except DropItem:
            visit.drop_validators()  # so that the page is read again once its spider is corrected
            raise
        source = self._context.source
        if set(readers or source.readers_of(visit.url, visit.display_url)) != set(source.acl):
            visit.note_readers(own=True)
        value = self._checksum(item)
        # An equal body does not imply an equal document here, so the next visit must parse the page. (The validators of
        # a listed source change with the readers.)
        must_be_parsed = (
            visit.page.expires or visit.page.unrendered or (readers and not self._context.rules.listed)
        )
        if visit.page.live:
            document = steady_checksum(_document_bytes(item) + json.dumps(readers).encode())
            value = live_checksum(visit.checksum, document)
        elif readers or must_be_parsed:
            value = checksum(value + json.dumps(readers).encode() if readers else value)
        if must_be_parsed:
            visit.drop_validators()
        visit.note_checksum(value)
        if (
            self._context.run.makes_anew(visit.entry.site)
            or visit.page.renewed
            or not self._is_known(visit, value)
        ):
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
            return own or checksum(_document_bytes(item))
        value = checksum(own if isinstance(own, bytes) else text_of(own).encode() or content_bytes(item))
        fill_field(item, CHECKSUM, value.hex())
        return value


def _document_bytes(item: ItemFields) -> bytes:
    parts = [item.get("title", ""), item.get("text", ""), item.get("attributes", {})]
    return json.dumps(parts, sort_keys=True, default=str).encode()
