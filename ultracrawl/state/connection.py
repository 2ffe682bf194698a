"""Opening a SQLite store: the lock of its writer, the schema, errors in our words."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ultracrawl.errors import StateError, UserError
from ultracrawl.state.migrations import MIGRATIONS, SCHEMA_VERSION

MEMORY = ":memory:"


def lock_file(path: Path, source: str) -> IO[str]:
    """Take the lock of a writer and return its file. Raises `UserError` if another process holds it."""
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


def connect(path: str, read_only: bool) -> sqlite3.Connection:
    """Open a store, brought up to date if it is for writing. Raises `UserError`, `StateError`."""
    if read_only and path != MEMORY and not os.path.exists(path):
        raise UserError(
            f"nothing was crawled yet: there is no state file {path}; run `ultracrawl crawl` first"
        )
    with translated(), contextlib.ExitStack() as on_error:
        db = sqlite3.connect(path, isolation_level=None, timeout=30.0)
        on_error.callback(db.close)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute("PRAGMA cache_size=-16384")
        if read_only:
            db.execute("PRAGMA query_only=1")
        else:
            _migrate(db)
        on_error.pop_all()
        return db


def _migrate(db: sqlite3.Connection) -> None:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version > SCHEMA_VERSION:
        raise StateError(
            f"the state was written by a newer version (schema {version}, here {SCHEMA_VERSION})"
        )
    for number in range(version, SCHEMA_VERSION):
        db.executescript(f"BEGIN; {MIGRATIONS[number]} PRAGMA user_version={number + 1}; COMMIT;")


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Make `StateError` of what SQLite raises."""
    try:
        yield
    except sqlite3.Error as error:
        raise StateError(f"the state store failed: {error}") from error
