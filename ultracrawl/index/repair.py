"""Probes an index for damage, repairs it, and notes what it has, which holds as long as its files stay as they are."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from ultracrawl.errors import IndexDamagedError
from ultracrawl.index.engine import HasFiles, IndexEngine, SearchQuery
from ultracrawl.index.engines import IndexConfig, is_new
from ultracrawl.index.locking import LOCKS
from ultracrawl.index.stored_fields import SCHEMA_VERSION, UPGRADE_NOTICE
from ultracrawl.system.files import replace_file

logger = logging.getLogger(__name__)

_SUSPECT_FILE = "suspect.txt"
"""Marker file in the folder of an index in which a search found damage; the next crawl checks the whole index."""
_VERIFIED_FILE = "verified.txt"
"""File in the folder of an index whose time says when its files were compared with their checksums."""
_VERIFIED_FOR = 24 * 60 * 60 * 1_000_000_000
"""Nanoseconds after which files that nobody seems to have written are compared again: disks forget."""
_COUNTED_FILE = "counted.json"
"""File in the folder of an index with the numbers of its documents by source, and the state of its files then."""
_BESIDE = (_SUSPECT_FILE, _VERIFIED_FILE, _COUNTED_FILE, *LOCKS, ".tantivy-")
"""Beginnings of the names of files in the folder of an index that are not what it has."""
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
    marker, now = path / _VERIFIED_FILE, time.time_ns()
    if wrong := index.damaged_files(_verified_at(path)):
        raise IndexDamagedError(f"index {path} is damaged: {wrong[0]}")
    with suppress(OSError):
        marker.touch()
        os.utime(marker, ns=(now - _CLOCKS, now - _CLOCKS))


def repair_and_count(
    index: IndexEngine, config: IndexConfig, source: str, problems: list[str], remarks: list[str]
) -> int:
    """Repair or upgrade the index if necessary, and return the number of documents of a source.

    Sentences about what was done are appended to the lists. Raises `IndexStoreError`.
    """
    try:
        probe(index, config.path, source)
    except IndexDamagedError as error:
        logger.warning("%s; it is repaired", error.problem)
        repair_index(index, config.path)
        problems.append(f"{error.damage}; it was repaired: its readable documents were indexed again")
    if index.bring_up_to_date():
        remarks.append(UPGRADE_NOTICE % config.path)
    note_counts(index, config)
    return index.count(source)


def note_counts(index: IndexEngine, config: IndexConfig) -> None:
    """Note how many documents an index has of each source, if its files are as they were written.

    An index that is not in files is not noted, nor one whose options may have put it elsewhere. Raises
    `IndexStoreError`.
    """
    if not isinstance(index, HasFiles) or config.has_options:
        return
    before = _state_of_files(config)
    if not before or before == _noted(config)[0]:
        return
    _verify_files(index, config.path)
    counts = {source: index.count(source) for source in index.sources()}
    if _state_of_files(config) == before:  # nobody has written to it meanwhile
        with suppress(OSError):
            replace_file(
                config.path / _COUNTED_FILE, json.dumps({"files": before, "documents": counts}).encode()
            )


def noted_count(config: IndexConfig, source: str) -> int | None:
    """Return how many documents of a source an index has as far as its files tell; None: only its engine can.

    The engine has to look if a file has changed since the documents were counted, if a search has found damage, and
    once a day.
    """
    if is_new(config):
        return 0
    if (config.path / _SUSPECT_FILE).exists() or not _verified_at(config.path):
        return None
    files, counts = _noted(config)
    return counts.get(source, 0) if files and files == _state_of_files(config) else None


def noted_counts(config: IndexConfig) -> Mapping[str, int]:
    """Return the numbers of documents by source when they were counted last; empty if that is not known."""
    return _noted(config)[1]


def _verified_at(path: Path) -> int:
    """Return when the files of an index were compared with their checksums, in ns; 0: too long ago."""
    with suppress(OSError):
        now, last = time.time_ns(), (path / _VERIFIED_FILE).stat().st_mtime_ns
        return last if now - _VERIFIED_FOR < last <= now else 0
    return 0


def _noted(config: IndexConfig) -> tuple[str, dict[str, int]]:
    """Return the state of the files of an index when its documents were counted, and their numbers by source."""
    with suppress(OSError, ValueError):
        match json.loads((config.path / _COUNTED_FILE).read_bytes()):
            case {"files": str(files), "documents": dict(counts)}:
                return files, counts
    return "", {}


def _state_of_files(config: IndexConfig) -> str:
    """Return a value that changes when a file of an index does, or what reads it; empty if they cannot be looked at."""
    found: list[tuple[object, ...]] = []
    try:
        for folder, _, names in os.walk(config.path, onerror=_raise):
            for name in names:
                if not name.startswith(_BESIDE):
                    facts = os.stat(os.path.join(folder, name))
                    times = facts.st_mtime_ns, facts.st_ctime_ns
                    found.append((folder, name, facts.st_ino, facts.st_size, *times))
    except OSError:
        return ""
    if not found:
        return ""
    state = repr((config.engine, SCHEMA_VERSION, sorted(found)))
    return blake2b(state.encode(errors="replace"), digest_size=16).hexdigest()


def _raise(error: OSError) -> None:
    raise error


def repair_index(index: IndexEngine, path: Path) -> None:
    """Rebuild the index from all readable documents; if there are none, clear it."""
    try:
        index.rebuild()
    except IndexDamagedError:
        index.clear()
    with suppress(OSError):
        (path / _SUSPECT_FILE).unlink(missing_ok=True)
