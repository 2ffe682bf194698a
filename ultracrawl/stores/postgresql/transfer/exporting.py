"""Reads all stores of a project out of a schema."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import cast

from ultracrawl.stores.port.transfer import R
from ultracrawl.stores.postgresql.access.connecting import PostgresAddress
from ultracrawl.stores.postgresql.access.database import Database
from ultracrawl.stores.postgresql.access.fencing import statements_about
from ultracrawl.stores.postgresql.codes import purpose_of
from ultracrawl.stores.postgresql.record_row import record_of
from ultracrawl.stores.postgresql.transfer.sources import HeldSources
from ultracrawl.stores.postgresql.transfer.tables import TABLES
from ultracrawl.stores.rows import RetainedRow, Row, UrlRow

_RENEWED_ROWS = 1000
"""Number of rows after which the leases are looked at."""


class PostgresExport:
    """Reads a schema; see `StoreExport`."""

    def __init__(self, held: HeldSources, database: Database) -> None:
        """`database` is read in one snapshot."""
        self.sources = sorted(held.numbers)
        self._held, self._database = held, database

    def rows(self, kind: type[R], source: str = "") -> Iterator[R]:
        """Yield the rows of a kind."""
        complete = statements_about(self._held.numbers.get(source, 0))
        for number, row in enumerate(self._database.stream(complete(TABLES[kind].select))):
            if not number % _RENEWED_ROWS:
                self._held.renew()
            yield cast(R, _read(kind, row, source))


def _read(kind: type[Row], row: Row, source: str) -> Row:
    if kind is UrlRow:
        number, site, *record = row
        return UrlRow(number, record[0], site, record_of(tuple(record), source))
    if kind is RetainedRow:
        return RetainedRow(purpose_of(row[0]).value, *row[1:])
    return kind(*row)


@contextmanager
def export_schema(address: PostgresAddress, database: Database) -> Iterator[PostgresExport]:
    """Hold all sources, and read the schema in one snapshot; `database` is a connection for the leases."""
    with ExitStack() as opened:
        held = opened.enter_context(closing(HeldSources(database)))
        reader = opened.enter_context(closing(Database(address, read_only=True)))
        opened.enter_context(reader.snapshot())
        yield PostgresExport(held, reader)
