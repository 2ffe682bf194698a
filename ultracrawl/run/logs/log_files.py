"""Log files of bounded size, written with each flush."""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from pathlib import Path

from ultracrawl.errors import WorkError
from ultracrawl.sources import Project
from ultracrawl.system.files import cause_and_remedy

MAX_TEXT_LENGTH = 4096
"""Characters of a text in a line; longer texts from sites are cut."""

_LOG_BEGIN = b'<?xml version="1.0" encoding="utf-8"?>\n<log>\n'
_LOG_END = b"</log>\n"


_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def log_path(project: Project, source: str, name: str) -> Path:
    """Return the path of a log of a source, for instance `handbook.fetch.log`."""
    return project.logs.path / f"{source}.{name}.log"


def rotated_path(path: Path) -> Path:
    """Return the path to which a full log is renamed."""
    return path.with_name(f"{path.name}.1")


def dated_path(path: Path, day: str) -> Path:
    """Return the path to which the log of an earlier day is renamed, as `handbook.fetch.2026-05-04.log`."""
    return path.with_name(f"{path.stem}.{day}{path.suffix}")


class AppendedLog:
    """Collects lines in memory and appends them to a file when `flush` is called, a few times a second.

    A file that would exceed `size` bytes is renamed with the suffix `.1`, which replaces the previous one. With `days`,
    the file of an earlier day is renamed with its date, and deleted when it is older.
    """

    def __init__(self, path: Path, size: int, clock: Callable[[], float], days: int = 0) -> None:
        self.path = path
        self._size = size
        self._days = days
        self._clock = clock
        self._lines: list[str] = []
        self._second = 0
        self._moment = ""
        self.given_up = False
        """Whether the file could not be written; further lines are dropped, so that they use no memory."""

    def append_line(self, line: str) -> None:
        """Add a line, which includes its line end."""
        if not self.given_up:
            self._lines.append(line)

    @property
    def collected(self) -> int:
        """The number of lines that wait for `flush`."""
        return len(self._lines)

    def flush(self, number: int = sys.maxsize) -> None:
        """Write the collected lines, or the first `number`. Raises `WorkError` if that fails; they are lost then."""
        lines, self._lines = self._lines[:number], self._lines[number:]
        if not lines:
            return
        parts = groupby(lines, _day_of) if self._days else [("", lines)]
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            for day, part in parts:
                text = "".join(part)
                if self._days:
                    self._put_away(day)
                if self.path.exists() and self.path.stat().st_size + len(text) > self._size:
                    os.replace(self.path, rotated_path(self.path))
                self._write(text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            raise write_error(self.path, error) from error

    def _put_away(self, day: str) -> None:
        """Rename the file if it is of another day than `day`, and delete files that are too old."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            written = _day_of(file.read(512).decode("ascii", "replace"))
        if not written or written == day:
            return
        os.replace(self.path, dated_path(self.path, written))
        oldest = date.fromisoformat(day) - timedelta(self._days)
        for path in self.path.parent.glob(f"{glob.escape(self.path.stem)}.????-??-??{self.path.suffix}"):
            if (other := _day_of(path.name[-14:])) and other < str(oldest):
                path.unlink(missing_ok=True)

    def _write(self, text: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(text)

    def _now(self) -> str:
        """Return the time in ISO 8601 (UTC), to the second."""
        now = int(self._clock())
        if now != self._second or not self._moment:
            self._second = now
            self._moment = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return self._moment


class TimedLog(AppendedLog):
    """Log with lines `[HH:MM:SS] text` (local time); line ends and control characters are escaped."""

    def add(self, text: str) -> None:
        """Add a line."""
        moment = datetime.fromtimestamp(self._clock()).strftime("%H:%M:%S")
        self.append_line(f"[{moment}] {printable(text)}\n")


class ColumnLog(AppendedLog):
    """Log with tab-separated fields after the time (ISO 8601, UTC); tabs and line ends in fields are escaped."""

    def add(self, *fields: str | int) -> None:
        """Add an event."""
        columns = "\t".join([printable(field) if isinstance(field, str) else str(field) for field in fields])
        self.append_line(f"{self._now()}\t{columns}\n")


class ElementLog(AppendedLog):
    """Log that is a whole XML document after each flush: a root element with one element per event and line."""

    def add_element(self, name: str, attributes: str) -> None:
        """Add an event; `attributes` are already quoted."""
        self.append_line(f'<{name} time="{self._now()}" {attributes}/>\n')

    def _write(self, text: bytes) -> None:
        if self.path.exists():
            with self.path.open("r+b") as file:
                file.seek(-min(len(_LOG_END), self.path.stat().st_size), os.SEEK_END)
                if file.read() == _LOG_END:
                    file.seek(-len(_LOG_END), os.SEEK_END)
                    file.write(text + _LOG_END)
                    return
            os.replace(self.path, rotated_path(self.path))  # it was cut off, or is a log in columns
        self.path.write_bytes(_LOG_BEGIN + text + _LOG_END)


def _day_of(text: str) -> str:
    """Return the first date in a text, as `2026-05-04`, or an empty text."""
    found = _DAY.search(text)
    return found[0] if found else ""


def printable(text: str) -> str:
    """Return a text with line ends, tabs and control characters escaped, cut to `MAX_TEXT_LENGTH` characters."""
    shown = text[:MAX_TEXT_LENGTH]
    return shown if shown.isprintable() else "".join(map(_escaped, shown))


def _escaped(character: str) -> str:
    return character if character.isprintable() else f"\\u{ord(character):04x}"


def folder_error(folder: Path, reason: str) -> WorkError:
    """Return the error for a folder of logs that cannot be used."""
    return WorkError(
        f"the folder of the logs, {folder}, cannot be written: {reason}; correct `logs: {{path: ...}}` or its rights, "
        "or switch the logs off"
    )


def write_error(path: Path, error: OSError) -> WorkError:
    """Return the error for a log that cannot be written."""
    return WorkError(f"the log {path} cannot be written: {cause_and_remedy(error)}")
