"""What PostgreSQL gives the parts of a store: the rows of a source, and the transactions that write them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, TypeVar

import psycopg

from ultracrawl.model import UrlOutcome
from ultracrawl.stores.postgresql.access.database import STREAMED_ROWS, Query, Row
from ultracrawl.stores.postgresql.access.fencing import SourceDatabase, run_for
from ultracrawl.stores.postgresql.codes import OUTCOME_NUMBERS, outcome_of
from ultracrawl.stores.state.read_ahead import RecordCache

ROWS_AT_ONCE = 20_000
"""Rows of one or two narrow columns that are fetched together, about 1 MB."""

T = TypeVar("T")


class PostgresWriting:
    """An open transaction; see `Writing`."""

    def __init__(self, connection: psycopg.Connection, sql: Callable[[str], Query]) -> None:
        self.connection = connection
        self._sql = sql

    def run(self, statement: str, rows: Collection[Sequence[object]], /) -> None:
        """Run a statement that takes the columns of rows as arrays; without rows do nothing."""
        run_for(self.connection, self._sql(statement), rows)

    def execute(self, statement: str, values: Sequence[object] = (), /) -> psycopg.Cursor[Row]:
        """Run a statement once."""
        return self.connection.execute(self._sql(statement), values)


class StoreAccess:
    """What the parts of a store share: the rows of the source, a cache of records, and `flush`; see `Access`."""

    def __init__(self, database: SourceDatabase, flush: Callable[[], None]) -> None:
        self.database = database
        self.flush = flush
        self.record_cache = RecordCache(keeps=not database.read_only)
        self.place = 0
        """The number of the document cache that is written to."""
        self.elsewhere = set[int]()

    def read(self, query: str, /, *values: object) -> list[Row]:
        """Return the rows of a query."""
        return self.database.read(self.database.sql(query), *values)

    def stream(self, query: str, /, *values: object, narrow: bool = False) -> Iterator[Row]:
        """Yield the rows of a query of any size."""
        at_once = ROWS_AT_ONCE if narrow else STREAMED_ROWS
        return self.database.stream(self.database.sql(query), *values, at_once=at_once)

    def many(self, values: list[Any], /) -> object:
        """Return the list: it is sent as an array."""
        return values

    def stored_outcome(self, outcome: UrlOutcome) -> int:
        """Return the number of an outcome."""
        return OUTCOME_NUMBERS[outcome]

    def outcome_of(self, stored: int) -> UrlOutcome:
        """Return the outcome of a number. Raises `StateError`."""
        return outcome_of(stored)

    def writing(self, connection: psycopg.Connection) -> PostgresWriting:
        """Return the transaction that a connection has open."""
        return PostgresWriting(connection, self.database.sql)

    def write(self, work: Callable[[PostgresWriting], T], /, *, whole: bool = False) -> T:
        """Run a function in a fenced transaction."""
        run = self.database.write_whole if whole else self.database.write
        return run(lambda connection: work(self.writing(connection)))
