"""Connections for single requests, kept open between them: who looks at a thousand sources connects once."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from ultracrawl.errors import StateError
from ultracrawl.stores.postgresql.access.connecting import PostgresAddress
from ultracrawl.stores.postgresql.access.database import Database, Query, Row


class ConnectionPool:
    """The connections of this process to one schema, each lent to one thread at a time; `pool_of` makes pools."""

    def __init__(self, address: PostgresAddress) -> None:
        self.address = address
        self._has_tables = False
        self._own_connections()

    def _own_connections(self) -> None:
        self._process, self._idle = os.getpid(), list[Database]()
        weakref.finalize(self, _close, self._process, self._idle)

    @contextmanager
    def connection(self, patience: float = 0.0) -> Iterator[Database]:
        """Lend a connection; a lost one is tried again for `patience` seconds. Raises `StateError`."""
        if self._process != os.getpid():
            self._own_connections()  # those of the process that forked this one are not to be used here
        idle = self._idle
        database = idle.pop() if idle else Database(self.address, first_patience=patience)
        database.patience = patience
        try:
            yield database
        except BaseException:
            database.close()
            raise
        idle.append(database)

    def read(self, query: Query, *values: object) -> list[Row]:
        """Run one statement that changes nothing, and return its rows; none without tables. Raises `StateError`."""
        with self.connection() as database:
            return database.read(query, *values) if self.has_tables(database) else []

    def read_sources(self, condition: Query, *values: object) -> list[str]:
        """Return names of sources in order; an earlier version has their table, too, so that a crawl finds it."""
        with self.connection() as database:
            if not self._has_tables and not database.has_schema(earlier=True):
                return []
            return [name for (name,) in database.read(b"SELECT name FROM source " + condition, *values)]

    def has_tables(self, database: Database) -> bool:
        """Return whether the tables exist; once they do, without a request."""
        self._has_tables = self._has_tables or database.has_schema()
        return self._has_tables

    def has_table(self, database: Database, name: str) -> bool:
        """Return whether a table exists, in this version of the tables or in an earlier one."""
        try:
            return self.has_tables(database)
        except StateError:
            if not database.has_schema(earlier=True):
                return False
            return bool(database.read(b"SELECT to_regclass(%s) IS NOT NULL", name)[0][0])

    def require_tables(self, database: Database) -> None:
        """Create the tables, or bring them to this version; once that was done, without a request."""
        if not self._has_tables:
            database.require_schema()
            self._has_tables = True


@lru_cache(maxsize=2)
def pool_of(address: PostgresAddress) -> ConnectionPool:
    """Return the pool of an address. The last two are kept; others live as long as somebody has them."""
    return ConnectionPool(address)


def _close(process: int, connections: list[Database]) -> None:
    if process == os.getpid():
        for database in connections:
            database.close()
