"""Writes to an index in the process of the test."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ultracrawl.errors import UltracrawlError
from ultracrawl.index.destinations import EngineDestination
from ultracrawl.index.engine import IndexEngine, Json
from ultracrawl.index.engines import IndexConfig
from ultracrawl.index.writing.questions import answer_to
from ultracrawl.index.writing.segments import Committed, Failed, Report, deliver_segment


class InlineIndexer:
    """Delivers one submitted segment in each `poll`, which takes as long as that takes."""

    def __init__(self, engine: IndexEngine, config: IndexConfig | None = None) -> None:
        self.engine = engine
        self._config = config
        self._destination = EngineDestination(engine, config)
        self._waiting: list[Path] = []
        self._is_open = True

    def prepare(self) -> None:
        """Do nothing: there is no process to start."""

    def ask(self, question: Mapping[str, Json]) -> Mapping[str, Any]:
        """Answer a question."""
        assert self._config is not None
        return answer_to(question, self.engine, self._config)

    def submit(self, path: Path) -> None:
        """Queue a sealed segment of the document cache."""
        self._waiting.append(path)

    def poll(self) -> list[Report]:
        """Deliver the oldest segment and report it."""
        if not self._waiting:
            return []
        path = self._waiting.pop(0)
        started = time.monotonic()
        try:
            added = deliver_segment(self._destination, path)
            self._destination.maintain()
        except UltracrawlError as error:
            return [Failed(path, str(error))]
        return [Committed(path, added, time.monotonic() - started)]

    def close(self, timeout: float = 60.0) -> list[Report]:
        """Deliver what is left, report it and close the destination."""
        reports = [report for _ in range(len(self._waiting)) for report in self.poll()]
        if self._is_open:
            self._destination.close()
        self._is_open = False
        return reports
