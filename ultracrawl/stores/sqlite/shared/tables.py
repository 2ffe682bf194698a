"""The file of the sites of a project: its tables, how it is opened, and what is done with a damaged one."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from ultracrawl.errors import StateDamagedError, StateError
from ultracrawl.stores.sqlite.database import (
    CHECKPOINT_PAGES,
    MEMORY,
    ImpossibleValueError,
    connect_where_nothing_can_be_written,
    put_aside,
    transaction,
    translated,
)

VERSION = 1
REMEDY = "the next crawl makes it anew; sites are asked for robots.txt again"

_TABLES = (
    # AUTOINCREMENT: no number is given twice, so that a crawl that was taken for dead never holds anything again.
    """
    CREATE TABLE crawl (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        source TEXT NOT NULL,
        machine TEXT NOT NULL,
        pid INTEGER NOT NULL,
        until REAL NOT NULL
    )""",
    """
    CREATE TABLE site (
        site TEXT PRIMARY KEY,
        next_at REAL NOT NULL DEFAULT 0,
        asked REAL NOT NULL DEFAULT 0,
        delay REAL NOT NULL DEFAULT 0,
        why TEXT NOT NULL DEFAULT '',
        on_hold INTEGER NOT NULL DEFAULT 0,
        errors INTEGER NOT NULL DEFAULT 0,
        slowed REAL NOT NULL DEFAULT 0,
        last_error TEXT NOT NULL DEFAULT '',
        error_at REAL NOT NULL DEFAULT 0,
        crawl INTEGER NOT NULL DEFAULT 0,
        since REAL NOT NULL DEFAULT 0
    ) WITHOUT ROWID""",
    "CREATE INDEX site_leased ON site (crawl) WHERE crawl<>0",
    """
    CREATE TABLE waiting (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        site TEXT NOT NULL,
        crawl INTEGER NOT NULL,
        UNIQUE (site, crawl)
    )""",
    """
    CREATE TABLE robots (
        origin TEXT NOT NULL,
        shown TEXT NOT NULL,
        asked REAL NOT NULL,
        status INTEGER NOT NULL,
        body BLOB NOT NULL,
        error TEXT NOT NULL,
        timed_out INTEGER NOT NULL,
        failed REAL NOT NULL,
        guessed REAL NOT NULL,
        PRIMARY KEY (origin, shown)
    )""",
    "CREATE TABLE session (name TEXT PRIMARY KEY, since REAL NOT NULL, sealed BLOB NOT NULL)",
)
_EVERY_TABLE = (
    "SELECT until, site.since, number, guessed, sealed FROM crawl, site, waiting, robots, session LIMIT 0"
)


def open_tables(path: Path | str, *, read_only: bool, renew: bool) -> tuple[sqlite3.Connection, str]:
    """Open the file; with `renew`, a damaged one is set aside and a new one begun: then the text says so.

    Raises `StateError`.
    """
    if read_only and path != MEMORY:
        return _opened_to_be_read(Path(path)), ""
    try:
        return _opened(path, sound=renew), ""
    except StateDamagedError as error:
        if not renew or path == MEMORY:
            raise
        aside = put_aside(Path(path))
        told = f"{error.what}; it is set aside as {aside.name}, and sites are asked for robots.txt again"
        return _opened(path, sound=False), told


def _opened(path: Path | str, *, sound: bool) -> sqlite3.Connection:
    with contextlib.ExitStack() as on_error:
        if path != MEMORY:
            _make_folder(Path(path))
        db = sqlite3.connect(path, isolation_level=None, timeout=30.0)
        on_error.callback(db.close)
        with translated(db, REMEDY):
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")
            db.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}")
            _make_tables(db)
            if sound:
                db.execute(_EVERY_TABLE)
                if db.execute("PRAGMA quick_check(1)").fetchall() != [("ok",)]:
                    raise ImpossibleValueError("its pages contradict each other")
        on_error.pop_all()
        return db


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StateError(
            f"cannot write the sites of the project in {path.parent}: {error.strerror}"
        ) from error


def _opened_to_be_read(path: Path) -> sqlite3.Connection:
    """Open the file of a crawl for reading, an empty one in memory if there is none yet."""
    if not path.exists():
        return _opened(MEMORY, sound=False)
    with contextlib.ExitStack() as on_error:
        db = connect_where_nothing_can_be_written(path)
        on_error.callback(db.close)
        with translated(db, REMEDY):
            if db.execute("PRAGMA user_version").fetchone() != (VERSION,):
                raise StateError(f"the sites of the project in {path} were written by another version")
        on_error.pop_all()
        return db


def _make_tables(db: sqlite3.Connection) -> None:
    if _version(db) == VERSION:
        return
    with transaction(db):
        version = _version(db)  # another process may have been first
        if version == 0:
            for table in _TABLES:
                db.execute(table)
            db.execute(f"PRAGMA user_version={VERSION}")
        elif version != VERSION:
            raise StateError(
                f"the sites of the project were written by a newer version (schema {version}, here {VERSION})"
            )


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])
