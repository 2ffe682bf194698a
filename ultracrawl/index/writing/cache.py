"""The durable document cache between crawler and index: a change in it survives any crash until its commit."""

from __future__ import annotations

import errno
import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import BinaryIO
from uuid import uuid4

from ultracrawl.errors import IndexStoreError
from ultracrawl.index.engine import Change
from ultracrawl.index.values import change_from_line, change_to_line
from ultracrawl.index.writing.lease_note import LeaseNote
from ultracrawl.system.files import (
    DAMAGED_VERSIONS_KEPT,
    cause_and_remedy,
    end_of_last_line,
    exclusive_lock,
    full_disk,
    replace_file,
    write_all,
)

DEFAULT_LIMIT = 20 * 2**20
"""Bytes after which a segment should be sealed (the 20 MB cache of Ultra Search)."""

IsStale = Callable[[int, Change], bool]
"""Returns whether a change, with its key, does not count any more."""

QUEUE_PREFIX = "@"
"""Prefix of the folders in which segments wait for one of several indexes."""

_SEGMENT_NAME = re.compile(r"(?:(\d{10})-)?(\d{10})\.(open|sealed)")
"""The epoch, and the number of the segment."""
_EPOCH_FILE = f"{QUEUE_PREFIX}epoch"
_PLACE_FILE = f"{QUEUE_PREFIX}place"
_EPOCH_BITS = 32
_BATCH_BITS = 8
_FIRST_SECOND = 1_577_836_800
"""The beginning of 2020: versions count seconds from there, so that they have 63 bits until 2088."""


class DocumentCache:
    """Changes in segment files of JSON lines: an open one that grows, and sealed ones that wait for the index.

    The name of a segment has the epoch of its writer (`next_epoch`) and a number.

    The directory belongs to one process at a time. File names are numbers and contain nothing from documents. When the
    directory is opened, segments that a killed process left open are sealed; a truncated last line is removed (its
    record was not stored either, so the page is fetched again).
    """

    def __init__(
        self,
        directory: Path,
        limit: int = DEFAULT_LIMIT,
        epoch: int = 0,
        lease: LeaseNote | None = None,
        place: str = "",
    ) -> None:
        self.limit = limit
        self.lease = lease
        """Where to note how long the source is held; None if no index needs it."""
        self.place = place
        """Its name among those of all machines that share the state of the source; empty if none does."""
        self._prefix = f"{epoch:010d}-" if epoch else ""
        self._directory = directory
        self._file: BinaryIO | None = None
        self._syncing = Lock()
        """Held while the open segment is synced or closed."""
        self._path = directory
        self._size = 0
        self._synced = 0
        """Bytes of the open segment that are on disk."""
        with self._errors():
            directory.mkdir(parents=True, exist_ok=True)
            folders = (directory, *directory.glob(f"{QUEUE_PREFIX}*"))
            names = (name for folder in folders for name in os.listdir(folder))
            numbers = [int(found.group(2)) for found in map(_SEGMENT_NAME.fullmatch, names) if found]
            self._next = max(numbers, default=0) + 1
            for path in sorted(directory.glob("*.open")):
                self._seal_left_over(path)

    @property
    def size(self) -> int:
        """Bytes of the open segment."""
        return self._size

    def append(self, key: int, change: Change) -> None:
        """Append a change with the key of its record; it is durable after `sync`.

        Raises `IndexStoreError` if it cannot be written; earlier changes are kept.
        """
        line = change_to_line(key, change)
        with self._errors():
            file = self._file or self._open_segment()
            try:
                write_all(file, line)
            except OSError:
                self._truncate_partial_line(file)
                raise
        self._size += len(line)

    def sync(self) -> None:
        """Sync what was appended to disk; another thread may do it while changes are added."""
        with self._syncing, self._errors():
            size = self._size
            if self._file is not None and size != self._synced:
                os.fsync(self._file.fileno())
                self._synced = size

    def seal(self) -> Path | None:
        """Close the open segment and return it, ready for the index; None if there is none."""
        if self._file is None:
            return None
        self.sync()
        with self._syncing, self._errors():
            self._file.close()
            self._file = None
            self._size = self._synced = 0
            return self._rename(self._path)

    def sealed(self) -> list[Path]:
        """Return the sealed segments, oldest first."""
        return sorted(self._directory.glob("*.sealed"))

    def read(self, path: Path) -> Iterator[tuple[int, Change]]:
        """Yield the changes of a segment with their keys; raises `IndexStoreError` if it is damaged."""
        return read_segment(path)

    def close(self) -> None:
        """Seal the open segment; the next process finds it."""
        self.seal()

    def _open_segment(self) -> BinaryIO:
        self._path = self._directory / f"{self._prefix}{self._next:010d}.open"
        # Unbuffered: a line is in the file when append returns, so that a killed process loses none.
        self._file = self._path.open("xb", buffering=0)
        self._next += 1
        return self._file

    def _truncate_partial_line(self, file: BinaryIO) -> None:
        """Remove a partly written line."""
        with suppress(OSError):
            file.truncate(self._size)
            file.seek(self._size)

    def _seal_left_over(self, path: Path) -> None:
        with path.open("r+b") as file:
            size = file.seek(0, os.SEEK_END)
            end = end_of_last_line(file, size)
            if end < size:
                file.truncate(end)
        if end:
            self._rename(path)
        else:
            path.unlink()

    def _rename(self, path: Path) -> Path:
        sealed = path.with_suffix(".sealed")
        path.rename(sealed)
        return sealed

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise cache_error(self._directory, error) from error


