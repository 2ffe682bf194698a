"""Replaces one document by another of the same content: at once, when the first one leaves, or after it is gone."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracrawl.index.values import pack_document
from ultracrawl.model import Cause, CauseCode, RemovalReason, StatusCode, UrlOutcome, UrlRecord
from ultracrawl.model.record_changes import demoted, without_validators
from ultracrawl.rules.boundary.expressions import compile_pattern
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.ending import Ending
from ultracrawl.stores import Retained

if TYPE_CHECKING:
    from ultracrawl.index import IndexDocument
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.placement.holders import ContentHolders
    from ultracrawl.run.visit import Visit

logger = logging.getLogger(__name__)


class Succession:
    """Demotes worse documents, retains those that wait for a place, and fetches a duplicate if no other is indexed."""

    def __init__(self, context: CrawlContext, holders: ContentHolders) -> None:
        self._context = context
        self._holders = holders
        self._max_listed = context.source.duplicates.listed
        always = context.source.duplicates.always_listed
        self._always_listed = compile_pattern(always) if always else None
        self._refused: dict[bytes, set[int]] = {}
        """By content, the keys of indexed documents that this run refused as its duplicates.

        Their records keep the fingerprint of the version in the index until it is removed.
        """

    def is_listed(self, url: str, others: list[UrlRecord]) -> bool:
        """Return whether a duplicate is remembered, given the other records of its content."""
        if self._is_always_listed(url):
            return True
        remembered = (one for one in others if not one.searchable and one.url != url)
        return sum(not self._is_always_listed(one.url) for one in remembered) < self._max_listed

    def _is_always_listed(self, url: str) -> bool:
        return self._always_listed is not None and self._always_listed.fullmatch(url) is not None

    def displace(self, visit: Visit) -> None:
        """Demote worse documents of a content; called when a visit has taken their place."""
        for record in self._holders.others_of_visit(visit):
            if self._holders.is_current(record) and not record.removal:
                self._demote(record, visit)
            elif record.outcome is UrlOutcome.DUPLICATE and not (record.removal or _is_alias(record)):
                self._amend(replace(record, cause=same_content(visit.record)))

    def wait_for_place(self, visit: Visit, document: IndexDocument) -> UrlRecord | None:
        """Retain a document whose content is in the index under a URL that is to leave, and end its visit.

        Returns the record of that URL; None if there is none, and nothing was done.
        """
        others = self._holders.others_of_visit(visit)
        leaving = next((other for other in others if other.searchable and other.removal), None)
        if leaving is None or visit.record.searchable:
            return None  # a document that is in the index changes there; its former version must not stay
        key = visit.entry.key
        self._context.store.documents.retain_document(Retained.REPLACEMENT, key, pack_document(key, document))
        self._holders.waiting.add(key)
        self.displace(visit)
        cause = Cause(CauseCode.REPLACES, leaving.url)
        ending = Ending(UrlOutcome.DUPLICATE, StatusCode.DUPLICATE_DETECTED, cause)
        self._context.endings.end_visit(visit, ending)
        return leaving

    def note_refused(self, visit: Visit) -> None:
        """Remember a visit that is refused as a duplicate, while the index still has another content of it."""
        if visit.record.searchable and visit.record.fingerprint != visit.page.fingerprint:
            self._refused.setdefault(visit.page.fingerprint, set()).add(visit.entry.key)

    def release_aliases(self, before: UrlRecord, now: UrlRecord | None) -> None:
        """Let aliases follow the page that they name, of which `before` was known and `now` is.

        They get the fingerprint of its new content. If it has none in the index any more, is in another language, or
        names another page itself, perhaps one of them, all are fetched again: unlike other duplicates, each may have
        a text of its own.
        """
        records = self._context.store.records
        stands = now is not None and (now.retained or now.outcome is UrlOutcome.DUPLICATE)
        is_alike = now is not None and named_as(now) == named_as(before)
        fingerprint = now.fingerprint if now is not None and stands and is_alike else b""
        refused = records.get_records(list(self._refused.get(before.fingerprint, ()))).values()
        for record in (*self._holders.others_of_record(before), *refused):
            if not _is_alias(record) or record.cause.subject != before.url or record.retained:
                continue
            if not fingerprint:
                chosen = without_validators(record)
                records.amend_record(url_key(record.url), chosen)
                self._context.queue.requeue(chosen)
            elif not record.removal:
                self._amend(replace(record, fingerprint=fingerprint))

    def forget_waiting(self, key: int) -> None:
        """Release a document that waited for a place."""
        if key in self._holders.waiting:
            self._holders.waiting.discard(key)
            self._context.store.documents.release_document(Retained.REPLACEMENT, key)

    def recount(self, before: UrlRecord, after: UrlRecord) -> None:
        """Replace the outcome of a URL that the report counted for its visit in this run."""
        if before.last_fetched >= self._holders.since:
            self._context.endings.recount(before, after)

    def elect_successor(self, left: UrlRecord) -> None:
        """Fetch the best known duplicate, unless a document with the content is in the index or being fetched."""
        others = self._holders.others_of_record(left)
        ready = [other for other in others if not other.removal]
        refused = self._context.store.records.get_records(list(self._refused.get(left.fingerprint, ())))
        ready += [record for record in refused.values() if record.leaves_for(RemovalReason.DUPLICATE)]
        ready = [other for other in ready if not other.failed_runs and other.url != left.url]
        if self._holders.best(others) is not None or any(not other.checksum for other in ready):
            return
        if self._context.rules.listed and any(url_key(other.url) in self._context.visits for other in ready):
            return  # its visit finds that the place is free; another one would have no entry of the listing
        best = min(ready, key=self._holders.rank_of_record, default=None)
        if best is None:
            return
        logger.info("%s replaces %s", best.url, left.url)
        chosen = without_validators(best)
        self._context.store.records.amend_record(url_key(best.url), chosen)
        self._context.queue.requeue(chosen)

    def _demote(self, record: UrlRecord, winner: Visit) -> None:
        self.forget_waiting(url_key(record.url))
        logger.info("30083 duplicate document ignored: %s has the content of %s", record.url, winner.url)
        copy = demoted(record, StatusCode.DUPLICATE_DETECTED, same_content(winner.record))
        if not self.is_listed(record.url, self._holders.others_of_visit(winner)):
            copy = replace(copy, fingerprint=b"", etag="", last_modified="")
        self._context.documents.demote(record, copy)

    def _amend(self, record: UrlRecord) -> None:
        self._context.store.records.amend_record(url_key(record.url), record)
        self._context.queue.update_record(record)


def named_as(record: UrlRecord) -> tuple[str, str]:
    """Return what decides about the aliases of a page beside its content: its language, and the page that it names."""
    kept = record.cause.code is CauseCode.CANONICAL_KEPT
    return record.language, record.cause.subject if kept else ""


def _is_alias(record: UrlRecord) -> bool:
    return record.outcome is UrlOutcome.DUPLICATE and record.cause.code is CauseCode.CANONICAL


def same_content(holder: UrlRecord) -> Cause:
    """Return the cause of a duplicate of `holder`."""
    return Cause(CauseCode.SAME_CONTENT, holder.url)
