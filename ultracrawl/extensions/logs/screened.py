"""The log of links that were turned away: one JSON object a line, bounded, and off unless a source asks for it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict

from ultracrawl.errors import WorkError
from ultracrawl.sources import Project

LONGEST_URL = 4096
"""Characters of a URL that are written; links may be of any length."""


class ScreenedLink(TypedDict):
    """One line: what was turned away, by which rule, in which page (empty for start URLs), when (ISO 8601, UTC)."""

    time: str
    rule: str
    url: str
    parent: str


def screened_path(project: Project, source: str) -> Path:
    """Return the file of a source's log; the full one before it has the same name with `.1` behind."""
    return project.logs.path / f"{source}.screened.jsonl"


def _older(path: Path) -> Path:
    return path.with_name(f"{path.name}.1")


class ScreenedLog:
    """Collects lines in memory and appends them when `flush` is called, a few times a second.

    When a file would grow beyond `size` bytes it is kept as the older one, and the one before that is lost.
    JSON escapes whatever a hostile link holds: line ends, control characters, half characters.
    """

    def __init__(self, path: Path, size: int, clock: Callable[[], float]) -> None:
        self._path = path
        self._size = size
        self._clock = clock
        self._lines: list[str] = []

    def add(self, url: str, rule: str, parent: str) -> None:
        """Note one link; URLs are as canonical as they got."""
        moment = (
            datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        )
        line = ScreenedLink(time=moment, rule=rule, url=url[:LONGEST_URL], parent=parent[:LONGEST_URL])
        self._lines.append(json.dumps(line) + "\n")

    def flush(self) -> None:
        """Write what was noted. Raises `WorkError` if it cannot be written; what was noted is then forgotten."""
        if not self._lines:
            return
        text, self._lines = "".join(self._lines), []
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if self._path.exists() and self._path.stat().st_size + len(text) > self._size:
                os.replace(self._path, _older(self._path))
            with self._path.open("a", encoding="ascii") as file:
                file.write(text)
        except OSError as error:
            raise WorkError(f"the log {self._path} cannot be written: {error.strerror or error}") from error


def read_screened(path: Path) -> Iterator[ScreenedLink]:
    """Yield the lines of a log, the older file first; a line that was cut off by a crash is left out."""
    for file in (_older(path), path):
        if not file.exists():
            continue
        with file.open(encoding="ascii", errors="replace") as lines:
            for line in lines:
                try:
                    yield json.loads(line)
                except ValueError:
                    continue
