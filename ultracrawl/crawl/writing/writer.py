"""Documents on their way to the indexes: durable cache, index processes, confirmation in the document table."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ultracrawl.crawl.run_counters import RunCounters
from ultracrawl.crawl.writing.segment_keys import SegmentKeys
from ultracrawl.errors import IndexStoreError
from ultracrawl.index import Change, Deletion, IndexDocument, NewAnchors
from ultracrawl.index.writing.cache import DocumentCache
from ultracrawl.index.writing.segments import Committed, Failed, Report
from ultracrawl.stores import Store

if TYPE_CHECKING:
    from ultracrawl.crawl.writing.pauses import Pauses
    from ultracrawl.index.writing.destination import IndexDestination
    from ultracrawl.index.writing.destinations import IndexDestinations

logger = logging.getLogger(__name__)

EAGER_SIZE = 2_500_000
"""Bytes that are worth a commit while the index process has nothing else to do.

Smaller ones cost more than they save: each writes its words anew, and the earlier a document went, the likelier other
pages say something new of it later.
"""
PATIENCE = 10.0
"""Seconds after which a tenth of that is worth one, too, so that a slow crawl can be searched soon."""
BEHIND = 2
"""Segments that may wait for the primary index before crawling waits, too."""
COMPLETED = 500
"""Documents whose anchor texts are looked up at a time."""
_POLL_SECONDS = 0.02
"""Seconds between two looks at the index processes while a crawl ends."""


class ChangeLog(Protocol):
    """Takes note of what became of changes: pairs of key and change, by the label of their destination."""

    def indexed(self, destination: str, changes: Iterable[tuple[int, Change]]) -> None:
        """Note the changes that are in an index."""

    def refused(self, destination: str, changes: Iterable[tuple[int, Change]], reason: str) -> None:
        """Note the changes that could not be indexed."""


class IndexWriter:
    """Takes changes, keeps them in the durable cache, and has them indexed while crawling goes on.

    A segment of the cache is handed over when it is full, when the indexes are idle and enough waits (less of it, if it
    waits for long), when its first change is `every` seconds old, or when `drain` is called; with `two_phases` (Ultra
    Search 6) not before it is full or that old, and crawling stops meanwhile. It goes to all indexes of the source
    (`IndexDestinations`). Its records are marked indexed after the commit of the primary one; each index lets go of it
    after its own. An index that is paused or cannot be written holds up neither the crawl nor the others.

    With `anchors`, documents get the texts of links to them that are known when their segment is sealed, and the store
    is told of it.
    """

    def __init__(
        self,
        source: str,
        cache: DocumentCache,
        destinations: IndexDestinations,
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
        self._counters = counters
        self._every = every
        self._two_phases = two_phases
        self._backlog = backlog
        self._pauses = pauses
        self._links = state.links if anchors else None
        self._clock = clock
        self._since = 0.0
        """When the first of the changes came that wait in the cache."""
        self._open: dict[int, str] = {}
        """URLs of documents in the open segment by their keys, empty for removals."""
        self._sealed = SegmentKeys(cache)
        self.on_sent: Callable[[Iterable[int]], None] | None = None
        """Called with the keys of documents that all indexes have."""
        self.log: ChangeLog | None = None
        """Takes note of what became of changes."""

    def recover(self) -> frozenset[int]:
        """Hand over what an earlier run left in the cache; returns the keys of all changes in it."""
        self._look_at_pauses()
        for told in self._destinations.salvage():
            self._problem(told)
            if self._links is not None:
                self._links.doubt_submitted_texts()
        self._destinations.recover(self._cache)
        waiting: dict[int, str] = {}
        for path in self._destinations.primary.line:
            urls = self._sealed.urls_of(path)
            self._sealed.note_sealed(path, urls)
            waiting.update(urls)
        self._adopt({key: url for key, url in waiting.items() if url})
        return frozenset(waiting)

    def _adopt(self, documents: Mapping[int, str]) -> None:
        """See to documents of which the store was not told before the crawler was killed: their pages come again."""
        unrecorded = self._state.documents.adopt_unrecorded(documents)
        if self._links is not None:
            for key in unrecorded.known:
                self._links.submitted_without_texts(key)
        self.remove_unknown(documents[key] for key in unrecorded.unknown)

    def waiting(self) -> set[int]:
        """Return the keys of all changes that the primary index has not committed."""
        found = set(self._open)
        for path in self._destinations.primary.line:
            found.update(self._sealed.urls_of(path))
        return found

    def unsent(self) -> set[int]:
        """Return the keys of all changes that some index has not committed."""
        found = set(self._open)
        for path in {path.name: path for one in self._destinations.all for path in one.line}.values():
            found.update(self._sealed.urls_of(path))
        return found

    def add(self, key: int, document: IndexDocument) -> None:
        """Take a document that is new or changed. Raises `IndexStoreError` if the cache cannot be written."""
        if self._links is not None:
            self._links.submitted_without_texts(key)
            document = replace(document, anchors=()) if document.anchors else document
        self._append(key, document)
        self._open[key] = document.url

    def delete(self, key: int, url: str) -> None:
        """Take the removal of a document."""
        if self._links is not None:
            self._links.document_left(key)
        self._append(key, Deletion(self._source, url))
        self._open[key] = ""

    def remove_unknown(self, urls: Iterable[str]) -> None:
        """Take the removal of documents that the document table does not have."""
        for url in urls:
            self._append(0, Deletion(self._source, url))

    def rename(self, key: int, url: str, anchors: tuple[str, ...]) -> None:
        """Take other anchor texts of a document that is in the index, or on its way there."""
        self._append(key, NewAnchors(self._source, url, anchors))

    def _append(self, key: int, change: Change) -> None:
        if not self._cache.size:
            for destination in self._destinations.all:
                destination.prepare()
            self._since = self._clock()
        self._cache.append(key, change)

    def completes(self, key: int) -> bool:
        """Return whether a document gets its anchor texts when the open segment is sealed."""
        return bool(self._open.get(key))

    def _complete(self) -> None:
        """Give documents in the open segment the anchor texts that are known by now."""
        keys = [key for key, url in self._open.items() if url]
        if self._links is None or not keys:
            return
        self._cache.sync()
        self._state.flush()
        for at in range(0, len(keys), COMPLETED):
            some = keys[at : at + COMPLETED]
            texts = self._links.anchor_texts(some)
            for key in some:
                if key in texts:
                    self._cache.append(key, NewAnchors(self._source, self._open[key], texts[key]))
                self._links.submitted_with_texts(key, texts.get(key, ()))

    @property
    def congested(self) -> bool:
        """Whether crawling has to wait for the index: more than the cache may hold is waiting, or phases alternate."""
        return self._destinations.primary.busy > (0 if self._two_phases else BEHIND)

    @property
    def busy(self) -> bool:
        """Whether changes are on their way to an index that takes them."""
        return self._cache.size > 0 or self._destinations.busy

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
        return (size >= EAGER_SIZE or self._waited >= PATIENCE) and self._destinations.idle

    @property
    def _overdue(self) -> bool:
        if not self._every or not self._cache.size or self._waited < self._every:
            return False
        return any(destination.going for destination in self._destinations.all)

    @property
    def _waited(self) -> float:
        """How long the first change in the cache waits, in seconds."""
        return self._clock() - self._since

    def _look_at_pauses(self) -> None:
        if self._pauses is None or not self._pauses.changed(self._clock()):
            return
        for destination in self._destinations.all:
            paused = self._pauses.of(destination.label)
            if destination.paused and not paused:
                destination.resume()
            destination.paused = paused

    def drain(self) -> None:
        """Hand over everything that waits in the cache; the records of it become durable first."""
        self._complete()
        path = self._cache.seal()
        if path is not None:
            self._state.flush()
            self._sealed.note_sealed(path, self._open)
            self._open = {}
            self._destinations.deliver(path)
            self._check_backlog()

    def _check_backlog(self) -> None:
        """Raise `IndexStoreError` if too much waits for the primary index; another one is given up instead."""
        for destination in self._destinations.all:
            if self._backlog is None or destination.going or destination.size <= self._backlog:
                continue
            full = (
                f"{destination.size / 1e6:,.0f} MB wait for {_name(destination)}, more than `feeding.backlog`"
            )
            if destination is self._destinations.primary:
                raise IndexStoreError(f"{full}; let it be fed (`ultracrawl feeding resume`), or raise that")
            self._destinations.give_up(destination)
            self._problem(f"{full}: they are given up, and the next run fills it anew")

    def collect(self) -> None:
        """Take note of what the indexes committed, or could not."""
        for destination in self._destinations.all:
            for answer in destination.poll():
                self._take(destination, answer)

    def retry(self) -> None:
        """Try indexes that failed once more, now."""
        for destination in self._destinations.all:
            destination.retry()

    def _take(self, destination: IndexDestination, answer: Report) -> None:
        primary = destination is self._destinations.primary
        if self.log is not None and isinstance(answer, Failed):
            self.log.refused(destination.label, self._cache.read(answer.path), answer.reason)
        match answer:
            case Committed(path=path, added=added, remarks=remarks):
                for remark in remarks:
                    self._counters.add_remark(remark)
                urls = self._sealed.urls_of(path) if primary or self.on_sent is not None else {}
                later = self._changed_later(path, urls)
                if primary:
                    self._confirm(urls, later, added)
                    self._sealed.forget(path)
                if self.log is not None:
                    self.log.indexed(destination.label, self._cache.read(path))
                destination.done(path)
                self._sent(path, urls, later)
            case Failed(reason=reason) if primary:
                self._problem(f"indexing failed: {reason}; the documents stay in the cache for the next run")
            case Failed(reason=reason):
                logger.warning(
                    "%s: %s cannot be fed, and catches up later: %s", self._source, _name(destination), reason
                )

    def _problem(self, problem: str) -> None:
        if problem not in self._counters.problems:
            logger.error(problem)
            self._counters.add_problem(problem)

    def _changed_later(self, path: Path, urls: Mapping[int, str]) -> set[int]:
        """Return the keys of a segment of which something newer is on its way to the primary index."""
        return self._sealed.changed_later(path, urls) | (urls.keys() & self._open.keys())

    def _confirm(self, urls: Mapping[int, str], later: Collection[int], added: int) -> None:
        """Tell the store what the primary index has; of a document that was changed since, its own commit tells."""
        self._state.documents.mark_indexed((key, bool(url)) for key, url in urls.items() if key not in later)
        self._cache.sync()
        self._state.flush()
        self._counters.count_indexed(added, sum(not url for url in urls.values()))

    def _sent(self, path: Path, urls: Mapping[int, str], later: Collection[int]) -> None:
        if self.on_sent is not None and not self._destinations.has(path.name):
            self.on_sent([key for key, url in urls.items() if url and key not in later])

    def close(self, timeout: float) -> None:
        """End the index processes, after what is on its way, in `timeout` seconds at most."""
        deadline = time.monotonic() + timeout
        while self._destinations.busy and time.monotonic() < deadline:
            self.collect()
            time.sleep(_POLL_SECONDS)
        for destination in self._destinations.all:
            for answer in destination.close(max(0.5, deadline - time.monotonic())):
                self._take(destination, answer)
        self._cache.close()


def _name(destination: IndexDestination) -> str:
    return f"the destination `{destination.label}`" if destination.label else "the index"
