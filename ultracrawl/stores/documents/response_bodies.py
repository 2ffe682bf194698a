"""Bodies of fetched documents with their headers, durable: many in one file, or each in a file of its own."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

from ultracrawl.errors import StateDamagedError, StateError
from ultracrawl.model.answer import StoredAnswer
from ultracrawl.stores.sqlite.database import is_damage, put_aside

_LEVEL = 3
_SCHEMA = """
CREATE TABLE IF NOT EXISTS document (
    key INTEGER PRIMARY KEY, size INTEGER NOT NULL, head TEXT NOT NULL, body BLOB NOT NULL
)"""


class DocumentStore(Protocol):
    """Answers by the key of their URL. A write is whole or not at all, also after a kill. Raises `StateError`."""

    @property
    def renewed(self) -> str:
        """What became of a damaged store in whose place this one was begun; empty without."""

    @property
    def size(self) -> int:
        """Bytes of all bodies as they are stored."""

    def put(self, key: int, answer: StoredAnswer, *, compress: bool) -> None:
        """Keep an answer in place of an earlier one."""

    def get(self, key: int) -> StoredAnswer | None:
        """Return the answer of a key, None if none is kept. Raises `StateError` if it is damaged."""

    def stored_keys(self) -> list[int]:
        """Return the keys of all answers in ascending order."""

    def discard(self, keys: Iterable[int]) -> None:
        """Remove answers; no error for keys that have none."""

    def retain(self, keys: frozenset[int]) -> int:
        """Remove all other answers; returns how many. Called when a run ends: files are compacted then."""

    def close(self) -> None:
        """Release the files."""


class BlockStore:
    """All answers of a source in one SQLite file.

    When less than `compact_below` percent of the file are in use at the end of a run, the rest goes back to the file
    system; 0 never does that. What is free is used for new answers first.
    """

    def __init__(self, folder: Path, compact_below: int = 85, *, renew: bool = False) -> None:
        """With `renew`, a file that is damaged is set aside, and a new one begun (`renewed` says so)."""
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
            self.renewed = f"{error.what}; they are set aside as {put_aside(self._path).name}"
            self._damaged = False
            self._open()

    def _open(self) -> None:
        with self._errors(), contextlib.ExitStack() as on_error:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self._path, isolation_level=None, timeout=30.0)
            on_error.callback(self._db.close)
            self._db.execute("PRAGMA auto_vacuum=INCREMENTAL")
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(_SCHEMA)
            (self._size,) = self._db.execute("SELECT coalesce(sum(size), 0) FROM document").fetchone()
            on_error.pop_all()

    @property
    def size(self) -> int:
        """Bytes of all bodies as they are stored."""
        return int(self._size)

    def put(self, key: int, answer: StoredAnswer, *, compress: bool) -> None:
        """Keep an answer in place of an earlier one."""
        head, body = _packed(answer, compress)
        with self._errors():
            before = self._db.execute("SELECT size FROM document WHERE key=?", (key,)).fetchone()
            self._db.execute(
                "INSERT OR REPLACE INTO document (key, size, head, body) VALUES (?,?,?,?)",
                (key, len(body), head, body),
            )
        self._size += len(body) - (before[0] if before else 0)

    def get(self, key: int) -> StoredAnswer | None:
        """Return the answer of a key."""
        with self._errors():
            row = self._db.execute("SELECT head, body FROM document WHERE key=?", (key,)).fetchone()
            return _unpacked(row[0], row[1]) if row else None

    def stored_keys(self) -> list[int]:
        """Return the keys of all answers."""
        with self._errors():
            return [key for (key,) in self._db.execute("SELECT key FROM document ORDER BY key")]

    def discard(self, keys: Iterable[int]) -> None:
        """Remove answers."""
        with self._errors():
            self._db.executemany("DELETE FROM document WHERE key=?", [(key,) for key in keys])
            (self._size,) = self._db.execute("SELECT coalesce(sum(size), 0) FROM document").fetchone()

    def retain(self, keys: frozenset[int]) -> int:
        """Remove all other answers."""
        gone = [key for key in self.stored_keys() if key not in keys]
        if gone:
            self.discard(gone)
        with self._errors():
            if self._used < self._compact_below:
                # `execute` would take one step of it, which is one page.
                self._db.executescript("PRAGMA incremental_vacuum")
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return len(gone)

    @property
    def _used(self) -> float:
        """The percent of the file that are in use."""
        (pages,) = self._db.execute("PRAGMA page_count").fetchone()
        (free,) = self._db.execute("PRAGMA freelist_count").fetchone()
        return 100.0 * (1 - free / pages) if pages else 100.0

    def close(self) -> None:
        """Release the file; one that was found to be damaged is set aside with `renew`."""
        self._db.close()
        if self._damaged and self._renew:
            put_aside(self._path)

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            with _errors(self._path):
                yield
        except StateDamagedError:
            self._damaged = True
            raise


class FileStore:
    """Each answer in a file of its own: one line of JSON, then the body. 256 folders."""

    renewed = ""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "files"
        with _errors(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            self._size = sum(path.stat().st_size for path in self._paths())

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return self._size

    def put(self, key: int, answer: StoredAnswer, *, compress: bool) -> None:
        """Keep an answer in place of an earlier one."""
        head, body = _packed(answer, compress)
        data = head.encode() + b"\n" + body
        path = self._path(key)
        draft = path.with_suffix(".new")
        with _errors(path):
            path.parent.mkdir(exist_ok=True)
            before = path.stat().st_size if path.exists() else 0
            draft.write_bytes(data)
            draft.replace(path)
        self._size += len(data) - before

    def get(self, key: int) -> StoredAnswer | None:
        """Return the answer of a key."""
        path = self._path(key)
        with _errors(path):
            if not path.exists():
                return None
            head, _, body = path.read_bytes().partition(b"\n")
            return _unpacked(head.decode(), body)

    def stored_keys(self) -> list[int]:
        """Return the keys of all answers."""
        with _errors(self._folder):
            return sorted(_signed(int(path.stem, 16)) for path in self._paths())

    def discard(self, keys: Iterable[int]) -> None:
        """Remove answers."""
        with _errors(self._folder):
            for path in map(self._path, keys):
                if path.exists():
                    self._size -= path.stat().st_size
                    path.unlink()

    def retain(self, keys: frozenset[int]) -> int:
        """Remove all other answers."""
        gone = [key for key in self.stored_keys() if key not in keys]
        with _errors(self._folder):
            for draft in self._folder.glob("*/*.new"):
                draft.unlink()  # of a process that was killed
        self.discard(gone)
        return len(gone)

    def close(self) -> None:
        """There is nothing to release."""

    def _path(self, key: int) -> Path:
        name = f"{key % (1 << 64):016x}"
        return self._folder / name[:2] / f"{name}.doc"

    def _paths(self) -> Iterable[Path]:
        return self._folder.glob("*/*.doc")


def _signed(key: int) -> int:
    return key - (1 << 64) if key >> 63 else key


def _packed(answer: StoredAnswer, compress: bool) -> tuple[str, bytes]:
    body = zlib.compress(answer.body, _LEVEL) if compress else answer.body
    packed = compress and len(body) < len(answer.body)
    head = {
        "url": answer.url,
        "fetched": answer.fetched,
        "headers": answer.headers,
        "truncated": answer.truncated,
        "compressed": packed,
    }
    return json.dumps(head), body if packed else answer.body


def _unpacked(head: str, body: bytes) -> StoredAnswer:
    known = json.loads(head)
    headers = tuple((name, value) for name, value in known["headers"])
    whole = zlib.decompress(body) if known["compressed"] else body
    return StoredAnswer(known["url"], known["fetched"], headers, whole, known["truncated"])


@contextlib.contextmanager
def _errors(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StateError(f"the stored documents in {place}: {error.strerror}") from error
    except sqlite3.Error as error:
        if is_damage(error):
            raise StateDamagedError(
                f"the stored documents in {place} are damaged ({error})", "the next crawl begins a new store"
            ) from error
        raise StateError(f"the stored documents in {place} cannot be used: {error}") from error
    except (zlib.error, ValueError, KeyError) as error:
        raise StateError(f"the stored documents in {place} cannot be used: {error}") from error
