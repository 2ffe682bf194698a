"""Replaces the contents of several folders, completely or not at all, even if the process is killed meanwhile.

New contents are drafted inside each folder and moved up by renaming, so that a folder may be a mount point. A journal
in the first folder says how far that has come. It is locked as long as the process lives; whoever finds it unlocked
ends what was begun.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ultracrawl.errors import WorkError
from ultracrawl.system.files import cause_and_remedy, convert_write_errors, sync_to_disk

logger = logging.getLogger(__name__)
JOURNAL = ".restore.journal"
DRAFT, FORMER = ".restored", ".replaced"
"""The subfolders of the new contents before they are moved up, and of the old ones until all are."""
OWN_NAMES = frozenset({JOURNAL, DRAFT, FORMER})
_MOUNT_NAMES = frozenset({"lost+found"})
"""What belongs to a file system, not to a folder."""
_REPLACING, _REVERTING = "replacing", "reverting"

Moves = Mapping[str, Mapping[str, Sequence[str]]]
"""By folder: the names of its `old` and of its `new` entries."""


class Replacement:
    """One replacement, under the lock of its journal."""

    def __init__(self, folders: Sequence[Path], journal: int) -> None:
        self._folders = folders
        self._journal = journal
        self.is_whole = True
        """Whether all folders have their old contents, or all their new ones."""

    def draft_of(self, folder: Path) -> Path:
        """Return the folder for the new contents of a folder."""
        return folder / DRAFT

    def commit(self) -> None:
        """Replace the contents of all folders by their drafts, or of none. Raises `WorkError`."""
        moves = {str(folder): self._entries(folder) for folder in self._folders}
        self._note({_REPLACING: moves})
        self.is_whole = False
        try:
            _move_in(moves)
        except OSError as error:
            self._note({_REVERTING: True})
            _move_back(moves)
            self.is_whole = True
            where = error.filename2 or error.filename
            raise WorkError(f"{where} cannot be replaced: {cause_and_remedy(error)}") from error
        self.is_whole = True

    def _entries(self, folder: Path) -> dict[str, list[str]]:
        nested = {other.relative_to(folder).parts[0] for other in self._folders if folder in other.parents}
        left = OWN_NAMES | _MOUNT_NAMES | nested
        return {
            "old": sorted(one.name for one in folder.iterdir() if one.name not in left),
            "new": sorted(one.name for one in self.draft_of(folder).iterdir()),
        }

    def _note(self, line: Mapping[str, object]) -> None:
        os.write(self._journal, json.dumps(line).encode() + b"\n")
        os.fsync(self._journal)


@contextmanager
def replacing(folders: Sequence[Path]) -> Iterator[Replacement]:
    """Yield a replacement of the contents of folders, which are created; their drafts are empty.

    Without `Replacement.commit` nothing changes. Raises `WorkError` while another one is going on, `OSError`.
    """
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    journal = folders[0] / JOURNAL
    opened = _create_journal(journal)
    replacement = Replacement(folders, opened)
    try:
        replacement._note({"folders": list(map(str, folders))})
        for folder in folders:
            _clear(folder)
            replacement.draft_of(folder).mkdir(mode=0o700)
        yield replacement
    finally:
        if replacement.is_whole:
            _clean_up(journal, folders)
        os.close(opened)


def finish_replacement(folder: Path) -> None:
    """End a replacement whose process was killed; `folder` is the first of its folders.

    It is completed if its last step had begun, otherwise undone. Raises `WorkError` during the last step of another
    process.
    """
    journal = folder / JOURNAL
    if not journal.exists():
        return
    with convert_write_errors(journal), suppress(FileNotFoundError), journal.open("r+b") as file:
        is_free = _lock(file.fileno())
        drafted, *steps = _lines(file.read()) or [{"folders": []}]
        if not is_free and steps:
            raise WorkError("a backup is being restored at the moment; try again when that has ended")
        if is_free and os.path.samestat(os.fstat(file.fileno()), journal.stat()):
            if steps:
                has_failed = _REVERTING in steps[-1]
                (_move_back if has_failed else _move_in)(steps[0][_REPLACING])
                done = "undone" if has_failed else "completed"
                logger.warning("a restore that was killed has been %s", done)
            _clean_up(journal, list(map(Path, drafted["folders"])))


def _create_journal(journal: Path) -> int:
    """Create and lock the journal; returns its descriptor."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    while True:
        try:
            opened = os.open(journal, flags, 0o600)
        except FileExistsError:
            raise WorkError("another backup is being restored at the moment") from None
        fcntl.flock(opened, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(opened), journal.stat()):
                return opened
        os.close(opened)  # another process took it for one that was left


def _lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lines(data: bytes) -> list[dict[str, Any]]:
    """Return the lines of a journal that were written to their end."""
    return [json.loads(line) for line in data[: data.rfind(b"\n") + 1].splitlines()]


def _move_in(moves: Moves) -> None:
    """Move the old entries away and the new ones in; also when some have been moved already."""
    for name, entries in moves.items():
        folder = Path(name)
        draft, former = folder / DRAFT, folder / FORMER
        former.mkdir(mode=0o700, exist_ok=True)
        new = frozenset(entries["new"])
        for entry in entries["old"]:
            if entry not in new or os.path.lexists(draft / entry):
                _move(folder / entry, former / entry)
        for entry in entries["new"]:
            _move(draft / entry, folder / entry)
        sync_to_disk(folder)


def _move_back(moves: Moves) -> None:
    """Undo `_move_in`, however far it or this has come."""
    for name, entries in moves.items():
        folder = Path(name)
        draft, former = folder / DRAFT, folder / FORMER
        old = frozenset(entries["old"])
        for entry in entries["new"]:
            is_moved = entry not in old or os.path.lexists(former / entry)
            if is_moved and not os.path.lexists(draft / entry):
                _move(folder / entry, draft / entry)
        for entry in entries["old"]:
            _move(former / entry, folder / entry)
        sync_to_disk(folder)


def _move(path: Path, target: Path) -> None:
    """Rename an entry, unless it has been renamed before."""
    if os.path.lexists(path):
        path.rename(target)


def _clean_up(journal: Path, folders: Iterable[Path]) -> None:
    """Delete what the replacement needed, the journal last."""
    for folder in folders:
        _clear(folder)
    journal.unlink(missing_ok=True)
    sync_to_disk(journal.parent)


def _clear(folder: Path) -> None:
    shutil.rmtree(folder / FORMER, ignore_errors=True)
    shutil.rmtree(folder / DRAFT, ignore_errors=True)
