"""Documents that were crawled and wait, for an approval or to take a place, kept in the store of their source."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import sqlite3


class PendingStore(Protocol):
    """A part of a `StateStore` that keeps documents back. Writes become durable with its `flush`.

    What a document looks like is the business of those who put it in. `UrlRecord.pending` is True for exactly the
    URLs that have a document in `StateStore.pending`.
    """

    def put(self, key: int, document: bytes) -> None:
        """Keep the document of a known URL; it replaces an older one."""

    def discard(self, key: int) -> None:
        """Let go of the document of a URL; no error if there is none."""

    def get(self, key: int) -> bytes | None:
        """Return the document of a URL, None if none is kept."""

    def keys(self) -> list[int]:
        """Return the keys of all URLs whose documents are kept, in order of depth and URL; sees what was flushed."""


class PendingTable:
    """The table `pending` or `successor` of a SQLite store; `read` runs a query of it and returns the rows."""

    def __init__(
        self, db: sqlite3.Connection, read: Callable[..., list[tuple[Any, ...]]], table: str = "pending"
    ) -> None:
        self._db = db
        self._read = read
        self._table = table
        self._changes: dict[int, bytes | None] = {}

    @property
    def unwritten(self) -> int:
        """The number of writes that wait for the next flush."""
        return len(self._changes)

    def put(self, key: int, document: bytes) -> None:
        """Keep the document of a URL."""
        self._changes[key] = document

    def discard(self, key: int) -> None:
        """Let go of the document of a URL."""
        self._changes[key] = None

    def get(self, key: int) -> bytes | None:
        """Return the document of a URL."""
        if key in self._changes:
            return self._changes[key]
        query = f"SELECT document FROM {self._table} WHERE key=?"  # noqa: S608 - a constant name
        for (document,) in self._read(query, key):
            return bytes(document)
        return None

    def keys(self) -> list[int]:
        """Return the keys of all URLs whose documents are kept."""
        query = f"SELECT p.key FROM {self._table} p JOIN url u ON u.key=p.key ORDER BY u.depth, u.url"  # noqa: S608 - a constant name
        return [key for (key,) in self._read(query)]

    def write(self) -> None:
        """Write what waits; called inside a transaction of the store."""
        kept = [(key, document) for key, document in self._changes.items() if document is not None]
        gone = [(key,) for key, document in self._changes.items() if document is None]
        self._db.executemany(f"INSERT OR REPLACE INTO {self._table} (key, document) VALUES (?,?)", kept)  # noqa: S608
        self._db.executemany(f"DELETE FROM {self._table} WHERE key=?", gone)  # noqa: S608 - a constant name

    def written(self) -> None:
        """Take note that the transaction of `write` went well."""
        self._changes.clear()

    def forget_dropped(self) -> None:
        """Let go of documents whose URLs left the document table."""
        gone = f"DELETE FROM {self._table} WHERE key NOT IN (SELECT key FROM url)"  # noqa: S608 - a constant name
        self._db.execute(gone)
