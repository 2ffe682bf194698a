"""What indexes made of the segments that were handed over to them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from ultracrawl.crawl.run_counters import RunCounters
from ultracrawl.crawl.writing.segment_keys import SegmentKeys
from ultracrawl.index import Change
from ultracrawl.index.writing.cache import DocumentCache
from ultracrawl.index.writing.segments import Committed, Failed, Report
from ultracrawl.stores import Store

if TYPE_CHECKING:
    from ultracrawl.index.writing.destination_queue import DestinationQueue
    from ultracrawl.index.writing.destination_queues import DestinationQueues

logger = logging.getLogger(__name__)


class ChangeLog(Protocol):
    """Takes note of what became of changes: pairs of key and change, by the label of their destination."""

    def indexed(self, destination: str, changes: Iterable[tuple[int, Change]]) -> None:
        """Note the changes that are in an index."""

    def refused(self, destination: str, changes: Iterable[tuple[int, Change]], reason: str) -> None:
        """Note the changes that could not be indexed."""


class Commits:
    """Takes the answers of the indexes of a source: the store, the report and the log hear of them.

    Records are marked indexed after the commit of the primary index; each index lets go of a segment after its own.
    """

    def __init__(
        self,
        source: str,
        cache: DocumentCache,
        destinations: DestinationQueues,
        state: Store,
        counters: RunCounters,
        segments: SegmentKeys,
    ) -> None:
        self._source = source
        self._cache = cache
        self._destinations = destinations
        self._state = state
        self._counters = counters
        self._segments = segments
        self.recovered: frozenset[str] = frozenset()
        """The names of segments that an earlier process left."""
        self.on_sent: Callable[[Iterable[int]], None] | None = None
        """Called with the keys of documents that all indexes have."""
        self.log: ChangeLog | None = None
        """Takes note of what became of changes."""

    def unsent(self) -> set[int]:
        """Return the keys of all changes that some index has not committed."""
        found = set(self._segments.open)
        for path in {path.name: path for one in self._destinations.all for path in one.waiting}.values():
            found.update(self._segments.urls_of(path))
        return found

    def collect(self) -> None:
        """Take note of what the indexes committed, or could not."""
        for destination in self._destinations.all:
            for answer in destination.poll():
                self.note_answer(destination, answer)

    def note_answer(self, destination: DestinationQueue, answer: Report) -> None:
        """Take note of what an index says of a segment."""
        match answer:
            case Committed():
                self._note_commit(destination, answer)
            case Failed():
                self._note_failure(destination, answer)

    def _note_commit(self, destination: DestinationQueue, answer: Committed) -> None:
        path, primary = answer.path, destination is self._destinations.primary
        for remark in answer.remarks:
            self._counters.add_remark(remark)
        urls = self._segments.urls_of(path) if primary or self.on_sent is not None else {}
        later = self._segments.changed_later(path, urls)
        if primary:
            self._confirm(urls, later, answer)
            self._segments.forget(path)
        if self.log is not None:
            self.log.indexed(destination.label, self._cache.read(path))
        destination.remove_delivered(path)
        if self.on_sent is not None and not self._destinations.has_segment(path.name):
            self.on_sent([key for key, url in urls.items() if url and key not in later])

    def _confirm(self, urls: Mapping[int, str], later: Collection[int], answer: Committed) -> None:
        """Tell the store what the primary index has; of a document that was changed since, its own commit tells."""
        self._state.documents.mark_indexed((key, bool(url)) for key, url in urls.items() if key not in later)
        self._cache.sync()
        self._state.flush()
        deleted, earlier = sum(not url for url in urls.values()), answer.path.name in self.recovered
        self._counters.count_indexed(answer.added, deleted, earlier=earlier)

    def _note_failure(self, destination: DestinationQueue, answer: Failed) -> None:
        if self.log is not None:
            self.log.refused(destination.label, self._cache.read(answer.path), answer.reason)
        if destination is self._destinations.primary:
            self.note_problem(
                f"indexing failed: {answer.reason}; the documents stay in the cache for the next run"
            )
        else:
            failed = f"{name_of(destination)} cannot be fed, and catches up later"
            logger.warning("%s: %s: %s", self._source, failed, answer.reason)

    def note_problem(self, problem: str) -> None:
        """Have the report tell of a problem, once."""
        if self._counters.add_new_problem(problem):
            logger.error(problem)


def name_of(destination: DestinationQueue) -> str:
    """Return what a destination is called in a sentence."""
    return f"the destination `{destination.label}`" if destination.label else "the index"
