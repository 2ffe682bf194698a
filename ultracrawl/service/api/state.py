"""The state shared by all requests: the project, the supervisor, tokens, and a pool of searchers."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from anyio import CapacityLimiter, fail_after, to_thread
from starlette.exceptions import HTTPException

from ultracrawl.errors import IndexStoreError
from ultracrawl.index.searching import Searcher
from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.service.api.guard import FailedLogins
from ultracrawl.service.api.problems import NotFoundError
from ultracrawl.service.metrics.holdings import HoldingsReader
from ultracrawl.service.orders import Supervision
from ultracrawl.sources import Catalog, DataSource, Project
from ultracrawl.sources.reading.locations import Version, file_version, track_file, tracked_files
from ultracrawl.stores.opening import open_lists

MAX_CONCURRENT_SEARCHES = max(2, 2 * (os.cpu_count() or 1))
"""Concurrent searches; further ones are queued."""
_MAX_SHARE = max(1, MAX_CONCURRENT_SEARCHES - 1)
"""Concurrent searches of one token."""
_MAX_WAITING = 200
"""Searches of one token that wait; further ones are refused."""
_PATIENCE = 20.0
"""Seconds that a search waits for its turn."""
_MAX_IDLE = 2 * MAX_CONCURRENT_SEARCHES
Principals = tuple[str, ...] | None
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, eq=False)
class _OpenSearcher:
    """An open searcher with its arguments and the files it depends on."""

    project: Project
    index: str
    principals: Principals
    searcher: Searcher
    files: Mapping[Path, Version]
    """The files that it has read or may read (synonyms, bulk-loaded lists), with their versions."""

    def is_current(self, project: Project) -> bool:
        """Whether it was opened for this project, and its files have not changed."""
        return self.project is project and all(file_version(path) == was for path, was in self.files.items())


class SearchPlaces:
    """The places for searches. One token never takes them all, and those that wait get places in their order."""

    def __init__(self, places: int = MAX_CONCURRENT_SEARCHES, share: int = _MAX_SHARE) -> None:
        self._places = CapacityLimiter(places)
        self._share = share
        self._shares: dict[str, CapacityLimiter] = {}
        self._threads = CapacityLimiter(math.inf)

    async def run(self, token: str, search: Callable[[], Found]) -> Found:
        """Return the result of a search of a token, run in a thread. Raises status 503 if it gets no place in time."""
        share = self._shares.setdefault(token, CapacityLimiter(self._share))
        if share.statistics().tasks_waiting >= _MAX_WAITING:
            raise HTTPException(
                503, f"{_MAX_WAITING} searches of this token wait already", {"Retry-After": "1"}
            )
        async with _place(share, "this token"), _place(self._places, "all tokens"):
            return await to_thread.run_sync(search, limiter=self._threads)


@asynccontextmanager
async def _place(limiter: CapacityLimiter, whose: str) -> AsyncIterator[None]:
    try:
        with fail_after(_PATIENCE):
            await limiter.acquire()
    except TimeoutError:
        detail = f"as many searches as may run at a time, of {whose}, took more than {_PATIENCE:.0f} s"
        raise HTTPException(503, detail, {"Retry-After": "5"}) from None
    try:
        yield
    finally:
        limiter.release()


class SearcherPool:
    """A pool of open searchers; each serves one request at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_OpenSearcher] = []

    @contextmanager
    def searcher_for(self, project: Project, index: str, principals: Principals) -> Iterator[Searcher]:
        """Lend a searcher of an index that finds documents for these principals. Raises `UserError`."""
        opened = self._pop(project, index, principals) or _open(project, index, principals)
        try:
            yield opened.searcher
        except IndexStoreError:
            opened.searcher.close()
            raise
        except BaseException:
            self._put_back(opened)
            raise
        self._put_back(opened)

    def _pop(self, project: Project, index: str, principals: Principals) -> _OpenSearcher | None:
        with self._lock:
            for number, idle in enumerate(self._idle):
                if (idle.index, idle.principals) == (index, principals) and idle.is_current(project):
                    return self._idle.pop(number)
        return None

    def _put_back(self, opened: _OpenSearcher) -> None:
        """Return a searcher to the pool; closes outdated searchers, and the oldest ones above the limit."""
        with self._lock:
            self._idle.append(opened)
            keep = [idle for idle in self._idle if idle.is_current(opened.project)][-_MAX_IDLE:]
            outdated = [idle for idle in self._idle if idle not in keep]
            self._idle = keep
        for idle in outdated:
            idle.searcher.close()

    def close(self) -> None:
        """Close all idle searchers."""
        with self._lock:
            closing, self._idle = self._idle, []
        for idle in closing:
            idle.searcher.close()


def _open(project: Project, index: str, principals: Principals) -> _OpenSearcher:
    with tracked_files() as files:
        track_file(open_lists(project).path)
        searcher = Searcher(project, index, principals=principals)
    return _OpenSearcher(project, index, principals, searcher, files)


@dataclass(frozen=True, slots=True)
class ApiState:
    """The state shared by all requests."""

    project_now: Callable[[], Project]
    supervisor: Supervision
    tokens: TokenStore
    holdings: HoldingsReader = field(default_factory=HoldingsReader)
    searchers: SearcherPool = field(default_factory=SearcherPool)
    searching: SearchPlaces = field(default_factory=SearchPlaces)
    checking: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(1))
    """For `/readyz`, which waits for no other request."""
    failed_logins: FailedLogins = field(default_factory=FailedLogins)

    @property
    def project(self) -> Project:
        """The project by the present definitions."""
        return self.project_now()

    def known_source(self, name: str) -> DataSource:
        """Return a source, valid or not. Raises `NotFoundError`."""
        source = self.project.known_sources.get(name)
        if source is None:
            raise NotFoundError(f"no source is named {name!r}")
        return source

    def valid_source(self, name: str) -> DataSource:
        """Return a source whose definition has no mistakes. Raises `NotFoundError`, `DefinitionError`."""
        self.known_source(name)
        return Catalog(self.project).find(name)
