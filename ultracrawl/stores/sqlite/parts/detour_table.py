"""How many documents in other languages lead to a URL (focused crawling), kept in the store of its source."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import sqlite3


class DetourStore(Protocol):
    """The part of a `StateStore` that counts hops. Writes become durable with its `flush`; most URLs have 0 hops."""

    def hops(self, keys: Sequence[int]) -> dict[int, int]:
        """Return the hops of those of the URLs (by key) that have any."""

    def put(self, key: int, hops: int) -> None:
        """Say how many hops lead to a URL."""

    def reset(self, hops: int) -> None:
        """Let every known URL but the start URLs have so many hops until it is met anew; seen after `flush`."""


class DetourTable:
    """The table `detour` of a SQLite store; `read` runs a query of it and returns the rows."""

    def __init__(self, db: sqlite3.Connection, read: Callable[..., list[tuple[Any, ...]]]) -> None:
        self._db = db
        self._read = read
        self._changes: dict[int, int] = {}
        self._reset: int | None = None

    @property
    def unwritten(self) -> int:
        """The number of writes that wait for the next flush."""
        return len(self._changes) + (self._reset is not None)

    def hops(self, keys: Sequence[int]) -> dict[int, int]:
        """Return the hops of those of the URLs that have any."""
        query = "SELECT key, hops FROM detour WHERE key IN (SELECT value FROM json_each(?))"
        found: dict[int, int] = dict(self._read(query, json.dumps(keys)))
        found.update((key, self._changes[key]) for key in keys if key in self._changes)
        return {key: hops for key, hops in found.items() if hops}

    def put(self, key: int, hops: int) -> None:
        """Say how many hops lead to a URL."""
        self._changes[key] = hops

    def reset(self, hops: int) -> None:
        """Let every known URL but the start URLs have so many hops."""
        self._changes.clear()
        self._reset = hops

    def write(self) -> None:
        """Write what waits; called inside a transaction of the store."""
        if self._reset is not None:
            self._db.execute("DELETE FROM detour")
            query = "INSERT INTO detour (key, hops) SELECT key, ? FROM url WHERE depth>0 AND ?"
            self._db.execute(query, (self._reset, self._reset > 0))
        far = [(key, hops) for key, hops in self._changes.items() if hops]
        near = [(key,) for key, hops in self._changes.items() if not hops]
        self._db.executemany("INSERT OR REPLACE INTO detour (key, hops) VALUES (?,?)", far)
        self._db.executemany("DELETE FROM detour WHERE key=?", near)

    def written(self) -> None:
        """Take note that the transaction of `write` went well."""
        self._changes.clear()
        self._reset = None

    def forget_dropped(self) -> None:
        """Forget the hops of URLs that left the document table."""
        self._db.execute("DELETE FROM detour WHERE key NOT IN (SELECT key FROM url)")
