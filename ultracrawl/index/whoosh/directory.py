"""The directory of a Whoosh index: creation, write lock, open segments, conversion of errors."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from whoosh.codec.whoosh3 import W3Segment
from whoosh.fields import Schema
from whoosh.index import TOC, EmptyIndexError, clean_files

from ultracrawl.errors import IndexDamagedError, IndexForeignError, IndexStoreError
from ultracrawl.index.locking import WHOOSH_LOCK, write_lock
from ultracrawl.index.whoosh.fields import with_current_fields
from ultracrawl.index.whoosh.mapped_reader import MappedReader
from ultracrawl.index.whoosh.pickles import CheckedIndex, CheckedStorage, ForeignPickleError, read_contents
from ultracrawl.index.whoosh.postings import DAMAGE, refuse_foreign_pickles
from ultracrawl.index.whoosh.segments import OpenSegment, Snapshot
from ultracrawl.system.files import cause_and_remedy, in_place_of_folder, set_contents_aside

_NAME = "MAIN"
_OPEN_ATTEMPTS = 20


class OpenedSegments(NamedTuple):
    """Opened segments of one commit, and the number of those that could not be opened."""

    segments: list[OpenSegment]
    lost: int


class StoredIndex(CheckedIndex):
    """A Whoosh index whose schema is replaced by the fields of this program."""

    def _read_toc(self) -> TOC:
        toc = super()._read_toc()
        toc.schema = with_current_fields(toc.schema)
        return toc


class IndexDirectory:
    """One index directory; nothing is read or created before it is needed."""

    def __init__(self, path: Path, lock_seconds: float) -> None:
        self.path = path
        self._lock_seconds = lock_seconds
        self._storage = CheckedStorage(str(path))
        self._open: dict[str, OpenSegment] = {}
        self._snapshot: Snapshot | None = None

    @contextmanager
    def lock(self, seconds: float | None = None) -> Iterator[None]:
        """Hold the write lock of the index; raises `IndexStoreError` after the timeout."""
        timeout = self._lock_seconds if seconds is None else seconds
        with ExitStack() as held:
            with self.errors("written"):
                held.enter_context(write_lock(self.path, timeout, WHOOSH_LOCK))
            yield

    def open_or_create(self, schema: Schema) -> StoredIndex:
        """Return the index for writing, created if necessary; the lock is held."""
        try:
            return StoredIndex(self._storage, _NAME)
        except EmptyIndexError:
            self._refuse_lost_toc()
            TOC.create(self._storage, schema, _NAME)
            return StoredIndex(self._storage, _NAME)

    def clear(self, schema: Schema) -> None:
        """Replace the index with an empty one and move the old files aside; the lock is held."""
        with self.errors("written"):
            generation = TOC._latest_generation(self._storage, _NAME) + 1
            set_contents_aside(self.path, excluded_names=(WHOOSH_LOCK,))
            TOC(schema, [], generation).write(self._storage, _NAME)

    def _refuse_lost_toc(self) -> None:
        """Raise `IndexDamagedError` if there are segments but no TOC."""
        if number := len(list(self.path.glob(f"{_NAME}_*.seg"))):
            raise IndexDamagedError(
                f"index {self.path} cannot be read, it may be damaged: the table of contents of "
                f"{number} segments is gone"
            )

    def snapshot(self) -> Snapshot:
        """Return a snapshot of the newest commit; open segments are reused."""
        with self.errors("read"):
            for attempt in range(_OPEN_ATTEMPTS):
                try:
                    return self._newest_snapshot()
                except FileNotFoundError:
                    # Another process committed and removed files after the TOC was read.
                    if attempt == _OPEN_ATTEMPTS - 1:
                        raise
                    time.sleep(0.02)
        raise AssertionError("unreachable")

    def segments(self) -> OpenedSegments:
        """Return the newest segments, opened for the caller, who closes them.

        Segments that cannot be opened are left out, unless they are gone because another process committed or merged.
        """
        for attempt in range(_OPEN_ATTEMPTS):
            generation, schema, segments = self._toc()
            opened: list[OpenSegment] = []
            for segment in segments:
                with suppress(*DAMAGE):
                    opened.append(OpenSegment(self._storage, schema, segment))
            lost = len(segments) - len(opened)
            if not lost or attempt == _OPEN_ATTEMPTS - 1 or self._latest() == generation:
                return OpenedSegments(opened, lost)
            for one in opened:
                one.reader.close()
        raise AssertionError("unreachable")

    def segment_files(self) -> list[Path]:
        """Return the files of the newest segments; those of another process's next commit may have gone."""
        _, _, segments = self._toc()
        return [self.path / segment.make_filename(segment.COMPOUND_EXT) for segment in segments]

    def refuse_code(self) -> None:
        """Load every pickle of the index. Raises `IndexForeignError` if one is not plain data; damage is no reason."""
        _, schema, segments = self._toc()
        with self.errors("read"):
            for segment in segments:
                try:
                    with closing(MappedReader(self._storage, schema, segment)) as reader:
                        refuse_foreign_pickles(reader)
                except ForeignPickleError:
                    raise
                except DAMAGE:
                    continue

    def staging(self) -> Path:
        """Return an empty folder for an index that will replace this one."""
        path = self.path / "rebuild"
        with self.errors("written"):
            shutil.rmtree(path, ignore_errors=True)
            path.mkdir(parents=True)
        return path

    def adopt(self, staging: Path, schema: Schema) -> None:
        """Replace the index with the one in the staging folder, in one step; the lock is held."""
        with self.errors("written"):
            staged = CheckedStorage(str(staging))
            segments = CheckedIndex(staged, _NAME)._segments() if staged.list() else []
            for path in staging.glob("*.seg"):
                path.rename(self.path / path.name)
            generation = TOC._latest_generation(self._storage, _NAME) + 1
            TOC(schema, segments, generation).write(self._storage, _NAME)
            clean_files(self._storage, _NAME, generation, segments)
            shutil.rmtree(staging, ignore_errors=True)

    def close(self) -> None:
        """Close all files."""
        self._snapshot = None
        for segment in self._open.values():
            segment.reader.close()
        self._open = {}

    @contextmanager
    def errors(self, verb: str) -> Iterator[None]:
        """Convert errors of full disks and damaged files to an `IndexStoreError` of one line."""
        try:
            yield
        except OSError as error:
            reason = in_place_of_folder(self.path) or cause_and_remedy(error)
            is_lost = verb == "read" and isinstance(error, FileNotFoundError)
            kind = IndexDamagedError if is_lost else IndexStoreError
            raise kind(f"index {self.path} cannot be {verb}: {reason}") from error
        except DAMAGE as error:
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            kind = IndexForeignError if isinstance(error, ForeignPickleError) else IndexDamagedError
            raise kind(f"index {self.path} cannot be {verb}, it may be damaged", reason) from error

    def _toc(self) -> tuple[int, Schema, list[W3Segment]]:
        """Return the newest generation of the index, its schema and its segments."""
        for attempt in range(_OPEN_ATTEMPTS):
            generation = self._latest()
            try:
                with self.errors("read"):
                    if generation < 0:
                        self._refuse_lost_toc()
                        return generation, Schema(), []
                    toc = read_contents(self._storage, _NAME, generation)
                    if self._snapshot is not None and self._snapshot.generation == generation:
                        return (
                            generation,
                            self._snapshot.schema,
                            toc.segments,
                        )  # creating a schema is slow
                    return generation, with_current_fields(toc.schema), toc.segments
            except IndexDamagedError:
                # Another process may have committed and removed the file.
                if attempt == _OPEN_ATTEMPTS - 1 or self._latest() == generation:
                    raise
        raise AssertionError("unreachable")

    def _latest(self) -> int:
        """Return the number of the newest generation, -1 if there is none."""
        with self.errors("read"):
            number: int = TOC._latest_generation(self._storage, _NAME)
            return number

    def commit_id(self) -> tuple[int, int, int]:
        """Return the number of the newest generation, and inode and time of its table of contents."""
        for attempt in range(_OPEN_ATTEMPTS):
            number = self._latest()
            if number < 0:
                break
            with self.errors("read"):
                try:
                    facts = (self.path / TOC._filename(_NAME, number)).stat()
                except FileNotFoundError:  # another process has committed
                    if attempt == _OPEN_ATTEMPTS - 1:
                        raise
                    continue
                return number, facts.st_ino, facts.st_mtime_ns
        return -1, 0, 0

    def _newest_snapshot(self) -> Snapshot:
        generation, schema, found = self._toc()
        if self._snapshot is not None and self._snapshot.generation == generation:
            return self._snapshot
        segments = {segment.segment_id(): segment for segment in found}
        for gone in self._open.keys() - segments.keys():
            self._open.pop(gone).reader.close()
        for name, segment in segments.items():
            if name in self._open:
                self._open[name].update(segment)
            else:
                self._open[name] = OpenSegment(self._storage, schema, segment)
        self._snapshot = Snapshot(generation, schema, [self._open[name] for name in segments])
        return self._snapshot
