"""All destinations of a source: every segment of its cache goes to each of them (FAST 5.10)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from pathlib import Path

from ultracrawl.index.writing.cache import (
    QUEUE_PREFIX,
    DocumentCache,
    IsStale,
    drop_changes,
    read_segment,
    salvage,
)
from ultracrawl.index.writing.destination_queue import DestinationQueue, Indexer, cache_errors
from ultracrawl.sources.sections.documents.destinations import PROJECT_INDEX
from ultracrawl.system.files import sync_to_disk

_FILLED_MARKER = "filled"
"""Marker file in a queue folder: its index has, or gets, all documents of the source."""


def queue_folder(cache: Path, index: str) -> Path:
    """Return the folder in which segments wait for one of several indexes."""
    return cache / f"{QUEUE_PREFIX}{index}"


def queue_folders(cache: Path) -> dict[str, Path]:
    """Return the queue folders of a cache by index, those of former indexes too."""
    found = sorted(cache.glob(f"{QUEUE_PREFIX}*"))
    return {path.name.removeprefix(QUEUE_PREFIX): path for path in found if path.is_dir()}


def mark_unfilled(cache: Path, index: str) -> None:
    """Remove the marker, so that a later run fills the index again."""
    queue_folder(cache, index).joinpath(_FILLED_MARKER).unlink(missing_ok=True)


class DestinationQueues:
    """The destination queues of a source; the first, primary one decides when a document counts as indexed.

    If the only destination is the index of the project, segments stay in the folder of the cache. Otherwise each
    destination has a folder with hard links to its segments, and a segment is removed from the cache when all folders
    have it. Each queue thus proceeds independently of the others, also after a crash.
    """

    def __init__(self, cache: Path, destinations: Sequence[DestinationQueue], *, shared: bool) -> None:
        self.all = tuple(destinations)
        self._cache = cache
        self._shared = shared

    @classmethod
    def single(cls, cache: Path, indexer: Indexer) -> DestinationQueues:
        """Return the queues with the index of the project as the only destination."""
        return cls(cache, [DestinationQueue(cache, indexer, index=PROJECT_INDEX)], shared=False)

    @property
    def primary(self) -> DestinationQueue:
        """The queue whose commits count."""
        return self.all[0]

    def queue_of(self, index: str) -> DestinationQueue:
        """Return the queue of an index that the source feeds."""
        return next(one for one in self.all if one.index == index)

    def close(self) -> None:
        """End the index processes at once; a writer has waited for them before."""
        for destination in self.all:
            destination.close(0.0)

    def salvage(self) -> list[str]:
        """Keep the readable lines of damaged segments, and return remarks for the report; call it before `recover`.

        Documents lost by the primary index are fetched again; other indexes are filled again by a later run.
        """
        remarks = []
        for folder in (self._cache, *queue_folders(self._cache).values()):
            for path in sorted(folder.glob("*.sealed")):
                with cache_errors(folder):
                    damage = salvage(path)
                    if damage and folder != self.primary.folder:
                        (folder / _FILLED_MARKER).unlink(missing_ok=True)
                if damage:
                    remarks.append(
                        f"{damage}; it is set aside as {path.stem}.damaged, and lost documents are fetched again"
                    )
        return remarks

    def drop_stale(self, judge: Callable[[Collection[int]], IsStale]) -> None:
        """Take out changes that were made again on another machine, which delivers them; call it before `recover`.

        `judge` gets the keys of a segment, and returns what tells whether a change in it is such a one.
        """
        for folder in (self._cache, *queue_folders(self._cache).values()):
            for path in sorted(folder.glob("*.sealed")):
                with cache_errors(folder):
                    changes = list(read_segment(path))
                    is_stale = judge({key for key, _ in changes})
                    if any(is_stale(*change) for change in changes):
                        drop_changes(path, is_stale)

    def recover(self, cache: DocumentCache) -> None:
        """Queue the segments of an earlier process, whatever destinations it had. Raises `IndexStoreError`."""
        with cache_errors(self._cache):
            if self._shared:
                for destination in self.all:
                    destination.folder.mkdir(exist_ok=True)
                for path in cache.sealed():
                    self._link_to_queues(path)
            else:
                self._reclaim_project_queue()
        for destination in self.all:
            destination.recover()

    def _reclaim_project_queue(self) -> None:
        """Move segments of the project's index back to the cache folder if it was one of several destinations."""
        former = queue_folder(self._cache, PROJECT_INDEX)
        for path in sorted(former.glob("*.sealed")):
            path.rename(self._cache / path.name)

    def deliver(self, path: Path) -> None:
        """Queue a sealed segment for every destination. Raises `IndexStoreError`."""
        if not self._shared:
            self.primary.add(path)
            return
        with cache_errors(self._cache):
            self._link_to_queues(path)
        for destination in self.all:
            destination.add(destination.folder / path.name)

    def _link_to_queues(self, path: Path) -> None:
        for destination in self.all:
            # It exists if an earlier process was killed in this loop.
            with suppress(FileExistsError):
                _link(path, destination.folder / path.name)
            sync_to_disk(destination.folder)
        path.unlink()

    def has_segment(self, name: str) -> bool:
        """Return whether any queue contains the segment."""
        return any(name in destination for destination in self.all)

    @property
    def is_idle(self) -> bool:
        """Whether all active queues would submit a new segment at once, and any is active."""
        return not any(destination.in_progress for destination in self.all) and any(
            destination.is_active for destination in self.all
        )

    @property
    def is_busy(self) -> bool:
        """Whether any segment is being delivered."""
        return any(destination.in_progress for destination in self.all)

    # ---- destinations that are new to the source

    def unfilled(self) -> tuple[DestinationQueue, ...]:
        """Return the queues whose indexes lack documents written before they were configured.

        Call it before `recover`.
        """
        former = queue_folders(self._cache)
        if self._shared:
            # Without queue folders the source fed only the index of the project, if any.
            known = {PROJECT_INDEX} if not former else set()
            others = (one for one in self.all if one.index not in known)
            return tuple(one for one in others if not (one.folder / _FILLED_MARKER).exists())
        if not former or (queue_folder(self._cache, PROJECT_INDEX) / _FILLED_MARKER).exists():
            return ()
        return self.all

    def mark_filled(self) -> None:
        """Mark all indexes as filled: they have, or get, all documents."""
        with cache_errors(self._cache):
            for destination in self.all if self._shared or queue_folders(self._cache) else ():
                folder = queue_folder(self._cache, destination.index)
                folder.mkdir(parents=True, exist_ok=True)
                (folder / _FILLED_MARKER).touch()

    def abandon(self, destination: DestinationQueue) -> None:
        """Delete the segments of a queue, and have its index filled again by a later run."""
        with cache_errors(self._cache):
            mark_unfilled(self._cache, destination.index)
        destination.discard_waiting()

    def mark_former_unfilled(self) -> None:
        """Mark indexes that are no longer configured as unfilled, because they miss the changes from now on."""
        named = {destination.index for destination in self.all}
        with cache_errors(self._cache):
            for index, folder in queue_folders(self._cache).items():
                if index not in named:
                    (folder / _FILLED_MARKER).unlink(missing_ok=True)


def _link(path: Path, target: Path) -> None:
    """Create a hard link; a copy where the file system has none. Raises `FileExistsError`."""
    try:
        os.link(path, target)
    except FileExistsError:
        raise
    except OSError:
        draft = target.with_suffix(".new")
        shutil.copyfile(path, draft)
        os.replace(draft, target)
