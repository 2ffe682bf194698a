"""Documents on their way to the index: durable cache, index process, confirmation in the document table."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path

from ultracrawl.backends import Indexer
from ultracrawl.index import Change, Deletion, IndexDocument, NewAnchors
from ultracrawl.index.batches import Committed, Failed, Report
from ultracrawl.index.cache import DocumentCache
from ultracrawl.model import RunReport
from ultracrawl.state import StateStore

logger = logging.getLogger(__name__)

EAGER_SIZE = 1_000_000
"""Bytes that are worth a commit while the index process has nothing else to do."""


class IndexFeed:
    """Takes changes, keeps them in the durable cache, and has them indexed while crawling goes on.

    A segment of the cache goes to the index process when it is full, when the process is idle and enough waits, when
    its first change is `every` seconds old, or when `drain` is called; with `two_phases` (Ultra Search 6) not before it
    is full or that old, and crawling stops meanwhile. Its records are marked indexed, and the segment is removed, only
    after its commit.
    """

    def __init__(
        self,
        source: str,
        cache: DocumentCache,
        indexer: Indexer,
        state: StateStore,
        report: RunReport,
        *,
        every: float | None = None,
        two_phases: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._cache = cache
        self._indexer = indexer
        self._state = state
        self._report = report
        self._every = every
        self._two_phases = two_phases
        self._clock = clock
        self._since = 0.0
        """When the first of the changes came that wait in the cache."""
        self._open: dict[int, bool] = {}
        self._keys: dict[Path, dict[int, bool]] = {}

    def recover(self) -> frozenset[int]:
        """Submit what an earlier run left in the cache; returns the keys of all changes in it."""
        for path in self._cache.sealed():
            changes = self._cache.read(path)
            keys = {
                key: isinstance(change, IndexDocument)
                for key, change in changes
                if not isinstance(change, NewAnchors)
            }
            self._submit(path, keys)
        return frozenset(key for keys in self._keys.values() for key in keys)

    def add(self, key: int, document: IndexDocument) -> None:
        """Take a document that is new or changed. Raises `IndexStoreError` if the cache cannot be written."""
        self._append(key, document, present=True)

    def delete(self, key: int, url: str) -> None:
        """Take the removal of a document."""
        self._append(key, Deletion(self._source, url), present=False)

    def rename(self, key: int, url: str, anchors: tuple[str, ...]) -> None:
        """Take other anchor texts of a document that is in the index, or on its way there."""
        self._begin()
        self._cache.append(key, NewAnchors(self._source, url, anchors))

    def _append(self, key: int, change: Change, *, present: bool) -> None:
        self._begin()
        self._cache.append(key, change)
        self._open[key] = present

    def _begin(self) -> None:
        if not self._cache.size:
            self._indexer.prepare()
            self._since = self._clock()

    @property
    def congested(self) -> bool:
        """Whether crawling has to wait for the index: more than the cache may hold is waiting, or phases alternate."""
        return self._indexer.busy > (0 if self._two_phases else 2)

    @property
    def busy(self) -> bool:
        """Whether changes wait for their commit."""
        return self._cache.size > 0 or self._indexer.busy > 0

    def sync(self) -> None:
        """Make what the cache took durable; has to come before the flush of the state."""
        self._cache.sync()

    def tick(self) -> None:
        """Hand over what is due and take note of commits; called a few times a second."""
        self.collect()
        size = self._cache.size
        eager = not self._two_phases and size >= EAGER_SIZE and not self._indexer.busy
        if size >= self._cache.limit or eager or self._overdue:
            self.drain()

    @property
    def _overdue(self) -> bool:
        return bool(self._every and self._cache.size) and self._clock() - self._since >= (self._every or 0.0)

    def drain(self) -> None:
        """Hand over everything that waits in the cache; the records of it become durable first."""
        path = self._cache.seal()
        if path is not None:
            self._state.flush()
            self._submit(path, self._open)
            self._open = {}

    def _submit(self, path: Path, keys: dict[int, bool]) -> None:
        self._keys[path] = keys
        self._indexer.submit(path)

    def collect(self) -> None:
        """Take note of what the index process committed, or could not."""
        for answer in self._indexer.poll():
            self._take(answer)

    def _take(self, answer: Report) -> None:
        match answer:
            case Committed(path=path, added=added, remarks=remarks):
                self._report.remarks += remarks
                self._confirm(path, added)
            case Failed(reason=reason):
                problem = f"indexing failed: {reason}; the documents stay in the cache for the next run"
                if problem not in self._report.problems:
                    logger.error(problem)
                    self._report.problems.append(problem)

    def _confirm(self, path: Path, added: int) -> None:
        keys = self._keys.pop(path, {})
        self._state.mark_indexed(keys.items())
        self._cache.sync()
        self._state.flush()
        self._cache.remove(path)
        self._report.indexed += added
        self._report.deleted += len(keys) - sum(keys.values())

    def close(self, timeout: float) -> None:
        """End the index process."""
        for answer in self._indexer.close(timeout):
            self._take(answer)
        self._cache.close()
