"""Handles the reports of index processes about segments: commits and failures."""

from __future__ import annotations

import logging
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ultracrawl.index import Change, Deletion, NewAnchors
from ultracrawl.index.writing.cache import DocumentCache
from ultracrawl.index.writing.segments import Committed, Failed, Report
from ultracrawl.model import UrlOutcome
from ultracrawl.model.outcome import SUBMITTED
from ultracrawl.run.run_counters import RunCounters
from ultracrawl.stores import Store

if TYPE_CHECKING:
    from ultracrawl.index.writing.destination_queue import DestinationQueue
    from ultracrawl.index.writing.destination_queues import DestinationQueues
    from ultracrawl.model import UrlRecord

logger = logging.getLogger(__name__)


class ChangeLog(Protocol):
    """Logs the results of changes: pairs of key and change, by the label of their destination."""

    def indexed(self, destination: str, changes: Iterable[tuple[int, Change]]) -> None:
        """Log changes that were committed to an index."""

    def refused(self, destination: str, changes: Iterable[tuple[int, Change]], reason: str) -> None:
        """Log changes that could not be indexed."""


class Commits:
    """Passes the reports of the indexes of a source to store, run report and log.

    Records are marked indexed after the commit of the primary index; each index releases a segment after its own
    commit.
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
        """Names of segments that an earlier process left."""
        self.fetched_again: frozenset[int] = frozenset()
        """Keys of documents in them that do not count, because their visits were lost and are repeated."""
        self.since = inf
        """When the crawl began (epoch seconds); infinite outside a crawl."""
        self.taken_back: set[int] = set()
        """Keys of documents whose deletion waits, and which the index did not have before the crawl."""
        self.on_sent: Callable[[Iterable[int]], None] | None = None
        """Called with the keys of documents that all indexes have."""
        self.log: ChangeLog | None = None
        """Logs the results of changes."""

    def note_deletion(self, key: int, record: UrlRecord) -> None:
        """Note that the document of a record will be deleted.

        One that this crawl has added counts as indexed no longer, nor as deleted if it was new.
        """
        if record.first_seen >= self.since or (record.outcome is UrlOutcome.NEW and self._has_sent(record)):
            self.taken_back.add(key)
        self.note_replaced(record)

    def note_replaced(self, record: UrlRecord) -> None:
        """Note that the document of a record will be another one, or none: what this crawl added counts once."""
        if record.indexed and self._has_sent(record):
            self._counters.uncount_indexed()

    def _has_sent(self, record: UrlRecord) -> bool:
        """Return whether this crawl has added the document of a record."""
        is_visited = record.outcome in SUBMITTED and record.last_fetched >= self.since
        return is_visited or record.first_seen >= self.since

    def unsent(self) -> set[int]:
        """Return the keys of all changes that some index has not committed."""
        keys = set(self._segments.open)
        paths = (path for destination in self._destinations.all for path in destination.waiting)
        for path in {path.name: path for path in paths}.values():
            keys.update(self._segments.urls_of(path))
        return keys

    def collect(self) -> None:
        """Handle the reports of all indexes."""
        for destination in self._destinations.all:
            for report in destination.poll():
                self.handle_report(destination, report)

    def handle_report(self, destination: DestinationQueue, report: Report) -> None:
        """Handle a report of an index about a segment."""
        match report:
            case Committed():
                self._note_commit(destination, report)
            case Failed():
                self._note_failure(destination, report)

    def _note_commit(self, destination: DestinationQueue, report: Committed) -> None:
        path, primary = report.path, destination is self._destinations.primary
        for remark in report.remarks:
            self._counters.add_remark(remark)
        urls = self._segments.urls_of(path) if primary or self.on_sent is not None else {}
        changed_later = self._segments.changed_later(path, urls)
        if primary:
            self._confirm(urls, changed_later, report)
            self._segments.forget(path)
        if self.log is not None:
            self.log.indexed(destination.label, self._cache.read(path))
        destination.remove_delivered(path)
        if self.on_sent is not None and not self._destinations.has_segment(path.name):
            self.on_sent([key for key, url in urls.items() if url and key not in changed_later])

    def _confirm(self, urls: Mapping[int, str], changed_later: Collection[int], report: Committed) -> None:
        """Mark and count the documents that the primary index has, except those that a later segment changes again."""
        marks = {key: bool(url) for key, url in urls.items() if key not in changed_later}
        self._state.documents.mark_indexed(marks.items())
        self._cache.sync()
        self._state.flush()
        earlier, gone = report.path.name in self.recovered, {key for key, is_in in marks.items() if not is_in}
        not_counted = self.fetched_again if earlier else changed_later
        # A segment of several commits may add a document in one, and delete it in a later one.
        added = min(report.added, len(urls) - list(urls.values()).count(""))
        added -= len([key for key in not_counted if urls.get(key)])
        self._counters.count_indexed(max(added, 0), len(gone - self.taken_back), earlier=earlier)
        self.taken_back -= gone

    def _note_failure(self, destination: DestinationQueue, report: Failed) -> None:
        if self.log is not None:
            self.log.refused(destination.label, self._cache.read(report.path), report.reason)
        if destination is self._destinations.primary:
            self._counters.note_problem(
                f"indexing failed: {report.reason}; the documents stay in the cache for the next run"
            )
        else:
            failed = f"{name_of(destination)} cannot be fed, and catches up later"
            logger.warning("%s: %s: %s", self._source, failed, report.reason)
            self._counters.add_new_remark(
                f"{failed}: {report.reason}; `ultracrawl feeding status {self._source}` shows what waits"
            )


def name_of(destination: DestinationQueue) -> str:
    """Return the name of a destination for messages."""
    return f"the destination `{destination.label}`" if destination.label else "the index"


MAX_CACHED_SEGMENTS = 8
"""Segments whose URLs are kept in memory; those of further ones are read again when their commit comes."""


class SegmentKeys:
    """The URLs of documents by key (empty for deletions), for the open segment and each sealed one that waits.

    A commit determines the state of a document only if no later segment changes it again. So the keys of all waiting
    segments are kept, those beyond the first `MAX_CACHED_SEGMENTS` in 8 bytes each.
    """

    def __init__(self, cache: DocumentCache) -> None:
        self._cache = cache
        self.open: dict[int, str] = {}
        """URLs of the open segment."""
        self._kept: dict[str, Mapping[int, str]] = {}
        self._further: dict[str, array[int]] = {}

    def seal(self, path: Path) -> None:
        """Turn the open segment into a sealed one, and start another."""
        self.add_sealed(path, self.open)
        self.open = {}

    def add_sealed(self, path: Path, urls: Mapping[int, str]) -> None:
        """Add a segment that waits for the primary index."""
        if len(self._kept) < MAX_CACHED_SEGMENTS:
            self._kept[path.name] = urls
        else:
            self._further[path.name] = array("q", urls)

    def urls_of(self, path: Path) -> Mapping[int, str]:
        """Return the changes of a segment. Raises `IndexStoreError` if it has to be read and cannot be."""
        kept = self._kept.get(path.name)
        if kept is not None:
            return kept
        return {
            key: "" if isinstance(change, Deletion) else change.url
            for key, change in self._cache.read(path)
            if key and not (isinstance(change, NewAnchors) and change.acl is None)
        }

    def changed_later(self, path: Path, urls: Mapping[int, str]) -> set[int]:
        """Return the keys of a segment that a later one changes, which waits or is open."""
        changed = urls.keys() & self.open.keys()
        for name, later in self._kept.items():  # names are numbers of equal length, so they sort by age
            if name > path.name:
                changed |= urls.keys() & later.keys()
        for name, keys in self._further.items():
            if name > path.name:
                changed.update(key for key in keys if key in urls)
        return changed

    def forget(self, path: Path) -> None:
        """Drop a segment that the primary index has committed and the store has recorded."""
        self._kept.pop(path.name, None)
        self._further.pop(path.name, None)
