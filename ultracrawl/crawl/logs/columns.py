"""Logs of one event a line: the time, and fields with tabs between them."""

from __future__ import annotations

from pathlib import Path

from ultracrawl.crawl.logs.appended import AppendedLog, printable
from ultracrawl.sources import Project


def log_path(project: Project, source: str, name: str) -> Path:
    """Return the file of one log of a source, as `handbook.fetch.log`."""
    return project.logs.path / f"{source}.{name}.log"


class ColumnLog(AppendedLog):
    """Begins each line with the time (ISO 8601, UTC); tabs and line ends inside fields are escaped.

    One that was given up takes nothing any more, so that nothing piles up.
    """

    given_up = False
    """Whether it could not be written, so that it takes no further lines."""

    def add(self, *fields: str | int) -> None:
        """Note one event."""
        if not self.given_up:
            columns = "\t".join([printable(one) if isinstance(one, str) else str(one) for one in fields])
            self._lines.append(f"{self._now()}\t{columns}\n")

    def add_element(self, name: str, attributes: str) -> None:
        """Note one event as an XML element of its own line; `attributes` are quoted already."""
        if not self.given_up:
            self._lines.append(f'<{name} time="{self._now()}" {attributes}/>\n')
