"""Remembers over all runs which URL holds each checksum that `filter-by-md5` compares (portal robot 7.2)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.model.outcome import SUBMITTED
from ultracrawl.model.record_changes import without_validators
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.hooks import Feature
from ultracrawl.stores import Copy

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit

logger = logging.getLogger(__name__)

_WITH_DOCUMENT = SUBMITTED | {UrlOutcome.PENDING, UrlOutcome.UNMODIFIED}


class ContentCopies(Feature):
    """Decides which URL holds a checksum: the first one that asked for it, as long as its content has it.

    The holders are stored, because pages that are unchanged never ask again. When a holder changes or leaves, the best
    of the other URLs with its content is fetched in the same run and becomes the holder.
    """

    def __init__(self, context: CrawlContext, *, without_document: bool) -> None:
        """`without_document`: a page of which only the links are followed can hold a checksum."""
        self._context = context
        self._without_document = without_document
        self._former: dict[int, Copy | None] = {}
        """What was stored for the visits in flight that asked, by key."""

    def holder(self, checksum: str, url: str) -> str:
        """Return the URL that holds a checksum; it becomes `url` if there is none."""
        documents, key = self._context.store.documents, url_key(url)
        same = documents.copies(checksum)
        holder = next((other for other, holds in same.items() if holds), key)
        if key not in self._former:
            self._former[key] = documents.copy_of(key)
        documents.put_copy(key, Copy(checksum, holder == key))
        if holder == key:
            return url
        record = self._context.store.records.get_record(holder)
        return url if record is None else record.url

    def visit_ended(self, visit: Visit) -> None:
        """Take the checksum from a page that no longer has it, and give it to the next one."""
        key, outcome, documents = visit.entry.key, visit.outcome, self._context.store.documents
        asked, former = key in self._former, self._former.pop(key, None)
        if outcome is None or outcome.transient:
            if asked:
                documents.put_copy(key, former)
            return
        if not asked:
            self._end_without_question(visit, unchanged=outcome.unchanged)
            return
        now = documents.copy_of(key)
        if now is not None and now.holds and outcome not in _WITH_DOCUMENT and not self._without_document:
            self._withdraw(key, now)
        if former is not None and (now is None or former.checksum != now.checksum):
            self._elect(former.checksum)

    def _end_without_question(self, visit: Visit, *, unchanged: bool) -> None:
        """Keep the checksum of an unchanged page, and withdraw that of any other page whose content did not count."""
        if not visit.record.last_fetched or (unchanged and visit.record.retained):
            return
        copy = self._context.store.documents.copy_of(visit.entry.key)
        if copy is None:
            return
        if unchanged:
            self._elect(copy.checksum)  # the holder may have left while this one was asked for
        else:
            self._withdraw(visit.entry.key, copy)

    def document_leaving(self, record: UrlRecord) -> None:
        """Take the checksum from a document that is to be removed without a visit."""
        key = url_key(record.url)
        copy = self._context.store.documents.copy_of(key)
        if copy is not None:
            self._withdraw(key, copy)

    def _withdraw(self, key: int, copy: Copy) -> None:
        self._context.store.documents.put_copy(key, None)
        self._elect(copy.checksum)

    def _elect(self, checksum: str) -> None:
        """Have the best URL with a checksum fetched in full, if none holds it."""
        same = self._context.store.documents.copies(checksum)
        if not same or any(same.values()):
            return
        records = self._context.store.records.get_records(list(same)).values()
        ready = [record for record in records if not record.failed_runs and not record.removal]
        if not ready:
            return
        best = min(ready, key=lambda record: (record.depth, len(record.url), record.url))
        logger.info("%s is read for a description: no other URL has its content any more", best.url)
        chosen = without_validators(best)
        self._context.store.records.amend_record(url_key(best.url), chosen)
        self._context.queue.requeue(chosen)
