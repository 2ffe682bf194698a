"""Probes an index for damage and repairs it."""

from __future__ import annotations

import logging
import os
import time
from contextlib import suppress
from pathlib import Path

from ultracrawl.errors import IndexDamagedError
from ultracrawl.index.engine import HasFiles, IndexEngine, SearchQuery
from ultracrawl.index.stored_fields import UPGRADE_NOTICE

logger = logging.getLogger(__name__)

_SUSPECT_FILE = "suspect.txt"
"""Marker file in the folder of an index in which a search found damage; the next crawl checks the whole index."""
_VERIFIED_FILE = "verified.txt"
"""File in the folder of an index whose time says when its files were compared with their checksums."""
_VERIFIED_FOR = 24 * 60 * 60 * 1_000_000_000
"""Nanoseconds after which files that nobody seems to have written are compared again: disks forget."""
_CLOCKS = 2_000_000_000
"""Nanoseconds by which the clock of a file system may be coarser or later than ours."""


def mark_suspect(path: Path, what: str) -> None:
    """Write the marker file, so that the next crawl checks the index; errors are ignored."""
    with suppress(OSError):
        (path / _SUSPECT_FILE).write_text(what + "\n", encoding="utf-8")


def probe(index: IndexEngine, path: Path, source: str) -> int:
    """Return the number of documents of a source after a query that reads every part of the index.

    Files are compared with their checksums after they were written, and once a day; the whole index is checked only if
    it is marked as suspect. Raises `IndexDamagedError`, `IndexStoreError`.
    """
    count = index.count(source)
    index.search(SearchQuery("", source=source, limit=1))
    if isinstance(index, HasFiles):
        _verify_files(index, path)
    if (path / _SUSPECT_FILE).exists():
        wrong = index.check()
        if wrong:
            raise IndexDamagedError(f"index {path} is damaged: {wrong[0]}")
        with suppress(OSError):
            (path / _SUSPECT_FILE).unlink()
    return count


def _verify_files(index: HasFiles, path: Path) -> None:
    """Compare what was written since this was done last, or after a day everything, with its checksums."""
    marker, now, last = path / _VERIFIED_FILE, time.time_ns(), 0
    with suppress(OSError):
        last = marker.stat().st_mtime_ns
    if wrong := index.damaged_files(last if now - _VERIFIED_FOR < last <= now else 0):
        raise IndexDamagedError(f"index {path} is damaged: {wrong[0]}")
    with suppress(OSError):
        marker.touch()
        os.utime(marker, ns=(now - _CLOCKS, now - _CLOCKS))


def repair_and_count(
    index: IndexEngine, path: Path, source: str, problems: list[str], remarks: list[str]
) -> int:
    """Repair or upgrade the index if necessary, and return the number of documents of a source.

    Sentences about what was done are appended to the lists. Raises `IndexStoreError`.
    """
    try:
        probe(index, path, source)
    except IndexDamagedError as error:
        logger.warning("%s; it is repaired", error.problem)
        repair_index(index, path)
        problems.append(f"{error.problem}; its readable documents were indexed again")
    if index.bring_up_to_date():
        remarks.append(UPGRADE_NOTICE % path)
    return index.count(source)


def repair_index(index: IndexEngine, path: Path) -> None:
    """Rebuild the index from all readable documents; if there are none, clear it."""
    try:
        index.rebuild()
    except IndexDamagedError:
        index.clear()
    with suppress(OSError):
        (path / _SUSPECT_FILE).unlink(missing_ok=True)
