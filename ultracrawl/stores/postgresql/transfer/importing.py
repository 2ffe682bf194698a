"""Writes all stores of a project into a schema, with COPY."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from typing import Any

import psycopg

from ultracrawl.model import UrlOutcome
from ultracrawl.stores.port.documents import Retained
from ultracrawl.stores.port.transfer import OF_SOURCE, R
from ultracrawl.stores.postgresql.access.database import Database
from ultracrawl.stores.postgresql.access.fencing import statements_about
from ultracrawl.stores.postgresql.codes import PURPOSE_NUMBERS
from ultracrawl.stores.postgresql.record_row import removal_row, row_of
from ultracrawl.stores.postgresql.records import text_hash
from ultracrawl.stores.postgresql.transfer.sources import HeldSources
from ultracrawl.stores.postgresql.transfer.tables import SHARED_TABLES, TABLES
from ultracrawl.stores.rows import QueueRow, RetainedRow, RevisitRow, Row, UrlRow

_ROWS = 5000
"""Number of rows of a transaction."""
_ADD_SOURCES = b"INSERT INTO source (name) SELECT unnest(%s::text[])"
_ADD_PARTS = b"""
    INSERT INTO part (source, part) SELECT source, 0 FROM source WHERE name = ANY(%s) ON CONFLICT DO NOTHING"""
_SET_NUMBERED = """
    UPDATE part SET numbered = (SELECT coalesce(max(number), 0) FROM url WHERE {own}) WHERE {own}"""
_NARROW = ("content", "shown", "redirected", "submitted", "removal", "host")
"""The tables that are made of those of the kinds."""


class PostgresImport:
    """Writes a schema; see `StoreImport`."""

    def __init__(self, held: HeldSources, database: Database) -> None:
        self._held, self._database = held, database
        self._hosts: dict[int, dict[str, int]] = {}
        """The numbers of sites by the number of the source."""

    def write(self, kind: type[R], rows: Iterable[R], source: str = "") -> None:
        """Add rows."""
        number, left = self._held.numbers.get(source, 0), iter(rows)
        while piece := list(islice(left, _ROWS)):
            self._database.transact(lambda db, piece=piece: self._write(db, kind, piece, number))  # type: ignore[misc]  # a default binds the piece
            self._held.renew()

    def _write(self, db: psycopg.Connection, kind: type[Row], rows: list[Any], number: int) -> None:
        if kind is UrlRow:
            hosts = self._numbers_of(db, {row.site for row in rows}, number)
            values = [row_of(row.key, row.number, hosts[row.site], row.record) for row in rows]
            self._write_narrow(db, rows, number)
        elif kind is QueueRow:
            hosts = self._numbers_of(db, {row.site for row in rows}, number)
            values = [(hosts[row.site], *row[1:]) for row in rows]
        elif kind is RetainedRow:
            values = [(PURPOSE_NUMBERS[Retained(row.purpose)], *row[1:]) for row in rows]
        elif kind is RevisitRow:
            values = [row._replace(changefreq=row.changefreq or None, told=row.told or None) for row in rows]
        else:
            values = rows
        _copy(db, TABLES[kind].name, TABLES[kind].columns, values, number)

    def _numbers_of(self, db: psycopg.Connection, sites: Collection[str], number: int) -> dict[str, int]:
        """Return the numbers of sites, giving new ones to new sites."""
        known = self._hosts.get(number, {})
        added = dict(zip(sorted({*sites} - known.keys()), range(len(known) + 1, 1 << 31), strict=False))
        _copy(db, "host", "name, site", list(added.items()), number)
        self._hosts[number] = known | added
        return self._hosts[number]

    def _write_narrow(self, db: psycopg.Connection, rows: Sequence[UrlRow], number: int) -> None:
        """Write the rows by which records are found."""
        pairs = [(row.key, row.record) for row in rows]
        contents = [(record.fingerprint, key) for key, record in pairs if record.fingerprint]
        shown = [(text_hash(record.display_url), key) for key, record in pairs if record.display_url]
        redirected = [
            (text_hash(record.cause.subject), key)
            for key, record in pairs
            if record.outcome is UrlOutcome.REDIRECTED and record.cause.subject
        ]
        removals = [removal_row(key, record.removal) for key, record in pairs if record.removal is not None]
        _copy(db, "content", "fingerprint, key", contents, number)
        _copy(db, "shown", "display_hash, key", shown, number)
        _copy(db, "redirected", "target_hash, key", redirected, number)
        _copy(db, "submitted", "key", [(key,) for key, record in pairs if record.submitted], number)
        _copy(db, "removal", "key, reason, cause", removals, number)

    def count(self, kind: type[Row], source: str = "") -> int:
        """Return the number of rows."""
        self._held.renew()
        own = " WHERE {own}" if source else ""
        query = f"SELECT count(*) FROM {TABLES[kind].name}{own}"  # noqa: S608 - names of ours
        return int(self._database.read(statements_about(self._held.numbers.get(source, 0))(query))[0][0])

    def finish(self) -> None:
        """Set the counters, and have PostgreSQL count its rows, so that it plans well at once."""
        for number in self._held.numbers.values():
            self._database.read(statements_about(number)(_SET_NUMBERED))
        for name in sorted({*SHARED_TABLES, *_NARROW, *(TABLES[kind].name for kind in OF_SOURCE)}):
            self._held.renew()
            self._database.read(f"ANALYZE {name}".encode())


def _copy(
    db: psycopg.Connection, table: str, columns: str, rows: Collection[Sequence[object]], number: int
) -> None:
    """Add rows to a table, with source and part if it is about a source."""
    if not rows:
        return
    names, ids = (f"source, part, {columns}", (number, 0)) if number else (columns, ())
    with db.cursor() as cursor, cursor.copy(f"COPY {table} ({names}) FROM STDIN".encode()) as copying:
        for row in rows:
            copying.write_row((*ids, *row))


@contextmanager
def import_schema(database: Database, sources: Sequence[str]) -> Iterator[PostgresImport]:
    """Add sources, which must not exist, hold them, and empty the shared tables."""
    database.transact(lambda db: _begin(db, sources))
    with closing(HeldSources(database)) as held:
        yield PostgresImport(held, database)


def _begin(db: psycopg.Connection, sources: Sequence[str]) -> None:
    db.execute(_ADD_SOURCES, [sorted(sources)])
    db.execute(_ADD_PARTS, [sorted(sources)])
    for table in SHARED_TABLES:
        db.execute(f"DELETE FROM {table}".encode())  # noqa: S608 - names of ours
