"""Open searchers, used again by later searches."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ultracrawl.errors import IndexStoreError
from ultracrawl.index.searching import Searcher
from ultracrawl.service.searching.places import MAX_CONCURRENT_SEARCHES
from ultracrawl.sources import Project
from ultracrawl.sources.reading.locations import Version, file_version, track_file, tracked_files
from ultracrawl.stores.opening import open_lists

_MAX_IDLE = 2 * MAX_CONCURRENT_SEARCHES


@dataclass(frozen=True, slots=True)
class View:
    """What a requester sees of the indexes: the arguments of a `Searcher`."""

    index: str = ""
    principals: tuple[str, ...] | None = ()
    sources: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _OpenSearcher:
    """An open searcher with its arguments and the files it depends on."""

    project: Project
    view: View
    searcher: Searcher
    files: Mapping[Path, Version]
    """The files that it has read or may read (synonyms, bulk-loaded lists), with their versions."""

    def is_current(self, project: Project) -> bool:
        """Whether it was opened for this project, and its files have not changed."""
        return self.project is project and all(file_version(path) == was for path, was in self.files.items())


class SearcherPool:
    """A pool of open searchers; each serves one request at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_OpenSearcher] = []

    @contextmanager
    def searcher_for(self, project: Project, view: View) -> Iterator[Searcher]:
        """Lend a searcher that sees no more than a view. Raises `UserError`."""
        opened = self._pop(project, view) or _open(project, view)
        try:
            yield opened.searcher
        except IndexStoreError:
            opened.searcher.close()
            raise
        except BaseException:
            self._put_back(opened)
            raise
        self._put_back(opened)

    def _pop(self, project: Project, view: View) -> _OpenSearcher | None:
        with self._lock:
            for number, idle in enumerate(self._idle):
                if idle.view == view and idle.is_current(project):
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


def _open(project: Project, view: View) -> _OpenSearcher:
    with tracked_files() as files:
        track_file(open_lists(project).path)
        searcher = Searcher(project, view.index, principals=view.principals, within=view.sources)
    return _OpenSearcher(project, view, searcher, files)
