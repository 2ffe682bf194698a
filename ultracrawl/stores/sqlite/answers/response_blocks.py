"""Stored responses of a source in one SQLite file (`form: blocks`)."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from ultracrawl.errors import StateDamagedError, StateError
from ultracrawl.model.answer import StoredAnswer
from ultracrawl.stores.documents.response_bodies import pack_answer, translated_errors, unpack_answer
from ultracrawl.stores.sqlite.database import is_damage, is_disk_full, set_aside_database, use_wal
from ultracrawl.system.files import full_disk
from ultracrawl.system.wall_guard import LOCK_LIMIT

_SCHEMA = """
CREATE TABLE IF NOT EXISTS document (
    key INTEGER PRIMARY KEY, size INTEGER NOT NULL, head TEXT NOT NULL, body BLOB NOT NULL
)"""
_REMEDY = "the next crawl creates a new store"


class BlockStore:
    """All stored responses of a source in one SQLite file; see `DocumentStore`.

    When less than `compact_below` percent of the file are in use at the end of a run, free pages are returned to the
    file system; with 0 never. Free pages are used for new responses first.
    """

    def __init__(self, folder: Path, compact_below: int = 85, *, renew: bool = False) -> None:
        """With `renew`, a damaged file is set aside and a new one created; `renewed` then has a message."""
        self._compact_below = compact_below
        self._path = folder / "documents.sqlite"
        self._renew = renew
        self._damaged = False
        self.renewed = ""
        try:
            self._open()
        except StateDamagedError as error:
            if not renew:
                raise
            self.renewed = f"{error.problem}; they are set aside as {set_aside_database(self._path).name}"
            self._damaged = False
            self._open()

    def _open(self) -> None:
        with self._errors(), contextlib.ExitStack() as on_error:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self._path, isolation_level=None, timeout=LOCK_LIMIT)
            on_error.callback(self._db.close)
            self._db.execute("PRAGMA auto_vacuum=INCREMENTAL")
            use_wal(self._db)
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(_SCHEMA)
            self._size: int | None = None
            on_error.pop_all()

    @property
    def size(self) -> int:
        """Bytes of all bodies as they are stored; the first call reads the whole table."""
        if self._size is None:
            with self._errors():
                (self._size,) = self._db.execute("SELECT coalesce(sum(size), 0) FROM document").fetchone()
        return int(self._size)

    def put_answer(self, key: int, answer: StoredAnswer, *, compress: bool) -> None:
        """Store a response in place of an earlier one."""
        head, body = pack_answer(answer, compress)
        with self._errors():
            before = self._db.execute("SELECT size FROM document WHERE key=?", (key,)).fetchone()
            self._db.execute(
                "INSERT OR REPLACE INTO document (key, size, head, body) VALUES (?,?,?,?)",
                (key, len(body), head, body),
            )
        if self._size is not None:
            self._size += len(body) - (before[0] if before else 0)

    def get(self, key: int) -> StoredAnswer | None:
        """Return the response of a key, or None."""
        with self._errors():
            row = self._db.execute("SELECT head, body FROM document WHERE key=?", (key,)).fetchone()
            return unpack_answer(row[0], row[1]) if row else None

    def stored_keys(self) -> list[int]:
        """Return the keys of all responses."""
        with self._errors():
            return [key for (key,) in self._db.execute("SELECT key FROM document ORDER BY key")]

    def discard(self, keys: Iterable[int]) -> None:
        """Delete responses."""
        with self._errors():
            self._db.executemany("DELETE FROM document WHERE key=?", [(key,) for key in keys])
        self._size = None

    def retain(self, keys: frozenset[int]) -> int:
        """Delete the responses of all other keys; returns their number."""
        gone = [key for key in self.stored_keys() if key not in keys]
        if gone:
            self.discard(gone)
        with self._errors():
            if self._used < self._compact_below:
                # `execute` would run a single step, which frees one page.
                self._db.executescript("PRAGMA incremental_vacuum")
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return len(gone)

    @property
    def _used(self) -> float:
        """Percentage of the pages of the file in use."""
        (pages,) = self._db.execute("PRAGMA page_count").fetchone()
        (free,) = self._db.execute("PRAGMA freelist_count").fetchone()
        return 100.0 * (1 - free / pages) if pages else 100.0

    def close(self) -> None:
        """Close the file; with `renew` a damaged one is set aside."""
        self._db.close()
        if self._damaged and self._renew:
            set_aside_database(self._path)

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            with translated_errors(self._path):
                yield
        except sqlite3.Error as error:
            place = f"the stored documents in {self._path}"
            if is_disk_full(error, self._path):
                raise StateError(full_disk(self._path)) from error
            if not is_damage(error):
                raise StateError(f"{place} cannot be used: {error}") from error
            self._damaged = True
            raise StateDamagedError(f"{place} are damaged ({error})", _REMEDY) from error
