"""Copies a SQLite file consistently while other processes write to it."""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import closing
from pathlib import Path

from ultracrawl.errors import StateError
from ultracrawl.stores.sqlite.database import COMPANIONS, connect_read_only, is_disk_full

SUFFIX = ".sqlite"

__all__ = ["COMPANIONS", "SUFFIX", "copy_database"]


def copy_database(path: Path, target: Path) -> None:
    """Copy the committed contents of `path` to `target`, which is created.

    Raises `StateError`, `OSError` for a full disk.
    """
    try:
        with (
            closing(connect_read_only(path)) as db,
            closing(sqlite3.connect(target, isolation_level=None)) as copy,
        ):
            db.backup(copy)  # in one step: a single read transaction, which blocks no writer in WAL mode
    except sqlite3.Error as error:
        if is_disk_full(error, target):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target)) from error
        raise StateError(f"{path} cannot be copied: {error}") from error
