"""Reconciles the indexes and the document table of a source after one of them was damaged or lost."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracrawl.errors import IndexStoreError
from ultracrawl.index import IndexEngine
from ultracrawl.index.engines import is_new
from ultracrawl.index.project_index import index_config, open_index, readable_indexes
from ultracrawl.index.repair import repair_and_count
from ultracrawl.index.writing.destination_queues import mark_unfilled
from ultracrawl.index.writing.project_outputs import cache_folder
from ultracrawl.model import UrlRecord
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.hooks import Feature
from ultracrawl.run.indexing.unknown_documents import mark_unknown_documents, may_lead_further
from ultracrawl.stores import Store

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext


def lost_records(state: Store, index: IndexEngine, source: str) -> list[UrlRecord]:
    """Return the records whose documents should be in an index and are missing."""
    indexed_urls = {url for _, url in index.urls(source)}
    return [
        record
        for record in state.records.all_records()
        if record.indexed and record.shown_url not in indexed_urls
    ]


def forget_documents(state: Store, records: Iterable[UrlRecord]) -> None:
    """Mark documents as not indexed, so that they are fetched in full."""
    for record in records:
        unread = replace(record, indexed=False, etag="", last_modified="", checksum=b"")
        state.records.amend_record(url_key(record.url), unread)
    state.flush()


class IndexReconciler(Feature):
    """Checks every index once, between the opening of the store and the start of the run; only file metadata is read.

    A damaged index is repaired: its readable documents are indexed anew. If it then has fewer documents of the source
    than the table, this run fetches those that are missing. If it has more, as after the loss of the store, a complete
    run removes the unknown ones, subject to the deletion guard.

    Destinations other than indexes cannot be checked; what they lost is sent again by a crawl with --force or a
    re-index.
    """

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._has_unknown_documents = False
        self.lost = 0
        """Documents missing in the primary index. If there are any, the run requests every known URL."""
        self.problems: list[str] = []
        self.remarks: list[str] = []
        if not context.run.replay:
            self._check_indexes()

    def _check_indexes(self) -> None:
        context = self._context
        primary = context.source.feeding.primary_index
        indexes = readable_indexes(context.project, context.source)
        for name in indexes:
            if name == primary:
                continue
            self._count(name)
            if self.problems:
                mark_unfilled(cache_folder(context.project, context.source.name), name)
                self.problems.clear()
        number = self._count(primary) if primary in indexes else None
        counts = context.store.records.count_urls()
        if number is None:
            return
        self._has_unknown_documents = number > counts.documents
        if number < counts.indexed:
            self._forget_lost(primary)

    def report_losses(self) -> None:
        """Add the repairs to the report of the run."""
        context = self._context
        counters = context.counters
        for problem in filter(None, (context.store.renewed, context.sites.renewed, *self.problems)):
            counters.add_problem(problem)
        for remark in self.remarks:
            counters.add_remark(remark)

    def _count(self, name: str) -> int | None:
        """Return how many documents of the source an index has, or None if it cannot be read now."""
        context, source = self._context, self._context.source.name
        config = index_config(context.project, name)
        if is_new(config):
            return 0
        with closing(open_index(context.project, name)) as index:
            try:
                return repair_and_count(index, config.path, source, self.problems, self.remarks)
            except IndexStoreError as error:
                self.problems.append(str(error))
                return None

    def _forget_lost(self, name: str) -> None:
        context = self._context
        index = open_index(context.project, name)
        try:
            lost = lost_records(context.store, index, context.source.name)
        finally:
            index.close()
        forget_documents(context.store, lost)
        self.lost = len(lost)
        if lost:
            self.remarks.append(f"{self.lost:,} documents were missing in the index, and are fetched again")

    def run_ending(self, *, complete: bool) -> None:
        """If the run is complete, mark documents of the indexes that the table does not know for removal.

        Nothing is marked while pages that were never read may still lead to such documents.
        """
        context = self._context
        if (
            not complete
            or context.run.replay
            or not self._has_unknown_documents
            or context.counters.given_up
            or may_lead_further(context.store)
        ):
            return
        known = {record.shown_url for record in context.store.records.all_records() if record.searchable}
        found: set[str] = set()
        for name in readable_indexes(context.project, context.source):
            index = open_index(context.project, name)
            # An index that cannot be read is reported elsewhere.
            with closing(index), suppress(IndexStoreError):
                found.update(url for _, url in index.urls(context.source.name) if url not in known)
        mark_unknown_documents(context.store, context.documents.writer, sorted(found), context.clock())
