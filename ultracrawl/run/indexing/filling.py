"""Fills indexes that are new to a source with all its documents (FAST 5.10)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from ultracrawl.errors import UltracrawlError
from ultracrawl.index.writing.project_outputs import asked_index_of
from ultracrawl.run.hooks import Feature

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.writing.writer import IndexWriter

logger = logging.getLogger(__name__)


class Filling(Feature):
    """Finds the indexes that were added to a source after documents were indexed, and has every page indexed again.

    A crawl then fetches all pages in full; a re-index fills the indexes from stored responses. Documents that such an
    index has of the source, and the document table has not, are removed. Created before the run begins, because it
    sets `run.force`.
    """

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._destinations = context.ports.destinations
        self._new = self._destinations.unfilled()
        self._has_documents = bool(self._new) and context.store.records.count_urls().documents > 0
        if self._has_documents and not context.run.replay:
            names = ", ".join(f"`{destination.index}`" for destination in self._new)
            logger.warning("%s: every page is fetched again to fill the index %s", context.source.name, names)
            context.store.documents.remake_documents()
            context.run.force = True

    def begin(self, writer: IndexWriter, *, resumed: bool) -> None:
        """Remove unknown documents from new indexes; called when the writer is open and the run has begun.

        A resumed run does not repeat what it did before the interruption: then the next run fills the indexes.
        """
        for destination in self._new:
            writer.remove_unknown(self._unknown_urls(destination.index))
        writer.sync()
        if not self._has_documents or not (resumed or self._context.run.replay):
            self._destinations.mark_filled()
        self._destinations.mark_former_unfilled()

    def run_ended(self) -> None:
        """Mark the indexes as filled after a successful re-index."""
        if self._context.run.replay and self._new and not self._context.report.failed:
            self._destinations.mark_filled()

    def _unknown_urls(self, index: str) -> Iterator[str]:
        """Yield the display URLs of the source that an index has and the document table has not."""
        context = self._context
        source, urls = context.source.name, set[str]()
        # An unreadable index cannot be written either, which is reported then.
        with suppress(UltracrawlError):
            asked = asked_index_of(context.project, self._destinations, index)
            if not asked.is_empty(source):
                urls = {url for _, url in asked.urls(source)}
        if urls:
            records = context.store.records.all_records()
            urls.difference_update(record.shown_url for record in records if record.searchable)
        return iter(sorted(urls))