def cache_error(folder: Path, error: OSError) -> IndexStoreError:
    """Return the error of a document cache that cannot be written."""
    if error.errno == errno.ENOSPC:
        return IndexStoreError(full_disk(folder / _EPOCH_FILE))
    return IndexStoreError(f"document cache {folder} cannot be written: {cause_and_remedy(error)}")


def next_epoch(folder: Path, clock: Callable[[], float] = time.time) -> int:
    """Return a number that is higher than all that were given before: at least the seconds of the clock.

    Who holds the lock of a source takes one, so that an index can tell its changes from those of an earlier holder that
    arrive later. The folder is that of the caches of all sources. Raises `IndexStoreError`.
    """
    file = folder / _EPOCH_FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with exclusive_lock(folder / f"{_EPOCH_FILE}.lock"):
            last = file.read_text(encoding="utf-8") if file.exists() else ""
            epoch = max(int(last) + 1 if last.isdecimal() else 0, int(clock()))
            replace_file(file, str(epoch).encode())
            return epoch
    except OSError as error:
        raise IndexStoreError(
            f"document cache {folder} cannot be written: {cause_and_remedy(error)}"
        ) from error


def place_of(folder: Path) -> str:
    """Return the name of the document caches in a folder, which no others have; it is made with the folder.

    Machines that share a database know by it where a document waits. Raises `IndexStoreError`.
    """
    file = folder / _PLACE_FILE
    try:
        if not file.exists():
            folder.mkdir(parents=True, exist_ok=True)
            with exclusive_lock(folder / f"{_EPOCH_FILE}.lock"):
                if not file.exists():
                    replace_file(file, uuid4().hex.encode())
        return file.read_text(encoding="ascii")
    except OSError as error:
        raise IndexStoreError(
            f"document cache {folder} cannot be written: {cause_and_remedy(error)}"
        ) from error


def has_segments(folder: Path) -> bool:
    """Return whether changes wait in the files of a folder, which need not exist."""
    return any(path.suffix in (".open", ".sealed") for path in folder.glob("*"))


def folder_of(segment: Path) -> Path:
    """Return the folder of the document cache of a segment, which may wait for one of several indexes."""
    folder = segment.parent
    return folder.parent if folder.name.startswith(QUEUE_PREFIX) else folder


def version_of(path: Path, batch: int) -> int:
    """Return the version of the changes in a batch of a segment; those of later batches are higher.

    It is the epoch, then the number of the segment, then that of the batch. A segment of an earlier program has no
    epoch: it counts as the second in which it was written.
    """
    found = _SEGMENT_NAME.fullmatch(path.name)
    epoch, number = (found.group(1), int(found.group(2))) if found else (None, 0)
    seconds = int(epoch) if epoch else int(path.stat().st_mtime)
    least = 1 << _BATCH_BITS
    return (max(seconds - _FIRST_SECOND, 0) << _EPOCH_BITS) + number * least + min(batch, least - 1)


def read_segment(path: Path) -> Iterator[tuple[int, Change]]:
    """Yield the changes of a cache segment with their keys; raises `IndexStoreError` if it is damaged."""
    number = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):  # noqa: B007 - the error below names the line
                yield change_from_line(line)
    except OSError as error:
        raise IndexStoreError(f"cache segment {path} cannot be read: {cause_and_remedy(error)}") from error
    except ValueError as error:
        raise IndexStoreError(f"cache segment {path}:{number} is damaged: {error}") from error


def drop_changes(path: Path, is_stale: IsStale) -> None:
    """Take changes out of an intact segment, which is deleted if it has no others. Raises `OSError`."""
    with path.open("rb") as file:
        left = [line for line in file if not is_stale(*change_from_line(line))]
    if left:
        _replace_lines(path, left)
    else:
        path.unlink()


def _replace_lines(path: Path, lines: Iterable[bytes]) -> None:
    draft = path.with_suffix(".draft")
    with draft.open("wb") as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def salvage(path: Path) -> str:
    """Move a damaged segment aside (`*.damaged`), and leave its readable lines in its place.

    Returns the damage, empty for an intact segment. Raises `OSError`.
    """
    damage, sound_lines = "", list[bytes]()
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                change_from_line(line)
            except ValueError as error:
                damage = damage or f"cache segment {path}:{number} is damaged: {error}"
            else:
                sound_lines.append(line)
    if not damage:
        return ""
    shutil.copyfile(path, path.with_suffix(".damaged"))
    _replace_lines(path, sound_lines)
    for earlier in sorted(path.parent.glob("*.damaged"))[:-DAMAGED_VERSIONS_KEPT]:
        earlier.unlink()
    return damage
