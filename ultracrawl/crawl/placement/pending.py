"""Documents that are kept back until somebody approves of them (crawling mode `examine`, Ultra Search 13.3)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

from ultracrawl.index.values import pack_document, unpack_document
from ultracrawl.model import UrlRecord
from ultracrawl.model.record_changes import approved, removed, without_document
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.stores import Retained

if TYPE_CHECKING:
    from ultracrawl.crawl.writing.writer import IndexWriter
    from ultracrawl.index import IndexDocument
    from ultracrawl.stores import Store

BATCH = 500
"""Documents that are handed over between two flushes."""


class PendingDocuments:
    """Keeps documents in the state store, compressed, and hands them over to the index when they are approved.

    A document is in the cache of the index, safe on disk, before the store lets go of it; both that and its record
    become durable together. So it is in one of the two places at any time, and a second approval changes nothing.
    """

    def __init__(self, state: Store, feed: IndexWriter) -> None:
        self._state = state
        self._feed = feed

    def keep(self, key: int, document: IndexDocument) -> None:
        """Keep a document; it replaces an older version that waits."""
        self._state.documents.retain_document(Retained.APPROVAL, key, pack_document(key, document))

    def approve(self, keys: Iterable[int] | None = None) -> int:
        """Hand documents over to the index, all that wait if no keys are given; returns how many."""
        waiting = iter(self._state.documents.retained_keys(Retained.APPROVAL) if keys is None else keys)
        approved = 0
        while batch := list(islice(waiting, BATCH)):
            approved += sum(map(self._hand_over, batch))
            self._feed.sync()
            self._state.flush()
            self._feed.tick()
        return approved

    def _hand_over(self, key: int) -> bool:
        record, document = self._state.records.get_record(key), self._document(key)
        if record is None or document is None:
            return False
        self._replace_leaving(record)
        self._feed.add(key, document)
        self._state.documents.release_document(Retained.APPROVAL, key)
        self._state.records.amend_record(key, approved(record))
        return True

    def _replace_leaving(self, record: UrlRecord) -> None:
        """Take out documents that are to leave and have the content of this one: it is their successor."""
        for twin in self._state.records.with_fingerprint(record.fingerprint):
            if twin.removal and twin.url != record.url:
                key = url_key(twin.url)
                self._feed.delete(key, twin.shown_url)
                self._state.records.amend_record(key, without_document(twin))

    def _document(self, key: int) -> IndexDocument | None:
        data = self._state.documents.retained_document(Retained.APPROVAL, key)
        return None if data is None else unpack_document(data)

    def remove(self, keys: Iterable[int]) -> int:
        """Take URLs out for good, their documents with them; returns how many of these leave the index.

        They stay known with status 955, and are neither queued nor found as new again.
        """
        deleted = 0
        for key in keys:
            record = self._state.records.get_record(key)
            if record is None or record.removed:
                continue
            if record.searchable:
                self._feed.delete(key, record.shown_url)
                deleted += 1
            self._state.documents.release_document(Retained.APPROVAL, key)
            self._state.documents.release_document(Retained.REPLACEMENT, key)
            self._state.records.amend_record(key, removed(record))
        self._feed.sync()
        self._state.queue.dequeue_removed()
        return deleted
