"""Temporary folders with an owner: the process that has locked a file in each, until it ends, however it ends.

So a folder that is left over from a killed process can be told from that of a living one.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from multiprocessing.util import get_temp_dir
from pathlib import Path

_OF_MULTIPROCESSING = "pymp-"
_OWN = "ultracrawl-owned-"
NAME_BYTES = 26
"""Bytes that the path of an `OwnedFolder` is longer than that of the folder in which it is made."""
_OWNER = "owner"
"""The file in the folder that its process has locked."""
_NEW = f"{_OWNER}.new"
"""Its name until it is locked: an `owner` without a lock is that of a process that has ended."""


class OwnedFolder:
    """A new temporary folder of this process, which others leave alone as long as it lives."""

    def __init__(self, parent: Path) -> None:
        """Make it in another folder, from which those of processes that were killed are removed. Raises `OSError`."""
        for left in parent.glob(f"{_OWN}*"):
            remove_left_folder(left)
        self.path = Path(tempfile.mkdtemp(prefix=_OWN, dir=parent))
        self._lock = os.open(self.path / _NEW, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        (self.path / _NEW).rename(self.path / _OWNER)

    def remove(self) -> bool:
        """Delete the folder; returns whether nothing is left of it. Another process may still write into it."""
        with suppress(OSError):
            _delete(self.path)
        return not self.path.exists()

    def release(self) -> None:
        """Own it no longer: what is left of it is removed with those of killed processes."""
        os.close(self._lock)


def own_temporary_folder() -> Path:
    """Return the folder in which `multiprocessing` has the sockets of this process, with the lock of its owner.

    It is made again if it was deleted. Raises `OSError` if it cannot be made.
    """
    folder = Path(get_temp_dir())
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.lstat().st_uid != os.getuid():
        raise PermissionError(f"{folder} is another user's")
    file = os.open(folder / _OWNER, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # and the file stays open
    except BlockingIOError:  # by this process: the folder has no other user
        os.close(file)
    return folder


def remove_left_folder(folder: Path) -> None:
    """Delete the temporary folder of a process that was killed; that of a living one, and any other folder, stay."""
    with suppress(OSError):
        if not folder.name.startswith((_OF_MULTIPROCESSING, _OWN)) or folder.lstat().st_uid != os.getuid():
            return
        file = os.open(folder / _OWNER, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _delete(folder)
        finally:
            os.close(file)


def _delete(folder: Path) -> None:
    """Delete a folder, its owner's file last, so that what is left can be deleted later. Raises `OSError`."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != _OWNER:
            path.unlink()
    shutil.rmtree(folder)
