"""The tables that sources share, in a schema: see `SharedTables`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import psycopg

from ultracrawl.stores.postgresql.access.database import Database
from ultracrawl.stores.shared.tables import Row, Statements

T = TypeVar("T")


class PostgresStatements:
    """Statements of one transaction; see `Statements`."""

    def __init__(self, db: psycopg.Connection) -> None:
        self._db = db

    def run(self, statement: str, *values: object) -> None:
        """Run a statement; nothing waits for it if several are sent together."""
        self._db.execute(statement.encode(), values)

    def rows(self, statement: str, *values: object) -> list[Row]:
        """Return the rows of a query."""
        return self._db.execute(statement.encode(), values).fetchall()


class PostgresTables:
    """A connection to a schema; see `SharedTables`."""

    renewed = ""
    """PostgreSQL repairs itself: nothing is ever set aside."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self, statement: str, *values: object) -> list[Row]:
        """Run one statement, on a new connection if that was lost."""
        return self._database.read(statement.encode(), *values)

    def transact(self, work: Callable[[Statements], T]) -> T:
        """Run a function in a transaction, on a new connection if that was lost."""
        return self._database.transact(lambda db: work(PostgresStatements(db)))

    def close(self) -> None:
        """Close the connection."""
        self._database.close()
