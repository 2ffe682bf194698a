"""URLs whose documents the spider yields itself: they are requested only if it no longer yields them."""

from __future__ import annotations

from collections.abc import Callable, Set

from ultracrawl.model import CauseCode, UrlRecord
from ultracrawl.run import CrawlContext
from ultracrawl.run.hooks import Feature
from ultracrawl.sources import DataSource
from ultracrawl.sources.definition import WEB
from ultracrawl.stores import QueueEntry


def may_yield_documents(source: DataSource) -> bool:
    """Return whether the spider of a source may yield documents of its own: only user code does."""
    return bool(source.spider_class) or source.type != WEB


class GivenUrls(Feature):
    """Holds back known URLs whose document the spider yielded in an earlier run, until it is done yielding.

    A `start()` yields documents while requests already go out. A request for one of these URLs would find no page
    there and remove the document from the index.
    """

    def __init__(self, context: CrawlContext, given: Set[int], place: Callable[[QueueEntry], None]) -> None:
        """Initialise; `given` has the keys of documents yielded in this run, `place` adds an entry to the frontier."""
        self._context = context
        self._given = given
        self._place = place
        self._held_back: list[QueueEntry] = []
        self._is_holding = True

    def holds_back(self, entry: QueueEntry) -> bool:
        """Return whether an entry is not requested now; if so, take it out of the queue."""
        records = self._context.store.records
        record = records.get_record(entry.key)
        if record is None or not (entry.key in self._given or self._awaits_document(record)):
            return False
        if entry.key not in self._given:
            self._held_back.append(entry)
        records.finish_url(entry, record)
        self._context.counters.count_scheduled(-1)
        return True

    def _awaits_document(self, record: UrlRecord) -> bool:
        known = record.cause.code is CauseCode.GIVEN and record.last_fetched < self._context.mark.started
        return known and self._is_holding

    def cycle_ended(self) -> int:
        """Queue the URLs whose documents were not yielded; called when the spider and all other work are done."""
        held, self._held_back, self._is_holding = self._held_back, [], False
        missed = [entry for entry in held if entry.key not in self._given]
        for entry in missed:
            self._context.store.queue.requeue_url(entry)
            self._place(entry)
        return len(missed)
