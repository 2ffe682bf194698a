"""Indexes that are new to a source get everything that it has (FAST 5.10)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from ultracrawl.crawl.hooks import Feature
from ultracrawl.errors import UltracrawlError
from ultracrawl.index.opening import open_index
from ultracrawl.index.writing.opening import open_destinations

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.writing.writer import IndexWriter

logger = logging.getLogger(__name__)


class Filling(Feature):
    """Finds out which indexes of a crawl lack what was fed before they were named, and has every page made again.

    A crawl fetches all pages of the source in full; a re-index from stored answers fills them without a
    request. What such an index holds of the source and the document table has not is taken out of it. Made before
    the run begins, because such a run asks for everything.
    """

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self.destinations = open_destinations(context.project, context.source)
        """The ways to all indexes of the source."""
        self._new = self.destinations.unfilled()
        self._has_documents = bool(self._new) and context.store.records.count_urls().documents > 0
        if self._has_documents and not context.run.replay:
            names = ", ".join(f"`{one.index}`" for one in self._new)
            logger.warning("%s: every page is fetched again to fill the index %s", context.source.name, names)
            context.store.documents.remake_documents()
            context.run.force = True

    def begin(self, feed: IndexWriter, *, resumed: bool) -> None:
        """Take out of new indexes what does not belong there; called when the feed is open and the run has begun.

        A resumed run does not repeat what it did before the interruption: then the next run fills.
        """
        for destination in self._new:
            feed.remove_unknown(self._strangers(destination.index))
        feed.sync()
        if not self._has_documents or not (resumed or self._context.run.replay):
            self.destinations.mark_filled()
        self.destinations.mark_former_unfilled()

    def run_ended(self) -> None:
        """Take note that everything stored was made again."""
        if self._context.run.replay and self._new and not self._context.report.failed:
            self.destinations.mark_filled()

    def _strangers(self, index: str) -> Iterator[str]:
        """Yield the display URLs of the source that an index has, and the document table has not."""
        context = self._context
        found: set[str] = set()
        with suppress(UltracrawlError):  # it cannot be read: nor can it be written, which is told then
            engine = open_index(context.project, index)
            try:
                found = {url for _, url in engine.urls(context.source.name)}
            finally:
                engine.close()
        if found:
            found -= {one.shown_url for one in context.store.records.all_records() if one.searchable}
        return iter(sorted(found))
