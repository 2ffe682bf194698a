"""The queue of segments from the document cache to one destination, with pauses and retries."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from ultracrawl.index.engine import Json
from ultracrawl.index.writing.cache import cache_error
from ultracrawl.index.writing.segments import Committed, Failed, Report


class Indexer(Protocol):
    """Delivers sealed segments to one destination; implemented by `IndexProcess`."""

    def prepare(self) -> None:
        """Start the process ahead of the first segment."""

    def ask(self, question: Mapping[str, Json]) -> Mapping[str, Any]:
        """Return the answer to a question about the index (`questions`), when it comes. Raises `IndexStoreError`."""

    def submit(self, path: Path) -> None:
        """Queue a sealed segment of the document cache."""

    def poll(self) -> list[Report]:
        """Return the reports since the last call, without waiting."""

    def close(self, timeout: float = 60.0) -> list[Report]:
        """Deliver the remaining segments within `timeout` seconds, and return their reports."""


FIRST_RETRY_SECONDS = 15.0
"""Seconds until a failed delivery is retried; doubled after each further failure."""
LONGEST_RETRY_SECONDS = 60.0
"""What has changed at the destination, as a disk that was made free, is seen within a minute."""
PROBLEM_FILE = "problem.txt"
"""The file of a folder with the last error of its index."""


class DestinationQueue:
    """Delivers the sealed segments of one folder to one destination, one after the other, oldest first.

    A failed segment stays first and is retried later, so that no older change overtakes a newer one. The folder is the
    persistent queue, which is restored after a crash.
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
        """The name of the destination in the definition; empty if there is only the index of the project."""
        self.index = index
        self.paused = False
        """Whether no further segments are submitted; the current one is finished."""
        self.problem = ""
        """The error of the first segment; empty if there is none."""
        self._indexer = indexer
        self._clock = clock
        self._waiting: deque[Path] = deque()
        self._is_submitted = False
        self._size = 0
        self._retry_at = 0.0
        self._retry_after = FIRST_RETRY_SECONDS

    @property
    def waiting(self) -> tuple[Path, ...]:
        """The waiting segments, oldest first, with the submitted one."""
        return tuple(self._waiting)

    def recover(self) -> None:
        """Queue the segments that an earlier process left."""
        self._waiting = deque(sorted(self.folder.glob("*.sealed")))
        self._size = sum(path.stat().st_size for path in self._waiting)
        with suppress(OSError):
            self.problem = (self.folder / PROBLEM_FILE).read_text(encoding="utf-8", errors="replace").strip()
        self._submit_next()

    def add(self, path: Path) -> None:
        """Append a sealed segment, which lies in the folder, to the queue."""
        self._waiting.append(path)
        self._size += path.stat().st_size
        self._submit_next()

    def __contains__(self, name: str) -> bool:
        return any(path.name == name for path in self._waiting)

    @property
    def size(self) -> int:
        """Bytes of the waiting segments."""
        return self._size

    @property
    def is_active(self) -> bool:
        """Whether segments are submitted: the queue is neither paused nor waits for a retry."""
        return not self.paused and not self._retry_at

    @property
    def in_progress(self) -> int:
        """Number of segments being delivered; of an inactive queue only the submitted one."""
        return len(self._waiting) if self.is_active else int(self._is_submitted)

    def prepare(self) -> None:
        """Start the index process ahead of the first segment."""
        if self.is_active:
            self._indexer.prepare()

    def ask(self, question: Mapping[str, Json]) -> Mapping[str, Any]:
        """Return the answer of the index process to a question, also of a paused queue. Raises `IndexStoreError`."""
        return self._indexer.ask(question)

    def retry(self) -> None:
        """Retry a failed delivery now."""
        if self._retry_at:
            self._retry_at = 0.0
            self._submit_next()

    def resume(self) -> None:
        """Resume after a pause."""
        self.paused = False
        self._submit_next()

    def poll(self) -> list[Report]:
        """Return the reports about the submitted segment, and submit the next one."""
        reports = self._indexer.poll() if self._is_submitted else []
        for report in reports:
            self._handle_report(report)
        if self._retry_at and self._clock() >= self._retry_at:
            self._retry_at = 0.0
        self._submit_next()
        return reports

    def _submit_next(self) -> None:
        if self._waiting and not self._is_submitted and self.is_active:
            self._is_submitted = True
            self._indexer.submit(self._waiting[0])

    def _handle_report(self, report: Report) -> None:
        match report:
            case Committed():  # it stays submitted until `remove_delivered`
                self._retry_after = FIRST_RETRY_SECONDS
                self._store_problem("")
            case Failed(reason=reason):
                self._is_submitted = False
                self._retry_at = self._clock() + self._retry_after
                self._retry_after = min(2 * self._retry_after, LONGEST_RETRY_SECONDS)
                self._store_problem(reason)

    def _store_problem(self, problem: str) -> None:
        """Write the error to the folder, where `status` of another process finds it."""
        if problem == self.problem:
            return
        self.problem = problem
        with suppress(OSError):  # a full disk is the most likely problem
            if problem:
                (self.folder / PROBLEM_FILE).write_text(problem + "\n", encoding="utf-8")
            else:
                (self.folder / PROBLEM_FILE).unlink(missing_ok=True)

    def remove_delivered(self, path: Path) -> None:
        """Remove a segment whose commit is recorded, the first one, and submit the next."""
        self._remove(path)
        self._is_submitted = False
        self._submit_next()

    def discard_waiting(self) -> None:
        """Delete all waiting segments, except the submitted one."""
        while len(self._waiting) > int(self._is_submitted):
            self._remove(self._waiting[-1])

    def _remove(self, path: Path) -> None:
        with cache_errors(self.folder):
            self._size -= path.stat().st_size
            path.unlink()
        self._waiting.remove(path)

    def close(self, timeout: float) -> list[Report]:
        """End the index process and return its reports."""
        self.paused = True
        reports = self._indexer.close(timeout)
        for report in reports:
            self._handle_report(report)
        return reports


@contextmanager
def cache_errors(place: Path) -> Iterator[None]:
    """Convert `OSError` to `IndexStoreError`."""
    try:
        yield
    except OSError as error:
        raise cache_error(place, error) from error
