"""What the parts of a SQLite store share: the connection, how it is read, and what a part is."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from ultracrawl.stores.sqlite.database import transaction, translated
from ultracrawl.stores.sqlite.read_ahead import RecordsAhead


class SqliteAccess:
    """The connection of a store; errors of SQLite become `StateError`. `flush` is that of the store."""

    def __init__(self, db: sqlite3.Connection, flush: Callable[[], None], *, read_only: bool = False) -> None:
        self.db = db
        self.flush = flush
        self.ahead = RecordsAhead(keeps=not read_only)
        self.translated = translated(db)

    def read(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a query and return its rows."""
        with self.translated:
            return self.db.execute(query, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make what a block writes durable together, or not at all."""
        with self.translated, transaction(self.db):
            yield


class Changes(Protocol):
    """A dictionary, list or set of changes that wait for the next flush."""

    def __len__(self) -> int:
        """Return how many there are."""

    def clear(self) -> None:
        """Forget them."""


class SqlitePart:
    """A part of a SQLite store: collects changes, and writes them when the store is flushed."""

    changes: tuple[Changes, ...] = ()
    """All that waits for the next flush, and what is known of it alone."""

    def __init__(self, access: SqliteAccess) -> None:
        self._access = access
        self._db = access.db
        self._read = access.read

    @property
    def unwritten(self) -> int:
        """The number of changes that wait for the next flush."""
        return sum(len(one) for one in self.changes)

    def write_changes(self) -> None:
        """Write what waits; called inside the transaction of a flush."""
        raise NotImplementedError

    def forget_changes(self) -> None:
        """Clear the changes, because the transaction of `write_changes` succeeded."""
        for one in self.changes:
            one.clear()
