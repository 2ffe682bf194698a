"""A log of lines with the time of day, as the portal's robot writes its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from ultracrawl.errors import WorkError

LONGEST_LINE = 4096
"""Characters of a line; what sites send may be of any length."""


class TimedLog:
    """Collects lines `[HH:MM:SS] text` (local time) and appends them when `flush` is called, a few times a second.

    When the file would grow beyond `size` bytes it is kept under its name with `.1` behind, and the one before that
    is lost. Line ends and control characters are escaped.
    """

    def __init__(self, path: Path, size: int, clock: Callable[[], float]) -> None:
        self.path = path
        self._size = size
        self._clock = clock
        self._lines: list[str] = []

    def add(self, text: str) -> None:
        """Note one line."""
        moment = datetime.fromtimestamp(self._clock()).strftime("%H:%M:%S")
        shown = text[:LONGEST_LINE]
        if not shown.isprintable():
            shown = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in shown)
        self._lines.append(f"[{moment}] {shown}\n")

    def flush(self) -> None:
        """Write what was noted. Raises `WorkError` if it cannot be written; what was noted is then forgotten."""
        if not self._lines:
            return
        text, self._lines = "".join(self._lines), []
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.path.exists() and self.path.stat().st_size + len(text) > self._size:
                os.replace(self.path, self.path.with_name(f"{self.path.name}.1"))
            with self.path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except OSError as error:
            raise WorkError(f"the log {self.path} cannot be written: {error.strerror or error}") from error
