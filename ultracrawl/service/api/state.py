"""What the API answers from: the project as it is now, the supervisor, tokens, searchers."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from anyio import CapacityLimiter

from ultracrawl.errors import IndexStoreError
from ultracrawl.index.searching import Searcher
from ultracrawl.service.api.guard import FailedLogins
from ultracrawl.service.api.problems import NotFoundError
from ultracrawl.service.api.tokens import TokenStore
from ultracrawl.service.metrics.holdings import HoldingsReader
from ultracrawl.service.orders import Supervision
from ultracrawl.sources import Catalog, DataSource, Project

SEARCHES_AT_ONCE = max(2, 2 * (os.cpu_count() or 1))
"""Searches that are worked on at a time; further ones wait in their order."""
_MOST_IDLE = 2 * SEARCHES_AT_ONCE
Principals = tuple[str, ...] | None


class SearcherPool:
    """Searchers that are open already: one works for one request at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[tuple[Project, str, Principals, Searcher]] = []

    @contextmanager
    def searcher_for(self, project: Project, index: str, principals: Principals) -> Iterator[Searcher]:
        """Give a searcher of an index for who asks. Raises `UserError`."""
        searcher = self._pop(project, index, principals)
        searcher = searcher or Searcher(project, index, principals=principals)
        try:
            yield searcher
        except IndexStoreError:
            searcher.close()
            raise
        except BaseException:
            self._put_back(project, index, principals, searcher)
            raise
        self._put_back(project, index, principals, searcher)

    def _pop(self, project: Project, index: str, principals: Principals) -> Searcher | None:
        with self._lock:
            for number, (of, name, who, _) in enumerate(self._idle):
                if of is project and name == index and who == principals:
                    return self._idle.pop(number)[3]
        return None

    def _put_back(self, project: Project, index: str, principals: Principals, searcher: Searcher) -> None:
        """Keep a searcher; those of a project that was replaced, and of the oldest the ones too many, are closed."""
        with self._lock:
            self._idle.append((project, index, principals, searcher))
            keep = [one for one in self._idle if one[0] is project][-_MOST_IDLE:]
            closing = [one for one in self._idle if not any(one is kept for kept in keep)]
            self._idle = keep
        for one in closing:
            one[3].close()

    def close(self) -> None:
        """Close all that are idle."""
        with self._lock:
            idle, self._idle = self._idle, []
        for one in idle:
            one[3].close()


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
