"""Whether an index answers, and what makes it sound again."""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path

from ultracrawl.errors import IndexDamagedError
from ultracrawl.index.engine import IndexEngine, SearchQuery
from ultracrawl.index.stored_fields import UPGRADE_NOTICE

logger = logging.getLogger(__name__)

_SUSPICION = "suspect.txt"
"""The file of an index in which a search found damage; the next crawl reads the whole index."""


def mark_suspect(path: Path, what: str) -> None:
    """Note in the folder of an index that it is damaged, for the next crawl; ignored if it cannot be written."""
    with suppress(OSError):
        (path / _SUSPICION).write_text(what + "\n", encoding="utf-8")


def probe(index: IndexEngine, path: Path, source: str) -> int:
    """Return how many documents of a source an index has, after a query that reads every part of it.

    The whole index is read only where a search has found damage. Raises `IndexDamagedError`, `IndexStoreError`.
    """
    count = index.count(source)
    index.search(SearchQuery("", source=source, limit=1))
    if (path / _SUSPICION).exists():
        wrong = index.check()
        if wrong:
            raise IndexDamagedError(f"index {path} is damaged: {wrong[0]}")
        with suppress(OSError):
            (path / _SUSPICION).unlink()
    return count


def repair_and_count(
    index: IndexEngine, path: Path, source: str, problems: list[str], remarks: list[str]
) -> int:
    """Return how many documents of a source an index has, after it was repaired if that was necessary.

    What was done goes into the lists, a sentence each. Raises `IndexStoreError`.
    """
    try:
        probe(index, path, source)
    except IndexDamagedError as error:
        logger.warning("%s; it is repaired", error.problem)
        repair_index(index, path)
        problems.append(f"{error.problem}; what could be read of it was indexed anew")
    if index.bring_up_to_date():
        remarks.append(UPGRADE_NOTICE % path)
    return index.count(source)


def repair_index(index: IndexEngine, path: Path) -> None:
    """Index every document anew that can be read; where none can, an empty index takes the place of this one."""
    try:
        index.rebuild()
    except IndexDamagedError:
        index.clear()
    with suppress(OSError):
        (path / _SUSPICION).unlink(missing_ok=True)
