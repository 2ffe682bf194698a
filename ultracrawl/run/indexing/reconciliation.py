"""Reconciles the indexes and the document table of a source after one of them was damaged or lost."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from ultracrawl.errors import IndexStoreError
from ultracrawl.index.engine import ComparesVersions
from ultracrawl.index.project_index import readable_indexes
from ultracrawl.index.writing.cache import has_segments
from ultracrawl.index.writing.destination_queues import mark_unfilled, queue_folders
from ultracrawl.index.writing.project_outputs import asked_index_of, cache_folder
from ultracrawl.index.writing.questions import AskedIndex, AskedSharedIndex, ListsDocuments
from ultracrawl.model import UrlRecord
from ultracrawl.model.outcome import WITH_DOCUMENT
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.hooks import Feature
from ultracrawl.run.indexing.unknown_documents import mark_unknown_documents, may_lead_further
from ultracrawl.stores import Store
from ultracrawl.stores.project_stores import source_notes
from ultracrawl.stores.source_notes.comparison import compared_at, note_comparison
from ultracrawl.system.nouns import counted

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext


PAGE = 500
"""Documents that are compared at once."""
COMPARED_SECONDS = 7 * 86400.0
"""Seconds after which the documents of an index are compared although their number is right."""


def lost_records(state: Store, index: ListsDocuments, source: str) -> Iterator[UrlRecord]:
    """Yield the records whose documents should be in an index and are missing.

    An index that many machines write to may have more documents than one of them has memory for: it is asked for them
    page by page.
    """
    indexed = (record for record in state.records.all_records() if record.indexed)
    if not isinstance(index, (AskedSharedIndex, ComparesVersions)):
        found = {url for _, url in index.urls(source)}
        yield from (record for record in indexed if record.shown_url not in found)
        return
    while page := list(islice(indexed, PAGE)):
        missing = index.missing(source, [record.shown_url for record in page])
        yield from (record for record in page if record.shown_url in missing)


def unknown_urls(state: Store, index: ListsDocuments, source: str) -> Iterator[str]:
    """Yield the URLs of the documents of an index that the document table does not have, page by page."""
    urls = (url for _, url in index.urls(source))
    while page := list(islice(urls, PAGE)):
        known = state.records.get_records([url_key(url) for url in page])
        for url in page:
            record = known.get(url_key(url))
            if record is not None and record.searchable and record.shown_url == url:
                continue
            if not any(one.searchable for one in state.records.with_display_url(url)):
                yield url


def forget_documents(state: Store, records: Iterable[UrlRecord]) -> None:
    """Mark documents as not indexed, so that they are fetched in full."""
    for record in records:
        unread = replace(record, indexed=False, etag="", last_modified="", checksum=b"")
        state.records.amend_record(url_key(record.url), unread)
    state.flush()


class IndexReconciler(Feature):
    """Checks every index once, between the opening of the store and the start of the run; only numbers are compared.

    One document that is missing and one that is unknown leave the number as it is. Therefore the documents of the
    primary index are compared by URL, too, page by page, once in `COMPARED_SECONDS`.

    A damaged index is repaired: its readable documents are indexed anew. If it then has fewer documents of the source
    than the table, this run fetches those that are missing. If it has more, as after the loss of the store, a complete
    run removes the unknown ones, subject to the deletion guard.

    Destinations other than indexes cannot be checked; what they lost is sent again by a crawl with --force or a
    re-index.
    """

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._has_unknown_documents = False
        self._lost_keys = array("q")
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
        before = self._index(primary).noted_counts() if primary in indexes else {}
        number = self._count(primary) if primary in indexes else None
        counts = context.store.records.count_urls()
        if number is None:
            return
        self._judge_repair(primary, before)
        unknown = self._count_unknown(primary, number) if self._is_comparison_due(primary) else None
        if unknown is None:
            unknown = max(0, number - counts.documents)
        self._has_unknown_documents = unknown > 0
        if number - unknown < counts.indexed:
            self._forget_lost(primary)

    def _judge_repair(self, name: str, before: Mapping[str, int]) -> None:
        """Make a repair a remark, since this run fetches what is lost, unless other sources lost documents, too.

        Without numbers from before the damage all other sources of the index may have lost some.
        """
        if not self.problems:
            return
        context, left = self._context, self._index(name).noted_counts()
        at_least = 0 if before else 1
        lacking = [
            other.name
            for other in context.project.sources.values()
            if other.name != context.source.name
            and other.feeding.primary_index == name
            and left.get(other.name, 0) < before.get(other.name, at_least)
        ]
        if lacking:
            names = " ".join(lacking)
            self.problems[-1] += f"; what other sources lost comes back by `ultracrawl crawl {names}`"
        else:
            self.remarks += self.problems
            self.problems.clear()

    def _is_comparison_due(self, index: str) -> bool:
        """Whether the documents of an index were not compared for long, and no changes wait that it lacks."""
        context = self._context
        cache = cache_folder(context.project, context.source.name)
        if any(map(has_segments, (cache, *queue_folders(cache).values()))):
            return False
        notes = source_notes(context.project, context.source.name)
        if notes is None:  # nor does the table outlast its process
            return False
        at = compared_at(notes, index)
        return at is None or not 0 <= context.clock() - at < COMPARED_SECONDS

    def _count_unknown(self, name: str, documents: int) -> int | None:
        """Return how many of the documents of an index the table does not know, None if it cannot be read now.

        If there are any, the next run compares again: until they have left. For an index without documents nobody is
        asked.
        """
        context = self._context
        number = None if documents else 0
        if number is None:
            with suppress(IndexStoreError):
                number = sum(1 for _ in unknown_urls(context.store, self._index(name), context.source.name))
        notes = source_notes(context.project, context.source.name)
        if number == 0 and notes is not None:
            note_comparison(notes, name, context.clock())
        return number

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
        try:
            return self._index(name).inspect(self._context.source.name, self.problems, self.remarks)
        except IndexStoreError as error:
            self.problems.append(str(error))
            return None

    def _index(self, name: str) -> AskedIndex:
        return asked_index_of(self._context.project, self._context.ports.destinations, name)

    def _forget_lost(self, name: str) -> None:
        context = self._context
        lost = lost_records(context.store, self._index(name), context.source.name)
        keys = array("q", map(_key, lost))
        for start in range(0, len(keys), PAGE):
            records = context.store.records.get_records(keys[start : start + PAGE])
            forget_documents(context.store, records.values())
        self.lost, self._lost_keys = len(keys), keys
        if keys:
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
        for name in readable_indexes(context.project, context.source):
            with suppress(IndexStoreError):  # an index that cannot be read is reported elsewhere
                self._mark_unknown(self._index(name))

    def run_ended(self) -> None:
        """Report documents that the index lacked, and that are not back: their pages could not be read now."""
        records, away = self._context.store.records, 0
        for start in range(0, len(self._lost_keys), PAGE):
            found = records.get_records(self._lost_keys[start : start + PAGE]).values()
            away += sum(
                not one.indexed and (one.outcome.transient or one.outcome in WITH_DOCUMENT) for one in found
            )
        if away:
            self._context.counters.add_problem(
                f"{counted(away, 'document')} of those that were missing in the index could not be fetched; "
                "`ultracrawl crawl` tries again"
            )

    def _mark_unknown(self, index: AskedIndex) -> bool:
        """Mark documents of an index that the table does not know for removal; returns whether there are any."""
        context, number = self._context, 0
        unknown = unknown_urls(context.store, index, context.source.name)
        while page := sorted(islice(unknown, PAGE)):
            number += len(page)
            mark_unknown_documents(context.store, context.documents.writer, page, context.clock())
        return bool(number)

    def run_committed(self) -> bool:
        """Compare indexes that several machines write to with the table: what arrived late there is marked.

        The numbers are compared, and documents only if these differ. Documents that are missing are found by the next
        run when it begins.
        """
        context, has_marked = self._context, False
        if context.run.replay or context.counters.given_up:
            return False
        for name in readable_indexes(context.project, context.source):
            index = self._index(name)
            if not isinstance(index, AskedSharedIndex) or not context.documents.writer.has_all(name):
                continue
            with suppress(IndexStoreError):
                differs = index.count(context.source.name) != context.store.records.count_urls().indexed
                if differs and not may_lead_further(context.store):
                    has_marked = self._mark_unknown(index) or has_marked
        return has_marked


def _key(record: UrlRecord) -> int:
    return url_key(record.url)
