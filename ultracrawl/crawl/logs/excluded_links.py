"""The log of links that were excluded: one JSON object a line, bounded, and off unless a source asks for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

from ultracrawl.crawl.logs.appended import AppendedLog, older
from ultracrawl.sources import Project

LONGEST_URL = 4096
"""Characters of a URL that are written; links may be of any length."""


class ExcludedLink(TypedDict):
    """One line: what was excluded, by which rule, in which page (empty for start URLs), when (ISO 8601, UTC)."""

    time: str
    rule: str
    url: str
    parent: str


def excluded_path(project: Project, source: str) -> Path:
    """Return the file of a source's log; the full one before it has the same name with `.1` behind."""
    return project.logs.path / f"{source}.screened.jsonl"  # word: the file of users


class ExcludedLinksLog(AppendedLog):
    """Has a JSON object a line, which escapes whatever a hostile link holds: line ends, half characters."""

    def add(self, url: str, rule: str, parent: str) -> None:
        """Note one link; URLs are as canonical as they got."""
        line = ExcludedLink(time=self._now(), rule=rule, url=url[:LONGEST_URL], parent=parent[:LONGEST_URL])
        self.append_line(json.dumps(line) + "\n")


def read_excluded(path: Path) -> Iterator[ExcludedLink]:
    """Yield the lines of a log, the older file first; a line that was cut off by a crash is left out."""
    for file in (older(path), path):
        if not file.exists():
            continue
        with file.open(encoding="ascii", errors="replace") as lines:
            for line in lines:
                try:
                    yield json.loads(line)
                except ValueError:
                    continue
