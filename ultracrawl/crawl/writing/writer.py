"""Documents on their way to the indexes: durable cache, index processes, confirmation in the document table."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracrawl.crawl.run_counters import RunCounters
from ultracrawl.crawl.writing.commits import Commits, name_of
from ultracrawl.crawl.writing.segment_keys import SegmentKeys
from ultracrawl.errors import IndexStoreError
from ultracrawl.index import Change, Deletion, IndexDocument, NewAnchors
from ultracrawl.index.writing.cache import DocumentCache
from ultracrawl.stores import LinkTexts, Store

if TYPE_CHECKING:
    from ultracrawl.crawl.writing.pauses import Pauses
    from ultracrawl.index.writing.destination_queues import DestinationQueues

EAGER_SIZE = 2_500_000
"""Bytes that are worth a commit while the index process has nothing else to do.

Smaller ones cost more than they save: each writes its words anew, and the earlier a document went, the likelier other
pages say something new of it later.
"""
EAGER_SHARE = 1 / 8
"""So much of what went before is worth a commit then: the segments of a long crawl are few, its last one is small."""
PATIENCE = 10.0
"""Seconds after which a tenth of that is worth one, too, so that a slow crawl can be searched soon."""
BEHIND = 2
"""Segments that may wait for the primary index before crawling waits, too."""
COMPLETED = 500
"""Documents whose anchor texts are looked up at a time."""
_POLL_SECONDS = 0.02
"""Seconds between two looks at the index processes while a crawl ends."""


class IndexWriter:
    """Takes changes, keeps them in the durable cache, and has them indexed while crawling goes on.

    A segment of the cache is handed over when it is full, when the indexes are idle and enough waits (less of it, if it
    waits for long), when its first change is `every` seconds old, or when `drain` is called; with `two_phases` (Ultra
    Search 6) not before it is full or that old, and crawling stops meanwhile. It goes to all indexes of the source
    (`DestinationQueues`); one that is paused or cannot be written holds up neither the crawl nor the others. With
    `anchors`, documents get the texts of links to them that are known when their segment is sealed.
    """

    def __init__(
        self,
        source: str,
        cache: DocumentCache,
        destinations: DestinationQueues,
        state: Store,
        counters: RunCounters,
        *,
        every: float | None = None,
        two_phases: bool = False,
        backlog: int | None = None,
        pauses: Pauses | None = None,
        anchors: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._cache = cache
        self._destinations = destinations
        self._state = state
        self._every = every
        self._two_phases = two_phases
        self._backlog = backlog
        self._pauses = pauses
        self._links = state.links if anchors else None
        self._clock = clock
        self._since = 0.0
        """When the first of the changes came that wait in the cache."""
        self._handed_over = 0
        """The bytes of the segments that were sealed so far."""
        self._segments = SegmentKeys(cache)
        self.commits = Commits(source, cache, destinations, state, counters, self._segments)
        """Takes the answers of the indexes."""

    def recover(self) -> frozenset[int]:
        """Hand over what an earlier run left in the cache; returns the keys of all changes in it."""
        self._look_at_pauses()
        for told in self._destinations.salvage():
            self.commits.note_problem(told)
            if self._links is not None:
                self._links.invalidate_submitted_texts()
        self._destinations.recover(self._cache)
        self.commits.recovered = frozenset(path.name for path in self._destinations.primary.waiting)
        waiting: dict[int, str] = {}
        for path in self._destinations.primary.waiting:
            urls = self._segments.urls_of(path)
            self._segments.note_sealed(path, urls)
            waiting.update(urls)
        self.adopt_documents({key: url for key, url in waiting.items() if url})
        return frozenset(waiting)

    def adopt_documents(self, documents: Mapping[int, str]) -> None:
        """See to documents of which the store was not told before the crawler was killed: their pages come again."""
        unrecorded = self._state.documents.adopt_unrecorded(documents)
        if self._links is not None:
            for key in unrecorded.known:
                self._links.submitted_without_texts(key)
        self.remove_unknown(documents[key] for key in unrecorded.unknown)

    def add(self, key: int, document: IndexDocument) -> None:
        """Take a document that is new or changed. Raises `IndexStoreError` if the cache cannot be written."""
        if self._links is not None:
            self._links.submitted_without_texts(key)
            if document.anchors or document.section_anchors:
                document = replace(document, anchors=(), section_anchors=())
        self._append(key, document)
        self._segments.open[key] = document.url

    def delete(self, key: int, url: str) -> None:
        """Take the removal of a document."""
        if self._links is not None:
            self._links.note_document_removed(key)
        self._append(key, Deletion(self._source, url))
        self._segments.open[key] = ""

    def remove_unknown(self, urls: Iterable[str]) -> None:
        """Take the removal of documents that the document table does not have."""
        for url in urls:
            self._append(0, Deletion(self._source, url))

    def rename(self, key: int, url: str, texts: LinkTexts) -> None:
        """Take other anchor texts of a document that is in the index, or on its way there."""
        self._append(key, NewAnchors(self._source, url, *texts))

    def _append(self, key: int, change: Change) -> None:
        if not self._cache.size:
            for destination in self._destinations.all:
                destination.prepare()
            self._since = self._clock()
        self._cache.append(key, change)

    def completes(self, key: int) -> bool:
        """Return whether a document gets its anchor texts when the open segment is sealed."""
        return bool(self._segments.open.get(key))

    def _complete(self) -> None:
        """Give documents in the open segment the anchor texts that are known by now."""
        keys = [key for key, url in self._segments.open.items() if url]
        if self._links is None or not keys:
            return
        self._cache.sync()
        self._state.flush()
        for at in range(0, len(keys), COMPLETED):
            some = keys[at : at + COMPLETED]
            texts = self._links.anchor_texts(some)
            for key in some:
                if key in texts:
                    self._cache.append(key, NewAnchors(self._source, self._segments.open[key], *texts[key]))
                self._links.submitted_with_texts(key, texts.get(key, LinkTexts()))

    @property
    def congested(self) -> bool:
        """Whether crawling has to wait for the index: more than the cache may hold is waiting, or phases alternate."""
        return self._destinations.primary.in_progress > (0 if self._two_phases else BEHIND)

    @property
    def busy(self) -> bool:
        """Whether changes are on their way to an index that takes them."""
        return self._cache.size > 0 or self._destinations.is_busy

    def sync(self) -> None:
        """Make what the cache took durable; has to come before the flush of the state."""
        self._cache.sync()

    def tick(self) -> None:
        """Hand over what is due and take note of commits; called a few times a second."""
        self._look_at_pauses()
        self.collect()
        if self._cache.size >= self._cache.limit or self._is_worth_it or self._overdue:
            self.drain()

    @property
    def _is_worth_it(self) -> bool:
        """Whether so much waits that indexes which have nothing else to do should get it."""
        size = self._cache.size
        if self._two_phases or size < EAGER_SIZE / 10:
            return False
        enough = max(EAGER_SIZE, EAGER_SHARE * self._handed_over)
        return (size >= enough or self._clock() - self._since >= PATIENCE) and self._destinations.is_idle

    @property
    def _overdue(self) -> bool:
        if not self._every or not self._cache.size or self._clock() - self._since < self._every:
            return False
        return any(destination.is_active for destination in self._destinations.all)

    def _look_at_pauses(self) -> None:
        if self._pauses is not None:
            self._pauses.apply(self._destinations.all, self._clock())

    def drain(self) -> None:
        """Hand over everything that waits in the cache; the records of it become durable first."""
        self._complete()
        self._handed_over += self._cache.size
        path = self._cache.seal()
        if path is not None:
            self._state.flush()
            self._segments.seal(path)
            self._destinations.deliver(path)
            self._check_backlog()

    def _check_backlog(self) -> None:
        """Raise `IndexStoreError` if too much waits for the primary index; another one is given up instead."""
        for destination in self._destinations.all:
            if self._backlog is None or destination.is_active or destination.size <= self._backlog:
                continue
            full = f"{destination.size / 1e6:,.0f} MB wait for {name_of(destination)}, more than `feeding.backlog`"
            if destination is self._destinations.primary:
                raise IndexStoreError(f"{full}; let it be fed (`ultracrawl feeding resume`), or raise that")
            self._destinations.abandon(destination)
            self.commits.note_problem(f"{full}: they are given up, and the next run fills it anew")

    def collect(self) -> None:
        """Take note of what the indexes committed, or could not."""
        self.commits.collect()

    def retry(self) -> None:
        """Try indexes that failed once more, now."""
        for destination in self._destinations.all:
            destination.retry()

    def close(self, timeout: float) -> None:
        """End the index processes, after what is on its way, in `timeout` seconds at most."""
        deadline = time.monotonic() + timeout
        while self._destinations.is_busy and time.monotonic() < deadline:
            self.collect()
            time.sleep(_POLL_SECONDS)
        for destination in self._destinations.all:
            for answer in destination.close(max(0.5, deadline - time.monotonic())):
                self.commits.note_answer(destination, answer)
        self._cache.close()
