"""A file that all sources of a project share: how it is opened, and what is done with a damaged one."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from ultracrawl.errors import StateDamagedError, StateError
from ultracrawl.stores.sqlite.database import (
    MEMORY,
    ImpossibleValueError,
    connect_where_nothing_can_be_written,
    put_aside,
    transaction,
    translated,
)

CHECKPOINT_PAGES = 250
"""Pages of 4 KB in the write-ahead log (1 MB) from which on they are copied to their places: these files are small."""


@dataclass(frozen=True, slots=True)
class SharedTables:
    """What a file holds, and what is said of it."""

    what: str
    """What it holds, in words."""
    remedy: str
    """What comes of a damaged file."""
    lost: str
    """What is forgotten by setting it aside."""
    version: int
    tables: tuple[str, ...]
    every_table: str
    """A query that fails if a table lacks a column."""


def open_tables(
    kind: SharedTables, path: Path | str, *, read_only: bool, renew: bool
) -> tuple[sqlite3.Connection, str]:
    """Open the file; with `renew`, a damaged one is set aside and a new one begun: then the text says so.

    Raises `StateError`.
    """
    if read_only and path != MEMORY:
        return _opened_to_be_read(kind, Path(path)), ""
    try:
        return _opened(kind, path, sound=renew), ""
    except StateDamagedError as error:
        if not renew or path == MEMORY:
            raise
        aside = put_aside(Path(path))
        told = f"{error.problem}; it is set aside as {aside.name}, and {kind.lost}"
        return _opened(kind, path, sound=False), told


def _opened(kind: SharedTables, path: Path | str, *, sound: bool) -> sqlite3.Connection:
    with contextlib.ExitStack() as on_error:
        if path != MEMORY:
            _make_folder(kind, Path(path))
        db = sqlite3.connect(path, isolation_level=None, timeout=30.0)
        on_error.callback(db.close)
        with translated(db, kind.remedy):
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")
            db.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}")
            db.execute(f"PRAGMA journal_size_limit={CHECKPOINT_PAGES * 4096}")
            _make_tables(kind, db)
            if sound:
                db.execute(kind.every_table)
                if db.execute("PRAGMA quick_check(1)").fetchall() != [("ok",)]:
                    raise ImpossibleValueError("its pages contradict each other")
        on_error.pop_all()
        return db


def _make_folder(kind: SharedTables, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StateError(f"cannot write {kind.what} in {path.parent}: {error.strerror}") from error


def _opened_to_be_read(kind: SharedTables, path: Path) -> sqlite3.Connection:
    """Open the file of a crawl for reading, an empty one in memory if there is none yet."""
    if not path.exists():
        return _opened(kind, MEMORY, sound=False)
    with contextlib.ExitStack() as on_error:
        db = connect_where_nothing_can_be_written(path, kind.remedy)
        on_error.callback(db.close)
        with translated(db, kind.remedy):
            if db.execute("PRAGMA user_version").fetchone() != (kind.version,):
                raise StateError(f"{kind.what} in {path} were written by another version")
        on_error.pop_all()
        return db


def _make_tables(kind: SharedTables, db: sqlite3.Connection) -> None:
    if _version(db) == kind.version:
        return
    with transaction(db):
        version = _version(db)  # another process may have been first
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
