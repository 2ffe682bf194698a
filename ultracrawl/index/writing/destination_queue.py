"""The way from the document cache to one destination: what waits for it, in order, while it is paused or fails, too."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from ultracrawl.errors import IndexStoreError
from ultracrawl.index.writing.segments import Committed, Failed, Report


class Indexer(Protocol):
    """Delivers sealed segments to one destination; `IndexProcess` in a process of its own."""

    def prepare(self) -> None:
        """Begin to start what takes time."""

    def submit(self, path: Path) -> None:
        """Queue a sealed segment of the document cache."""

    def poll(self) -> list[Report]:
        """Return what became of segments since the last time, without waiting."""

    def close(self, timeout: float = 60.0) -> list[Report]:
        """Deliver what is left, at most so many seconds, and report it."""


FIRST_RETRY = 15.0
"""Seconds until an index that failed is tried again; twice as long after each further failure."""
LONGEST_RETRY = 600.0
PROBLEM_FILE = "problem.txt"
"""The file of a folder that says why its index could not be written the last time."""


class DestinationQueue:
    """Sealed segments of one folder go to one index, or other destination, one after the other, oldest first.

    A segment that could not be applied stays first in line and is tried again later, so that no older change ever
    overtakes a newer one. The line is the folder: it is found again after a crash.
    """

    def __init__(
        self,
        folder: Path,
        indexer: Indexer,
        *,
        label: str = "",
        index: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.folder = folder
        self.label = label
        """The destination as its source names it; empty where there is only the index of the project."""
        self.index = index
        self.paused = False
        """Whether nothing more is handed over; what the index has in hand it finishes."""
        self.problem = ""
        """Why the first segment in line could not be applied; empty if nothing is wrong."""
        self._indexer = indexer
        self._clock = clock
        self._waiting: deque[Path] = deque()
        self._sent = False
        self._size = 0
        self._retry_at = 0.0
        self._retry_after = FIRST_RETRY

    @property
    def waiting(self) -> tuple[Path, ...]:
        """The segments that wait, oldest first."""
        return tuple(self._waiting)

    def recover(self) -> None:
        """Queue the segments that an earlier process left."""
        self._waiting = deque(sorted(self.folder.glob("*.sealed")))
        self._size = sum(path.stat().st_size for path in self._waiting)
        with suppress(OSError):
            self.problem = (self.folder / PROBLEM_FILE).read_text(encoding="utf-8", errors="replace").strip()
        self._submit_next()

    def add(self, path: Path) -> None:
        """Put a sealed segment, which lies in the folder, at the end of the line."""
        self._waiting.append(path)
        self._size += path.stat().st_size
        self._submit_next()

    def __contains__(self, name: str) -> bool:
        return any(path.name == name for path in self._waiting)

    @property
    def size(self) -> int:
        """Bytes that wait."""
        return self._size

    @property
    def is_active(self) -> bool:
        """Whether the index takes changes: it is neither paused, nor waits for another try."""
        return not self.paused and not self._retry_at

    @property
    def in_progress(self) -> int:
        """The number of segments that are on their way; of one that does not go only what is in work."""
        return len(self._waiting) if self.is_active else int(self._sent)

    def prepare(self) -> None:
        """Start the index process, so that it is ready when the first segment comes."""
        if self.is_active:
            self._indexer.prepare()

    def retry(self) -> None:
        """Try an index that failed again, now."""
        if self._retry_at:
            self._retry_at = 0.0
            self._submit_next()

    def resume(self) -> None:
        """Go on after a pause."""
        self.paused = False
        self._submit_next()

    def poll(self) -> list[Report]:
        """Return what became of the segment in work, and hand over the next one."""
        reports = self._indexer.poll() if self._sent else []
        for report in reports:
            self._note(report)
        if self._retry_at and self._clock() >= self._retry_at:
            self._retry_at = 0.0
        self._submit_next()
        return reports

    def _submit_next(self) -> None:
        if self._waiting and not self._sent and self.is_active:
            self._sent = True
            self._indexer.submit(self._waiting[0])

    def _note(self, report: Report) -> None:
        match report:
            case Committed():  # it stays in work until `done`
                self._retry_after = FIRST_RETRY
                self._note_problem("")
            case Failed(reason=reason):
                self._sent = False
                self._retry_at = self._clock() + self._retry_after
                self._retry_after = min(2 * self._retry_after, LONGEST_RETRY)
                self._note_problem(reason)

    def _note_problem(self, problem: str) -> None:
        """Write the problem into the folder, where `status` of another process finds it."""
        if problem == self.problem:
            return
        self.problem = problem
        with suppress(OSError):  # a full disk is the likeliest of all problems
            if problem:
                (self.folder / PROBLEM_FILE).write_text(problem + "\n", encoding="utf-8")
            else:
                (self.folder / PROBLEM_FILE).unlink(missing_ok=True)

    def remove_delivered(self, path: Path) -> None:
        """Remove a segment whose commit is recorded; it is the first in line."""
        self._remove(path)
        self._sent = False
        self._submit_next()

    def discard_waiting(self) -> None:
        """Delete all waiting segments, apart from the one in work."""
        while len(self._waiting) > int(self._sent):
            self._remove(self._waiting[-1])

    def _remove(self, path: Path) -> None:
        with cache_errors(self.folder):
            self._size -= path.stat().st_size
            path.unlink()
        self._waiting.remove(path)

    def close(self, timeout: float) -> list[Report]:
        """End the index process; returns what became of the segment in work."""
        self.paused = True
        reports = self._indexer.close(timeout)
        for report in reports:
            self._note(report)
        return reports


@contextmanager
def cache_errors(place: Path) -> Iterator[None]:
    """Turn errors of the file system into `IndexStoreError`."""
    try:
        yield
    except OSError as error:
        raise IndexStoreError(f"document cache {place} cannot be written: {error.strerror}") from error
