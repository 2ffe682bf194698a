"""Documents that were crawled and wait for an approval, kept in the store of their source."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import sqlite3


class PendingStore(Protocol):
    """The part of a `StateStore` that keeps documents back. Writes become durable with its `flush`.

    What a document looks like is the business of those who put it in. `UrlRecord.pending` is True for exactly the
    URLs that have a document here.
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
    """The table `pending` of a SQLite store; `read` runs a query of it and returns the rows."""

    def __init__(self, db: sqlite3.Connection, read: Callable[..., list[tuple[Any, ...]]]) -> None:
        self._db = db
        self._read = read
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
        for (document,) in self._read("SELECT document FROM pending WHERE key=?", key):
            return bytes(document)
        return None

    def keys(self) -> list[int]:
        """Return the keys of all URLs whose documents are kept."""
        query = "SELECT p.key FROM pending p JOIN url u ON u.key=p.key ORDER BY u.depth, u.url"
        return [key for (key,) in self._read(query)]

    def write(self) -> None:
        """Write what waits; called inside a transaction of the store."""
        kept = [(key, document) for key, document in self._changes.items() if document is not None]
        gone = [(key,) for key, document in self._changes.items() if document is None]
        self._db.executemany("INSERT OR REPLACE INTO pending (key, document) VALUES (?,?)", kept)
        self._db.executemany("DELETE FROM pending WHERE key=?", gone)

    def written(self) -> None:
        """Take note that the transaction of `write` went well."""
        self._changes.clear()

    def forget_dropped(self) -> None:
        """Let go of documents whose URLs left the document table."""
        self._db.execute("DELETE FROM pending WHERE key NOT IN (SELECT key FROM url)")
