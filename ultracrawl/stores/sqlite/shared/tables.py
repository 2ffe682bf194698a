"""Opens the SQLite files that all sources of a project share, and replaces damaged ones."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from ultracrawl.errors import StateDamagedError, StateError
from ultracrawl.stores.sqlite.database import (
    MEMORY,
    ImpossibleValueError,
    connect_read_only,
    set_aside_database,
    transaction,
    translated,
    use_wal,
)
from ultracrawl.system.wall_guard import LOCK_LIMIT

CHECKPOINT_PAGES = 250
"""Pages of 4 KB in the write-ahead log (1 MB) that trigger a checkpoint: these files are small."""


@dataclass(frozen=True, slots=True)
class SharedDatabase:
    """The schema of a shared file, and the texts of its error messages."""

    what: str
    """Name of its contents."""
    remedy: str
    """What happens with a damaged file."""
    lost: str
    """What is lost when it is set aside."""
    version: int
    tables: tuple[str, ...]
    every_table: str
    """A query that fails if a table or its newest column is missing."""


def open_tables(
    kind: SharedDatabase, path: Path | str, *, read_only: bool, renew: bool
) -> tuple[sqlite3.Connection, str]:
    """Open the file; with `renew`, a damaged one is set aside and a new one created: then the text says so.

    Raises `StateError`.
    """
    if read_only and path != MEMORY:
        return _open_read_only(kind, Path(path)), ""
    try:
        return _open(kind, path, check=renew), ""
    except StateDamagedError as error:
        if not renew or path == MEMORY:
            raise
        aside = set_aside_database(Path(path))
        message = f"{error.problem}; it is set aside as {aside.name}, and {kind.lost}"
        return _open(kind, path, check=False), message


def _open(kind: SharedDatabase, path: Path | str, *, check: bool) -> sqlite3.Connection:
    with contextlib.ExitStack() as on_error:
        if path != MEMORY:
            _create_folder(kind, Path(path))
        db = sqlite3.connect(path, isolation_level=None, timeout=LOCK_LIMIT)
        on_error.callback(db.close)
        with translated(db, kind.remedy):
            use_wal(db)
            db.execute("PRAGMA synchronous=NORMAL")
            db.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}")
            db.execute(f"PRAGMA journal_size_limit={CHECKPOINT_PAGES * 4096}")
            _create_tables(kind, db)
            if check:
                db.execute(kind.every_table)
                if db.execute("PRAGMA quick_check(1)").fetchall() != [("ok",)]:
                    raise ImpossibleValueError("its pages are inconsistent")
        on_error.pop_all()
        return db


def _create_folder(kind: SharedDatabase, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StateError(f"cannot write {kind.what} in {path.parent}: {error.strerror}") from error


def _open_read_only(kind: SharedDatabase, path: Path) -> sqlite3.Connection:
    """Open the file for reading; a missing one is replaced by an empty one in memory."""
    if not path.exists():
        return _open(kind, MEMORY, check=False)
    with contextlib.ExitStack() as on_error:
        db = connect_read_only(path, kind.remedy)
        on_error.callback(db.close)
        with translated(db, kind.remedy):
            if db.execute("PRAGMA user_version").fetchone() != (kind.version,):
                raise StateError(f"{kind.what} in {path} were written by another version")
        on_error.pop_all()
        return db


def _create_tables(kind: SharedDatabase, db: sqlite3.Connection) -> None:
    if _version(db) == kind.version:
        return
    with transaction(db):
        version = _version(db)  # again: another process may have created the tables
        if version == 0:
            for table in kind.tables:
                db.execute(table)
            db.execute(f"PRAGMA user_version={kind.version}")
        elif version != kind.version:
            raise StateError(
                f"{kind.what} were written by a newer version (schema {version}, here {kind.version})"
            )


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])
