"""The folder in which `multiprocessing` has its sockets: who owns one, and which is left over from a killed process."""

from __future__ import annotations

import fcntl
import os
import shutil
from contextlib import suppress
from multiprocessing.util import get_temp_dir
from pathlib import Path

_PREFIX = "pymp-"
_OWNER = "owner"
"""The file in the folder that its process has locked until it ends, however it ends."""


def own_temporary_folder() -> Path:
    """Return the temporary folder of this process, which is made again if it was deleted, with the lock of its owner.

    Raises `OSError` if it cannot be made.
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
        if not folder.name.startswith(_PREFIX) or folder.lstat().st_uid != os.getuid():
            return
        file = os.open(folder / _OWNER, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
        finally:
            os.close(file)
