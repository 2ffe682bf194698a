"""What the API answers from: the project as it is now, the supervisor, tokens, searchers."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from anyio import CapacityLimiter

from ultracrawl.errors import IndexStoreError
from ultracrawl.index.searching import Searcher
from ultracrawl.service.api.guard import FailedLogins
from ultracrawl.service.api.problems import NotFoundError
from ultracrawl.service.api.tokens import TokenStore
from ultracrawl.service.metrics.holdings import HoldingsReader
from ultracrawl.service.orders import Supervision
from ultracrawl.sources import Catalog, DataSource, Project
from ultracrawl.sources.reading.locations import Version, file_version, track_file, tracked_files
from ultracrawl.stores.opening import open_lists

SEARCHES_AT_ONCE = max(2, 2 * (os.cpu_count() or 1))
"""Searches that are worked on at a time; further ones wait in their order."""
_MOST_IDLE = 2 * SEARCHES_AT_ONCE
Principals = tuple[str, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class _OpenSearcher:
    """A searcher, and what it was opened for and from."""

    project: Project
    index: str
    principals: Principals
    searcher: Searcher
    files: Mapping[Path, Version]
    """What it has read, or may read: synonyms, and what was loaded in bulk."""

    def is_for(self, project: Project) -> bool:
        """Whether it answers by what a project, its files included, says now."""
        return self.project is project and all(file_version(path) == was for path, was in self.files.items())


class SearcherPool:
    """Searchers that are open already: one works for one request at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_OpenSearcher] = []

    @contextmanager
    def searcher_for(self, project: Project, index: str, principals: Principals) -> Iterator[Searcher]:
        """Give a searcher of an index for who asks. Raises `UserError`."""
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
            for number, one in enumerate(self._idle):
                if (one.index, one.principals) == (index, principals) and one.is_for(project):
                    return self._idle.pop(number)
        return None

    def _put_back(self, opened: _OpenSearcher) -> None:
        """Keep a searcher; those that answer by what was replaced, and of the oldest the ones too many, are closed."""
        with self._lock:
            self._idle.append(opened)
            keep = [one for one in self._idle if one.is_for(opened.project)][-_MOST_IDLE:]
            closing = [one for one in self._idle if one not in keep]
            self._idle = keep
        for one in closing:
            one.searcher.close()

    def close(self) -> None:
        """Close all that are idle."""
        with self._lock:
            idle, self._idle = self._idle, []
        for one in idle:
            one.searcher.close()


def _open(project: Project, index: str, principals: Principals) -> _OpenSearcher:
    with tracked_files() as files:
        track_file(open_lists(project).path)
        searcher = Searcher(project, index, principals=principals)
    return _OpenSearcher(project, index, principals, searcher, files)


@dataclass(frozen=True, slots=True)
class ApiState:
    """What all requests share."""

    project_now: Callable[[], Project]
    supervisor: Supervision
    tokens: TokenStore
    holdings: HoldingsReader = field(default_factory=HoldingsReader)
    searchers: SearcherPool = field(default_factory=SearcherPool)
    searching: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(SEARCHES_AT_ONCE))
    failed_logins: FailedLogins = field(default_factory=FailedLogins)

    @property
    def project(self) -> Project:
        """The project, as its definitions say now."""
        return self.project_now()

    def known_source(self, name: str) -> DataSource:
        """Return a source to look at. Raises `NotFoundError`."""
        found = self.project.known_sources.get(name)
        if found is None:
            raise NotFoundError(f"no source is named {name!r}")
        return found

    def sound_source(self, name: str) -> DataSource:
        """Return a source whose definition has no mistakes. Raises `NotFoundError`, `DefinitionError`."""
        self.known_source(name)
        return Catalog(self.project).find(name)
