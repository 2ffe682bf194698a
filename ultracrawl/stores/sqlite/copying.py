"""A copy of a SQLite file as it is at one moment, whoever writes to it meanwhile."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from ultracrawl.errors import StateError
from ultracrawl.stores.sqlite.database import COMPANIONS, connect_where_nothing_can_be_written

SUFFIX = ".sqlite"

__all__ = ["COMPANIONS", "SUFFIX", "copy_database"]


def copy_database(path: Path, target: Path) -> None:
    """Copy what was committed to a file that need not be there yet. Raises `StateError`."""
    try:
        with (
            closing(connect_where_nothing_can_be_written(path)) as db,
            closing(sqlite3.connect(target, isolation_level=None)) as copy,
        ):
            db.backup(copy)  # all at once: one reading transaction, which no writer has to wait for
    except sqlite3.Error as error:
        raise StateError(f"{path} cannot be copied: {error}") from error
