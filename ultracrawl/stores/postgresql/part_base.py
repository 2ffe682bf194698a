"""The base of the parts of a store: gathers changes, and writes them when the store is flushed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import psycopg

from ultracrawl.stores.postgresql.access.database import Row
from ultracrawl.stores.postgresql.access.fencing import SourceDatabase
from ultracrawl.stores.sqlite.read_ahead import RecordCache


class Changes(Protocol):
    """A dict, list or set of unflushed changes."""

    def __len__(self) -> int:
        """Return their number."""

    def clear(self) -> None:
        """Remove them."""


class StoreAccess:
    """What the parts of a store share: the rows of the source, a cache of records, and `flush`, which flushes it."""

    def __init__(self, database: SourceDatabase, flush: Callable[[], None]) -> None:
        self.database = database
        self.flush = flush
        self.record_cache = RecordCache(keeps=not database.read_only)


class PostgresPart:
    """Base class of the parts of a store. What `write_changes` does may be repeated, so it changes no memory."""

    changes: tuple[Changes, ...] = ()
    """The collections of unflushed changes."""

    def __init__(self, access: StoreAccess) -> None:
        self._access = access
        self._database = access.database
        self._sql = access.database.sql
        self._record_cache = access.record_cache

    def _read(self, query: str, *values: object) -> list[Row]:
        return self._database.read(self._sql(query), *values)

    @property
    def unwritten(self) -> int:
        """The number of unflushed changes."""
        return sum(map(len, self.changes))

    def write_changes(self, db: psycopg.Connection) -> None:
        """Write the unflushed changes; called inside the transaction of a flush."""
        raise NotImplementedError

    def forget_changes(self) -> None:
        """Clear the changes after a committed flush."""
        for changes in self.changes:
            changes.clear()
