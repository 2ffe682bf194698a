"""All indexes and other destinations of a source: every segment of its cache goes to each of them (FAST 5.10)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from ultracrawl.index.writing.cache import SHARED, DocumentCache, salvage
from ultracrawl.index.writing.destination_queue import DestinationQueue, Indexer, cache_errors
from ultracrawl.sources.sections.documents.destinations import PROJECT_INDEX

_FILLED = "filled"
"""The file of a folder that says that its index has, or gets, everything of the source."""


def queue_folder(cache: Path, index: str) -> Path:
    """Return the folder in which segments wait for one of several indexes."""
    return cache / f"{SHARED}{index}"


def queue_folders(cache: Path) -> dict[str, Path]:
    """Return the folders by index that a cache has, of indexes that are fed and of former ones."""
    found = sorted(cache.glob(f"{SHARED}*"))
    return {path.name.removeprefix(SHARED): path for path in found if path.is_dir()}


def mark_unfilled(cache: Path, index: str) -> None:
    """Have a later run fill one of several indexes anew."""
    queue_folder(cache, index).joinpath(_FILLED).unlink(missing_ok=True)


class DestinationQueues:
    """The destinations of a source, the primary one first: that one says when a document counts as indexed.

    With one index, that of the project, segments stay where the cache sealed them, and nothing else is done. With
    several, or another one, each has a folder with links to its segments, and the cache lets go of a segment when all
    folders have it; so each goes on from where it stands, whatever became of the others, also after a crash.
    """

    def __init__(self, cache: Path, destinations: Sequence[DestinationQueue], *, shared: bool) -> None:
        self.all = tuple(destinations)
        self._cache = cache
        self._shared = shared

    @classmethod
    def single(cls, cache: Path, indexer: Indexer) -> DestinationQueues:
        """Return the one destination to the index of the project."""
        return cls(cache, [DestinationQueue(cache, indexer, index=PROJECT_INDEX)], shared=False)

    @property
    def primary(self) -> DestinationQueue:
        """The destination whose commits count."""
        return self.all[0]

    def salvage(self) -> list[str]:
        """Keep what can be read of damaged segments; returns the remarks for the report. To be called before `recover`.

        The other documents are lost by the primary index, and asked for again; another index is filled anew by a later
        run.
        """
        told = []
        for folder in (self._cache, *queue_folders(self._cache).values()):
            for path in sorted(folder.glob("*.sealed")):
                with cache_errors(folder):
                    damage = salvage(path)
                    if damage and folder != self.primary.folder:
                        (folder / _FILLED).unlink(missing_ok=True)
                if damage:
                    told.append(
                        f"{damage}; it is set aside as {path.stem}.damaged, and what is lost is fetched again"
                    )
        return told

    def recover(self, cache: DocumentCache) -> None:
        """Queue what an earlier process left, whatever its definition named. Raises `IndexStoreError`."""
        with cache_errors(self._cache):
            if self._shared:
                for destination in self.all:
                    destination.folder.mkdir(exist_ok=True)
                for path in cache.sealed():
                    self._share(path)
            else:
                self._take_back()
        for destination in self.all:
            destination.recover()

    def _take_back(self) -> None:
        """Move segments that waited for the index of the project as one of several back to the cache."""
        former = queue_folder(self._cache, PROJECT_INDEX)
        for path in sorted(former.glob("*.sealed")):
            path.rename(self._cache / path.name)

    def deliver(self, path: Path) -> None:
        """Queue a sealed segment for every destination. Raises `IndexStoreError`."""
        if not self._shared:
            self.primary.add(path)
            return
        with cache_errors(self._cache):
            self._share(path)
        for destination in self.all:
            destination.add(destination.folder / path.name)

    def _share(self, path: Path) -> None:
        for destination in self.all:
            # It exists if a process was killed here, before it handed anything over.
            with suppress(FileExistsError):
                _link(path, destination.folder / path.name)
            _sync(destination.folder)
        path.unlink()

    def has_segment(self, name: str) -> bool:
        """Return whether a segment still waits for some index."""
        return any(name in destination for destination in self.all)

    @property
    def is_idle(self) -> bool:
        """Whether a segment would be taken up at once by all that take any."""
        return not any(destination.in_progress for destination in self.all) and any(
            destination.is_active for destination in self.all
        )

    @property
    def is_busy(self) -> bool:
        """Whether something is on its way to an index that takes it."""
        return any(destination.in_progress for destination in self.all)

    # ---- indexes that are new to the source

    def unfilled(self) -> tuple[DestinationQueue, ...]:
        """Return the destinations whose indexes lack what was written before they were named.

        To be asked before `recover`.
        """
        former = queue_folders(self._cache)
        if self._shared:
            # Until now it fed the index of the project alone, if it fed any.
            known = {PROJECT_INDEX} if not former else set()
            others = (one for one in self.all if one.index not in known)
            return tuple(one for one in others if not (one.folder / _FILLED).exists())
        if not former or (queue_folder(self._cache, PROJECT_INDEX) / _FILLED).exists():
            return ()
        return self.all

    def mark_filled(self) -> None:
        """Take note that all indexes have, or get, everything."""
        with cache_errors(self._cache):
            for destination in self.all if self._shared or queue_folders(self._cache) else ():
                folder = queue_folder(self._cache, destination.index)
                folder.mkdir(parents=True, exist_ok=True)
                (folder / _FILLED).touch()

    def abandon(self, destination: DestinationQueue) -> None:
        """Delete what waits for an index, and mark the index to be filled anew by a later run."""
        with cache_errors(self._cache):
            mark_unfilled(self._cache, destination.index)
        destination.discard_waiting()

    def mark_former_unfilled(self) -> None:
        """Take note that indexes which are not named any more miss what comes now."""
        named = {destination.index for destination in self.all}
        with cache_errors(self._cache):
            for index, folder in queue_folders(self._cache).items():
                if index not in named:
                    (folder / _FILLED).unlink(missing_ok=True)


def _link(path: Path, target: Path) -> None:
    """Give a file a second name; where the file system has no links, a copy. Raises `FileExistsError`."""
    try:
        os.link(path, target)
    except FileExistsError:
        raise
    except OSError:
        draft = target.with_suffix(".new")
        shutil.copyfile(path, draft)
        os.replace(draft, target)


def _sync(folder: Path) -> None:
    """Have the entries of a folder written to the disk itself."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
