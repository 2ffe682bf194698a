"""Results of earlier searches."""

from __future__ import annotations

import pickle
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import UltracrawlError
from ultracrawl.index.engine import HasCommits, IndexEngine
from ultracrawl.index.project_index import open_index
from ultracrawl.service.searching.messages import Answer, Basis, Request
from ultracrawl.sources import Project
from ultracrawl.sources.reading.locations import file_version

_MAX_AGE = 600.0
"""Seconds after which a result is computed again: the freshness of documents counts in years."""
_ENTRY_BYTES = 1000
"""Size of an entry without its result."""


@dataclass(frozen=True, slots=True)
class _Kept:
    basis: Basis
    data: bytes
    """The pickled result."""
    until: float

    @property
    def size(self) -> int:
        return len(self.data) + _ENTRY_BYTES


class ResultCache:
    """The results that were used last, up to a size in bytes. Thread-safe.

    A result is found by what was searched for and by whom, and only as long as definitions, index and files are those
    that it was made from: a document that was deleted, changed or made private is in none.
    """

    def __init__(self, size: int, clock: Callable[[], float] = time.monotonic) -> None:
        """`size` 0 keeps nothing."""
        self._room = self._size = size
        self._clock = clock
        self._lock = threading.Lock()
        self._project: Project | None = None
        self._kept: OrderedDict[Request, _Kept] = OrderedDict()
        self._engines: dict[str, IndexEngine] = {}

    def __contains__(self, request: Request) -> bool:
        """Return whether a request has a result, which may not hold any more."""
        return request in self._kept

    def find(self, project: Project, request: Request) -> dict[str, object] | None:
        """Return the kept result of a request; None if there is none that still holds."""
        with self._lock:
            self._use(project)
            kept = self._kept.get(request)
            if kept is None:
                return None
            if self._clock() > kept.until or not self._holds(kept.basis):
                self._room += self._kept.pop(request).size
                return None
            self._kept.move_to_end(request)
        found: dict[str, object] = pickle.loads(kept.data)  # noqa: S301 - our own
        return found

    def keep(self, project: Project, request: Request, answer: Answer) -> None:
        """Keep an answer, which was made with this project, if it can be found again."""
        if answer.basis is None or not self._size:
            return
        kept = _Kept(answer.basis, pickle.dumps(answer.found), self._clock() + _MAX_AGE)
        with self._lock:
            self._use(project)
            if former := self._kept.pop(request, None):
                self._room += former.size
            self._kept[request] = kept
            self._room -= kept.size
            while self._room < 0:
                self._room += self._kept.popitem(last=False)[1].size

    def close(self) -> None:
        """Drop all results, and close the indexes that they are compared with."""
        with self._lock:
            self._use(None)

    def _use(self, project: Project | None) -> None:
        """Drop all results of another project."""
        if project is not self._project:
            for engine in self._engines.values():
                engine.close()
            self._kept.clear()
            self._engines, self._project, self._room = {}, project, self._size

    def _holds(self, basis: Basis) -> bool:
        """Return whether nothing has changed that a result was made from."""
        if any(file_version(path) != was for path, was in basis.files.items()):
            return False
        assert self._project is not None
        try:
            if basis.index not in self._engines:
                self._engines[basis.index] = open_index(self._project, basis.index)
            engine = self._engines[basis.index]
            return isinstance(engine, HasCommits) and engine.commit_id() == basis.commit
        except UltracrawlError:  # the search itself says what is wrong
            return False
