"""A SQLite file as the state of a source: its lock, its settings, its schema."""

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
"""The path of a store that is kept in memory."""


CHECKPOINT_PAGES = 8000
"""Pages of 4 KB in the write-ahead log (32 MB) from which on they are copied to their places, each once."""


def lock_file(path: Path, source: str) -> IO[str]:
    """Take the lock of a store for writing; it ends with the file. Raises `UserError`, `StateError`."""
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
    """Open a store and bring it up to date. Raises `UserError` for one to be read that is not there, `StateError`."""
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
        db.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}")
        _migrate(db)
        if read_only:
            db.execute("PRAGMA query_only=1")
        on_error.pop_all()
        return db


def _migrate(db: sqlite3.Connection) -> None:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version > SCHEMA_VERSION:
        raise StateError(
            f"the state was written by a newer version (schema {version}, here {SCHEMA_VERSION})"
        )
    while version < SCHEMA_VERSION:
        try:
            db.executescript(
                f"BEGIN IMMEDIATE; {MIGRATIONS[version]} PRAGMA user_version={version + 1}; COMMIT;"
            )
        except sqlite3.OperationalError:
            db.rollback()
            if db.execute("PRAGMA user_version").fetchone() == (version,):
                raise
            # Another process, which opened the file at the same moment, has done this step.
        (version,) = db.execute("PRAGMA user_version").fetchone()


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Make what a block writes durable together, or not at all."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        # SQLite may have rolled back by itself (disk full); a second rollback is then an error of its own.
        with contextlib.suppress(sqlite3.OperationalError):
            db.execute("ROLLBACK")
        raise


class _Translation:
    """Makes `StateError` of what SQLite raises in a block; no generator, because it stands around every query."""

    __slots__ = ()

    def __enter__(self) -> None:
        return

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, sqlite3.Error):
            raise StateError(f"the state store failed: {error}") from error


_TRANSLATION = _Translation()


def translated() -> _Translation:
    """Let errors of SQLite be `StateError`s."""
    return _TRANSLATION
