"""Documents that are retained until a person approves them (crawling mode `examine`, Ultra Search 13.3)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

from ultracrawl.index.values import pack_document, unpack_document
from ultracrawl.model import UrlRecord
from ultracrawl.model.record_changes import approved, removed, without_document
from ultracrawl.rules.duplicates.likeness import Version
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.stores import Retained, Store

if TYPE_CHECKING:
    from ultracrawl.index import IndexDocument
    from ultracrawl.run.writing.writer import IndexWriter

BATCH = 500
"""Documents that are submitted between two flushes."""


class PendingDocuments:
    """Keeps documents in the store, compressed, and submits them to the index when they are approved.

    A document is durable in the document cache before the store releases it, and release and record are committed
    together. So it is in one of the two places at any time, and a second approval changes nothing.
    """

    def __init__(self, state: Store, writer: IndexWriter) -> None:
        self._state = state
        self._writer = writer

    def keep(self, key: int, document: IndexDocument) -> None:
        """Retain a document; it replaces an older version that waits."""
        self._state.documents.retain_document(Retained.APPROVAL, key, pack_document(key, document))

    def approve(self, keys: Iterable[int] | None = None) -> int:
        """Submit the documents of the given keys (None: all that wait) to the index; returns how many."""
        waiting = iter(self._state.documents.retained_keys(Retained.APPROVAL) if keys is None else keys)
        approved = 0
        while batch := list(islice(waiting, BATCH)):
            approved += sum(map(self._submit, batch))
            self._writer.sync()
            self._state.flush()
            self._writer.tick()
        return approved

    def _submit(self, key: int) -> bool:
        record, document = self._state.records.get_record(key), self._document(key)
        if record is None or document is None:
            return False
        self._replace_leaving(record)
        sketch = Version(record.url, document.title, document.text).sketch
        self._writer.add(key, document)
        self._state.documents.release_document(Retained.APPROVAL, key)
        self._state.records.amend_record(key, approved(record, sketch))
        return True

    def _replace_leaving(self, record: UrlRecord) -> None:
        """Delete documents that are to leave and have the same content: this document is their successor."""
        for duplicate in self._state.records.with_fingerprint(record.fingerprint):
            if duplicate.removal and duplicate.url != record.url:
                key = url_key(duplicate.url)
                self._writer.delete(key, duplicate)
                self._state.records.amend_record(key, without_document(duplicate))

    def _document(self, key: int) -> IndexDocument | None:
        data = self._state.documents.retained_document(Retained.APPROVAL, key)
        return None if data is None else unpack_document(data)

    def remove(self, keys: Iterable[int]) -> int:
        """Remove URLs for good, with their documents; returns how many documents leave the index.

        The URLs stay known with status 955, and are neither queued nor admitted as new again.
        """
        deleted = 0
        for key in keys:
            record = self._state.records.get_record(key)
            if record is None or record.removed:
                continue
            if record.searchable:
                self._writer.delete(key, record)
                deleted += 1
            self._state.documents.release_document(Retained.APPROVAL, key)
            self._state.documents.release_document(Retained.REPLACEMENT, key)
            self._state.documents.release_document(Retained.CHANGE, key)
            self._state.records.amend_record(key, removed(record))
        self._writer.sync()
        self._state.queue.dequeue_removed()
        return deleted
