"""What earlier crawls of one spider saw, in one SQLite file: answers with their validators, items that came out."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ultracrawl.errors import StateDamagedError
from ultracrawl.model.answer import StoredAnswer
from ultracrawl.stores.documents.response_bodies import pack_answer, translated_errors, unpack_answer
from ultracrawl.stores.sqlite.database import lock_file, put_aside, translated

KEPT = 90 * 86_400.0
"""Seconds for which an answer is kept that nobody asks for again."""
BATCH = 200
"""Writes that become durable together."""
_LONGEST_WAIT = 3.0
"""Seconds after which the next write makes them durable, however few."""
_TOUCHED_AFTER = 86_400.0

_REMEDY = "the next crawl begins a new file, and asks for every page again"
_TABLES = """
    CREATE TABLE IF NOT EXISTS run (number INTEGER PRIMARY KEY AUTOINCREMENT, ended INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE IF NOT EXISTS answer (
        key BLOB PRIMARY KEY, used REAL NOT NULL, run INTEGER NOT NULL, about TEXT NOT NULL, head TEXT NOT NULL,
        body BLOB NOT NULL
    );
    CREATE INDEX IF NOT EXISTS answer_used ON answer (used);
    CREATE TABLE IF NOT EXISTS item (
        url TEXT NOT NULL, checksum BLOB NOT NULL, first INTEGER NOT NULL, run INTEGER NOT NULL,
        PRIMARY KEY (url, checksum)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS item_run ON item (run);"""
_PUT_ANSWER = "INSERT OR REPLACE INTO answer (key, used, run, about, head, body) VALUES (?,?,?,?,?,?)"
_PUT_ITEM = """
    INSERT INTO item (url, checksum, first, run) VALUES (?1,?2,?3,?3)
    ON CONFLICT (url, checksum) DO UPDATE SET run=excluded.run"""
# Not if a killed crawl had another item in its place: what that was given to has the other one by now.
_HAS_ITEM = """
    SELECT 1 FROM item WHERE url=?1 AND checksum=?2 AND first<=?3
    AND NOT EXISTS (SELECT 1 FROM item WHERE url=?1 AND first>?3 AND first<?4)"""
_KNOWN_ANSWER = "SELECT about, used, ended FROM answer LEFT JOIN run ON run.number=answer.run WHERE key=?"
_FORGET_ITEMS_OF_KILLED = "DELETE FROM item WHERE run>?1 AND run<?2 AND first>?1"
_FORGET_FORMER_ITEMS = "DELETE FROM item WHERE run<?1 AND url IN (SELECT url FROM item WHERE run=?1)"


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """What is known of an answer without its body."""

    etag: str = ""
    last_modified: str = ""
    vary: tuple[tuple[str, str], ...] = ()
    """Names of request headers that it depends on, each with a digest of the value that was sent."""
    personal: bool = False
    """Whether it was given to a request with a cookie."""
    finished: bool = True
    """Whether it is of a crawl that came to its end."""


class SpiderState:
    """What earlier crawls of one spider saw, for components that work without a definition.

    Writes are durable in batches, at the latest with `close`; a killed process loses the last batch as a whole.
    What a crawl notes of items counts for the next one only if `close` was reached, so that a killed one repeats work
    and loses none. The writer holds a lock for as long as it is open. Raises `UserError` if another process has it,
    `StateError` if the file cannot be used.
    """

    def __init__(self, path: Path, spider: str, clock: Callable[[], float] = time.time) -> None:
        """Open the file of a spider; one that is damaged is set aside, and a new one begun (`renewed` says so)."""
        self.renewed = ""
        self._path = path
        self._clock = clock
        self._unwritten = 0
        self._since = 0.0
        with translated_errors(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = lock_file(path, spider)
        with contextlib.ExitStack() as on_error:
            on_error.callback(self._lock.close)
            try:
                self._db, self._finished, self._run = _opened(path)
            except StateDamagedError as error:
                self.renewed = f"{error.problem}; it is set aside as {put_aside(path).name}"
                self._db, self._finished, self._run = _opened(path)
            on_error.pop_all()
        self._translated = translated(self._db, _REMEDY)

    # ---- answers

    def known_answer(self, key: bytes) -> KnownAnswer | None:
        """Return what is known of the answer for a request, by its fingerprint."""
        with self._translated:
            row = self._db.execute(_KNOWN_ANSWER, (key,)).fetchone()
        if row is None:
            return None
        about, used, ended = row
        now = self._clock()
        if not 0 <= now - used < _TOUCHED_AFTER:
            self._write("UPDATE answer SET used=? WHERE key=?", now, key)
        etag, last_modified, vary, personal = json.loads(about)
        pairs = tuple((name, value) for name, value in vary)
        return KnownAnswer(etag, last_modified, pairs, personal, bool(ended))

    def read_answer(self, key: bytes) -> StoredAnswer | None:
        """Return a whole answer, None if none is kept."""
        with self._translated, translated_errors(self._path):
            row = self._db.execute("SELECT head, body FROM answer WHERE key=?", (key,)).fetchone()
            return unpack_answer(*row) if row else None

    def keep_answer(self, key: bytes, known: KnownAnswer, answer: StoredAnswer) -> None:
        """Keep an answer in place of an earlier one."""
        about = json.dumps((known.etag, known.last_modified, known.vary, known.personal))
        self._write(_PUT_ANSWER, key, self._clock(), self._run, about, *pack_answer(answer, compress=True))

    def forget_answer(self, key: bytes) -> None:
        """Remove an answer, if one is kept."""
        self._write("DELETE FROM answer WHERE key=?", key)

    # ---- items

    def has_item(self, url: str, checksum: bytes) -> bool:
        """Return whether an item with this checksum came out of an earlier crawl, and no other has replaced it."""
        with self._translated:
            values = url, checksum, self._finished, self._run
            return self._db.execute(_HAS_ITEM, values).fetchone() is not None

    def note_item(self, url: str, checksum: bytes) -> None:
        """Note that an item came out of this crawl, changed or not; its end forgets earlier ones of its URL."""
        self._write(_PUT_ITEM, url, checksum, self._run)

    # ---- durability

    def _write(self, statement: str, *values: object) -> None:
        with self._translated:
            if not self._unwritten:
                self._db.execute("BEGIN IMMEDIATE")
                self._since = time.monotonic()
            self._db.execute(statement, values)
        self._unwritten += 1
        if self._unwritten >= BATCH or time.monotonic() - self._since >= _LONGEST_WAIT:
            self.flush()

    def flush(self) -> None:
        """Make everything written so far durable."""
        if self._unwritten:
            with self._translated:
                self._db.execute("COMMIT")
            self._unwritten = 0

    def close(self) -> None:
        """End the crawl: what it noted of items holds from now on, and answers that nobody asked for are forgotten."""
        with contextlib.ExitStack() as releasing:
            releasing.callback(self._lock.close)
            releasing.callback(self._db.close)
            self._write(_FORGET_FORMER_ITEMS, self._run)
            self._write(_FORGET_ITEMS_OF_KILLED, self._finished, self._run)
            self._write("DELETE FROM answer WHERE used<?", self._clock() - KEPT)
            self._write("UPDATE run SET ended=1 WHERE number=?", self._run)
            self.flush()

    def abandon(self, *, damaged: bool = False) -> None:
        """Release the file; what is not durable yet is lost. One that was found to be damaged is set aside."""
        with contextlib.ExitStack() as releasing:
            releasing.callback(self._lock.close)
            self._db.close()
            if damaged:
                put_aside(self._path)


def _opened(path: Path) -> tuple[sqlite3.Connection, int, int]:
    """Open the file, for its owner alone; returns the number of the last run that came to its end, and of a new one."""
    with contextlib.ExitStack() as on_error:
        with translated_errors(path):
            path.touch(mode=0o600)
        db = sqlite3.connect(path, isolation_level=None, timeout=30.0)
        on_error.callback(db.close)
        with translated(db, _REMEDY):
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")
            db.executescript(_TABLES)
            (finished,) = db.execute("SELECT coalesce(max(number), 0) FROM run WHERE ended").fetchone()
            number = db.execute("INSERT INTO run DEFAULT VALUES").lastrowid
            assert number is not None
        on_error.pop_all()
        return db, finished, number
