"""The lock that keeps two crawls of one source apart."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import IO

from ultracrawl.errors import StateError, UserError


def lock_file(path: Path, source: str) -> IO[str]:
    """Lock the state in `path` for as long as the returned file is open.

    Raises `UserError` if another process has it, `StateError` if nothing can be written there.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_name(path.name + ".lock").open("w")
    except OSError as error:
        raise StateError(f"cannot write the state in {path.parent}: {error.strerror}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise UserError(
            f"the source {source!r} is being crawled by another process (its lock is {lock.name}); "
            "wait for it or stop it"
        ) from error
    return lock
