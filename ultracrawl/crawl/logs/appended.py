"""Log files of bounded size that lines are appended to a few times a second."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from ultracrawl.errors import WorkError
from ultracrawl.sources import Project

LONGEST_LINE = 4096
"""Characters of a line; what sites send may be of any length."""


def log_path(project: Project, source: str, name: str) -> Path:
    """Return the file of one log of a source, as `handbook.fetch.log`."""
    return project.logs.path / f"{source}.{name}.log"


def older(path: Path) -> Path:
    """Return the name that a full log is kept under."""
    return path.with_name(f"{path.name}.1")


class AppendedLog:
    """Collects lines in memory and appends them when `flush` is called, a few times a second.

    When the file would grow beyond `size` bytes it is kept under its name with `.1` behind, and the one before that
    is lost.
    """

    def __init__(self, path: Path, size: int, clock: Callable[[], float]) -> None:
        self.path = path
        self._size = size
        self._clock = clock
        self._lines: list[str] = []
        self._second = 0
        self._moment = ""
        self.given_up = False
        """Whether it could not be written, so that it takes no further lines, and nothing piles up."""

    def append_line(self, line: str) -> None:
        """Take a line, with its line end."""
        if not self.given_up:
            self._lines.append(line)

    def flush(self) -> None:
        """Write what was noted. Raises `WorkError` if it cannot be written; what was noted is then forgotten."""
        if not self._lines:
            return
        text, self._lines = "".join(self._lines), []
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.path.exists() and self.path.stat().st_size + len(text) > self._size:
                os.replace(self.path, older(self.path))
            with self.path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except OSError as error:
            raise unwritable(self.path, error) from error

    def _now(self) -> str:
        """Return the time in ISO 8601 (UTC), to the second."""
        now = int(self._clock())
        if now != self._second or not self._moment:
            self._second = now
            self._moment = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return self._moment


class TimedLog(AppendedLog):
    """Has lines `[HH:MM:SS] text` (local time); line ends and control characters are escaped."""

    def add(self, text: str) -> None:
        """Note one line."""
        moment = datetime.fromtimestamp(self._clock()).strftime("%H:%M:%S")
        self.append_line(f"[{moment}] {printable(text)}\n")


class ColumnLog(AppendedLog):
    """Begins each line with the time (ISO 8601, UTC); tabs and line ends inside fields are escaped."""

    def add(self, *fields: str | int) -> None:
        """Note one event."""
        columns = "\t".join([printable(one) if isinstance(one, str) else str(one) for one in fields])
        self.append_line(f"{self._now()}\t{columns}\n")

    def add_element(self, name: str, attributes: str) -> None:
        """Note one event as an XML element of its own line; `attributes` are quoted already."""
        self.append_line(f'<{name} time="{self._now()}" {attributes}/>\n')


def printable(text: str) -> str:
    """Return a text with its line ends, tabs and control characters escaped, and cut if it is endless."""
    shown = text[:LONGEST_LINE]
    return shown if shown.isprintable() else "".join(map(_escaped, shown))


def _escaped(character: str) -> str:
    return character if character.isprintable() else f"\\u{ord(character):04x}"


def unwritable(path: Path, error: OSError) -> WorkError:
    """Return what is said of a log that cannot be written."""
    return WorkError(f"the log {path} cannot be written: {error.strerror or error}")
