"""The state of a spider without a definition, in one SQLite file: responses with validators, and scraped items."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import StateDamagedError
from ultracrawl.model.answer import StoredAnswer
from ultracrawl.stores.documents.response_bodies import pack_answer, translated_errors, unpack_answer
from ultracrawl.stores.sqlite.database import lock_file, set_aside_database, translated, use_wal
from ultracrawl.system.wall_guard import LOCK_LIMIT

KEPT = 90 * 86_400.0
"""Seconds until an unused response is deleted."""
BATCH = 200
"""Number of writes per transaction."""
_MAX_FLUSH_DELAY = 3.0
"""Seconds after which the next write commits, however few writes wait."""
_TOUCH_INTERVAL = 86_400.0

_REMEDY = "the next crawl creates a new file, and fetches every page again"
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
# Not if a killed crawl had a different item of the URL: its consumer already has that later item.
_HAS_ITEM = """
    SELECT 1 FROM item WHERE url=?1 AND checksum=?2 AND first<=?3
    AND NOT EXISTS (SELECT 1 FROM item WHERE url=?1 AND first>?3 AND first<?4)"""
_KNOWN_ANSWER = "SELECT about, used, ended FROM answer LEFT JOIN run ON run.number=answer.run WHERE key=?"
_DELETE_ITEMS_OF_KILLED = "DELETE FROM item WHERE run>?1 AND run<?2 AND first>?1"
_DELETE_FORMER_ITEMS = "DELETE FROM item WHERE run<?1 AND url IN (SELECT url FROM item WHERE run=?1)"


@dataclass(frozen=True, slots=True)
class KnownAnswer:
    """A stored response without headers and body."""

    etag: str = ""
    last_modified: str = ""
    vary: tuple[tuple[str, str], ...] = ()
    """Names of the request headers in `Vary`, each with a digest of the value that was sent."""
    personal: bool = False
    """Whether the request had a cookie."""
    finished: bool = True
    """Whether its crawl finished."""


class SpiderState:
    """The state of one spider across crawls, for components that work without a definition.

    Writes are committed in batches, at the latest by `close`; a killed process loses the last batch as a whole.
    Items noted by a crawl count for the next one only after `close`, so that after a kill work is repeated and no item
    is lost. The writer holds a file lock while it is open. Raises `UserError` if another process has it,
    `StateError` if the file cannot be used.
    """

    def __init__(self, path: Path, spider: str, clock: Callable[[], float] = time.time) -> None:
        """Open the file of a spider; a damaged one is set aside and a new one created, as `renewed` then says."""
        self.renewed = ""
        self._path = path
        self._clock = clock
        self._unwritten = 0
        self._since = 0.0
        with translated_errors(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = lock_file(path, spider, is_spider=True)
        with contextlib.ExitStack() as on_error:
            on_error.callback(self._lock.close)
            try:
                self._db, self._finished, self._run = _open(path)
            except StateDamagedError as error:
                self.renewed = f"{error.problem}; it is set aside as {set_aside_database(path).name}"
                self._db, self._finished, self._run = _open(path)
            on_error.pop_all()
        self._translated = translated(self._db, _REMEDY)

    # ---- responses

    def known_answer(self, key: bytes) -> KnownAnswer | None:
        """Return the metadata of the stored response for a request fingerprint, or None."""
        with self._translated:
            row = self._db.execute(_KNOWN_ANSWER, (key,)).fetchone()
        if row is None:
            return None
        about, used, ended = row
        now = self._clock()
        if not 0 <= now - used < _TOUCH_INTERVAL:
            self._write("UPDATE answer SET used=? WHERE key=?", now, key)
        etag, last_modified, vary, personal = json.loads(about)
        pairs = tuple((name, value) for name, value in vary)
        return KnownAnswer(etag, last_modified, pairs, personal, bool(ended))

    def read_answer(self, key: bytes) -> StoredAnswer | None:
        """Return a stored response, or None."""
        with self._translated, translated_errors(self._path):
            row = self._db.execute("SELECT head, body FROM answer WHERE key=?", (key,)).fetchone()
            return unpack_answer(*row) if row else None

    def keep_answer(self, key: bytes, known: KnownAnswer, answer: StoredAnswer) -> None:
        """Store a response in place of an earlier one."""
        about = json.dumps((known.etag, known.last_modified, known.vary, known.personal))
        self._write(_PUT_ANSWER, key, self._clock(), self._run, about, *pack_answer(answer, compress=True))

    def forget_answer(self, key: bytes) -> None:
        """Delete a stored response, if there is one."""
        self._write("DELETE FROM answer WHERE key=?", key)

    # ---- items

    def has_item(self, url: str, checksum: bytes) -> bool:
        """Return whether an earlier crawl scraped this item, and no other has replaced it."""
        with self._translated:
            values = url, checksum, self._finished, self._run
            return self._db.execute(_HAS_ITEM, values).fetchone() is not None

    def note_item(self, url: str, checksum: bytes) -> None:
        """Record an item of this crawl, changed or not; `close` deletes earlier items of its URL."""
        self._write(_PUT_ITEM, url, checksum, self._run)

    # ---- durability

    def _write(self, statement: str, *values: object) -> None:
        with self._translated:
            if not self._unwritten:
                self._db.execute("BEGIN IMMEDIATE")
                self._since = time.monotonic()
            self._db.execute(statement, values)
        self._unwritten += 1
        if self._unwritten >= BATCH or time.monotonic() - self._since >= _MAX_FLUSH_DELAY:
            self.flush()

    def flush(self) -> None:
        """Commit everything written so far."""
        if self._unwritten:
            with self._translated:
                self._db.execute("COMMIT")
            self._unwritten = 0

    def close(self) -> None:
        """Finish the crawl: its items become valid, and unused responses are deleted."""
        with contextlib.ExitStack() as releasing:
            releasing.callback(self._lock.close)
            releasing.callback(self._db.close)
            self._write(_DELETE_FORMER_ITEMS, self._run)
            self._write(_DELETE_ITEMS_OF_KILLED, self._finished, self._run)
            self._write("DELETE FROM answer WHERE used<?", self._clock() - KEPT)
            self._write("UPDATE run SET ended=1 WHERE number=?", self._run)
            self.flush()

    def abandon(self, *, damaged: bool = False) -> None:
        """Close the file without committing; with `damaged` it is set aside."""
        with contextlib.ExitStack() as releasing:
            releasing.callback(self._lock.close)
            self._db.close()
            if damaged:
                set_aside_database(self._path)


def _open(path: Path) -> tuple[sqlite3.Connection, int, int]:
    """Open the file, readable by its owner only; returns also the number of the last finished run and of a new one."""
    with contextlib.ExitStack() as on_error:
        with translated_errors(path):
            path.touch(mode=0o600)
        db = sqlite3.connect(path, isolation_level=None, timeout=LOCK_LIMIT)
        on_error.callback(db.close)
        with translated(db, _REMEDY):
            use_wal(db)
            db.execute("PRAGMA synchronous=NORMAL")
            db.executescript(_TABLES)
            (finished,) = db.execute("SELECT coalesce(max(number), 0) FROM run WHERE ended").fetchone()
            number = db.execute("INSERT INTO run DEFAULT VALUES").lastrowid
            assert number is not None
        on_error.pop_all()
        return db, finished, number
