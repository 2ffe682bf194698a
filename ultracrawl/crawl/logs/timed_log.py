"""A log of lines with the time of day, as the portal's robot writes its own."""

from __future__ import annotations

from datetime import datetime

from ultracrawl.crawl.logs.appended import AppendedLog, printable


class TimedLog(AppendedLog):
    """Has lines `[HH:MM:SS] text` (local time); line ends and control characters are escaped."""

    def add(self, text: str) -> None:
        """Note one line."""
        moment = datetime.fromtimestamp(self._clock()).strftime("%H:%M:%S")
        self._lines.append(f"[{moment}] {printable(text)}\n")
