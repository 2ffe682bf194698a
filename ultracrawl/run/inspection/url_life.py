"""What the state and the logs know of one URL: the pages that link to it, and its visits."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from ultracrawl.run.logs.log_files import log_path, printable, rotated_path
from ultracrawl.sources import Project

_KEY_BYTES = 8
_MOST_READ = 16 << 20
"""Bytes that are read of the end of a log."""
_COLUMNS = 8


class LoggedVisit(NamedTuple):
    """A download as the log of fetches has it."""

    time: str
    status: str
    """The status, or the class of an error."""
    media_type: str
    size: str
    seconds: str
    depth: str
    url: str
    result: str


def linking_pages(links: Iterable[tuple[int, bytes]], key: int) -> Iterator[int]:
    """Yield the keys of the pages that link to a URL, of (key, link keys of 8 bytes each)."""
    wanted = array("q", [key]).tobytes()
    for page, targets in links:
        at = targets.find(wanted)
        while at >= 0 and at % _KEY_BYTES:
            at = targets.find(wanted, at + 1)
        if at >= 0 and page != key:
            yield page


def logged_visits(project: Project, source: str, url: str) -> Iterator[LoggedVisit]:
    """Yield the visits of a URL in the log of fetches, the newest first; none without a log."""
    path = log_path(project, source, "fetch")
    for file in (path, rotated_path(path)):
        with suppress(OSError), file.open("rb") as log:
            log.seek(max(0, file.stat().st_size - _MOST_READ))
            lines = log.read().splitlines()
            wanted = f"\t{printable(url)}\t".encode("utf-8", "backslashreplace")
            for line in reversed(lines):
                columns = line.decode("utf-8", "replace").split("\t") if wanted in line else []
                if len(columns) == _COLUMNS:
                    yield LoggedVisit(*columns)
