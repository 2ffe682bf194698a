"""An indexer in this process with the interface of `IndexProcess`, for tests and the memory engine."""

from __future__ import annotations

import time
from pathlib import Path

from ultracrawl.errors import UltracrawlError
from ultracrawl.index.engine import IndexEngine
from ultracrawl.index.writing.segments import Committed, Failed, Report, apply_segment


class InlineIndexer:
    """Applies one submitted segment in each `poll`, which takes as long as that takes."""

    def __init__(self, engine: IndexEngine) -> None:
        self.engine = engine
        self._waiting: list[Path] = []

    @property
    def busy(self) -> int:
        """The number of segments submitted and not yet reported."""
        return len(self._waiting)

    @property
    def alive(self) -> bool:
        """Always true."""
        return True

    def prepare(self) -> None:
        """Do nothing: there is no process to start."""

    def submit(self, path: Path) -> None:
        """Queue a sealed segment of the document cache."""
        self._waiting.append(path)

    def poll(self) -> list[Report]:
        """Apply the oldest segment and report it."""
        if not self._waiting:
            return []
        path = self._waiting.pop(0)
        started = time.monotonic()
        try:
            added = apply_segment(self.engine, path)
            self.engine.maintain()
        except UltracrawlError as error:
            return [Failed(path, str(error))]
        return [Committed(path, added, time.monotonic() - started)]

    def close(self, timeout: float = 60.0) -> list[Report]:
        """Apply what is left, report it and close the engine."""
        reports = [report for _ in range(len(self._waiting)) for report in self.poll()]
        self.engine.close()
        return reports
