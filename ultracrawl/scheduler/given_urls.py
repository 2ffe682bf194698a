"""URLs whose documents a spider gives itself: they are asked for only when it no longer does."""

from __future__ import annotations

from collections.abc import Callable, Set

from ultracrawl.crawl import CrawlContext
from ultracrawl.model import CauseCode, UrlRecord
from ultracrawl.sources.definition import WEB
from ultracrawl.stores import QueueEntry


class GivenUrls:
    """Keeps known URLs back whose document the spider gave before, until it has had the time to give them again.

    A `start()` gives documents while requests go out already: a request for one of them would find nothing there, and
    take its document out of the index.
    """

    def __init__(self, context: CrawlContext, given: Set[int], place: Callable[[QueueEntry], None]) -> None:
        """`given` has the keys of documents that came in this run; `place` offers an entry to the frontier."""
        self._context = context
        self._given = given
        self._place = place
        self._held: list[QueueEntry] = []
        self._holds = True
        # Only code of others gives documents.
        self._expected = bool(context.source.spider_class) or context.source.type != WEB
        context.hooks.cycle_ended.append(self._release)

    def keeps(self, entry: QueueEntry) -> bool:
        """Return whether an entry is not to be asked for now, and take it out of the queue then."""
        if not self._expected:
            return False
        records = self._context.store.records
        record = records.get_record(entry.key)
        if record is None or not (entry.key in self._given or self._awaits_document(record)):
            return False
        if entry.key not in self._given:
            self._held.append(entry)
        records.finish_url(entry, record)
        self._context.counters.count_scheduled(-1)
        return True

    def _awaits_document(self, record: UrlRecord) -> bool:
        known = record.cause.code is CauseCode.GIVEN and record.last_fetched < self._context.mark.started
        return known and self._holds

    def _release(self) -> int:
        """Have URLs asked for whose documents did not come; the spider is done, and so is all else."""
        held, self._held, self._holds = self._held, [], False
        missed = [entry for entry in held if entry.key not in self._given]
        for entry in missed:
            self._context.store.queue.requeue_url(entry)
            self._place(entry)
        return len(missed)
