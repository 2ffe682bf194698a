"""Copies all stores of a project out of a schema, and into one with COPY; see `TransferEngine`."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import Any, NamedTuple, cast
from uuid import uuid4

import psycopg

from ultracrawl.errors import StateError
from ultracrawl.model import UrlOutcome
from ultracrawl.stores.port.documents import Retained
from ultracrawl.stores.port.leases import RENEW_SECONDS
from ultracrawl.stores.port.transfer import OF_PROJECT, OF_SOURCE, R, select_all
from ultracrawl.stores.postgresql.access.connecting import PostgresAddress
from ultracrawl.stores.postgresql.access.database import Database
from ultracrawl.stores.postgresql.access.fencing import statements_about, take_part
from ultracrawl.stores.postgresql.codes import PURPOSE_NUMBERS, purpose_of
from ultracrawl.stores.postgresql.record_row import (
    CODES,
    COLUMNS,
    READ_COLUMNS,
    READ_JOINS,
    removal_row,
    row_of,
)
from ultracrawl.stores.postgresql.records import text_hash
from ultracrawl.stores.rows import PLACES, QueueRow, RetainedRow, RevisitRow, Row, UrlRow
from ultracrawl.stores.state.records import record_of

HELD_SECONDS = 120.0
"""Seconds for which sources are held: longer than a crawl's lease, as one statement may take long here."""

_NUMBERS = b"SELECT name, source FROM source"
_RENEW = b"UPDATE part SET until = moment() + %s WHERE source = ANY(%s) AND part = 0 AND token = %s RETURNING source"
_RELEASE = b"UPDATE part SET token = NULL, until = 0 WHERE source = ANY(%s) AND part = 0 AND token = %s"
_RENEWED_ROWS = 1000
"""Number of rows after which the leases are looked at."""
_ADD_SOURCES = b"INSERT INTO source (name) SELECT unnest(%s::text[])"
_ADD_PARTS = b"""
    INSERT INTO part (source, part) SELECT source, 0 FROM source WHERE name = ANY(%s) ON CONFLICT DO NOTHING"""
_SET_NUMBERED = """
    UPDATE part SET numbered = (SELECT coalesce(max(number), 0) FROM url WHERE {own}) WHERE {own}"""
_NARROW = ("content", "shown", "redirected", "submitted", "removal", "host")
"""The tables that are made of those of the kinds."""


class Table(NamedTuple):
    """A table with rows of one kind."""

    name: str
    columns: str
    """Its columns that are written, without source and part."""
    select: str
    """The query of all rows, with the fields of the kind in their order; `{own}` is the source."""


def _table(kind: type[Row], select: str = "") -> Table:
    """Return the table of a kind whose columns are its fields."""
    place, of_source = PLACES[kind].postgresql, PLACES[kind].of_source
    return Table(place.table, ", ".join(place.columns), select or select_all(place, of_source=of_source))


TABLES: Mapping[type[Row], Table] = {
    **{kind: _table(kind) for kind in PLACES},
    UrlRow: Table(
        "url",
        COLUMNS,
        # Without an order: rows stand about as they were discovered, and sorting them would take as much room again.
        f"SELECT u.number, w.name, {READ_COLUMNS} FROM url u JOIN host w ON {{w}} AND w.site = u.site {READ_JOINS}",  # noqa: S608 - constant names
    ),
    RevisitRow: _table(
        RevisitRow,
        """
        SELECT r.key, seen, first_at, last_at, checks, changes, quiet, modified, markup, coalesce(changefreq, ''),
        priority, coalesce(told, 0) FROM revisit r JOIN url u ON {u} AND u.key = r.key WHERE {r}""",
    ),
    QueueRow: _table(
        QueueRow,
        """
        SELECT w.name, q.level, q.rank, q.depth, q.seq, q.key, q.hops FROM queue q
        JOIN host w ON {w} AND w.site = q.site JOIN url u ON {u} AND u.key = q.key WHERE {q}
        ORDER BY w.name, q.level, q.rank, q.depth, q.seq""",
    ),
}
"""The table of each kind of rows."""
SHARED_TABLES = ("waiting", *(TABLES[kind].name for kind in OF_PROJECT))
"""The tables that sources share, beside that of crawls, whose numbers are never given twice."""


class HeldSources:
    """The sources of a schema with their numbers, all held. Raises `UserError` if one is being crawled."""

    def __init__(self, database: Database) -> None:
        self.numbers: Mapping[str, int] = dict(sorted(database.read(_NUMBERS)))
        self._database = database
        self._token = uuid4()
        self._renewed = time.monotonic()
        database.transact(
            lambda db: [
                take_part(db, number, name, self._token, HELD_SECONDS)
                for name, number in sorted(self.numbers.items(), key=lambda one: one[1])
            ]
        )

    def renew(self) -> None:
        """Keep the sources, if that was not done for some seconds. Raises `StateError` if one was taken over."""
        if time.monotonic() - self._renewed < RENEW_SECONDS:
            return
        self._renewed = time.monotonic()
        numbers = sorted(self.numbers.values())
        if len(self._database.read(_RENEW, HELD_SECONDS, numbers, self._token)) < len(numbers):
            raise StateError("another process has taken over a source that is being copied; copy it again")

    def close(self) -> None:
        """Give the sources back."""
        with suppress(StateError):  # their leases end by themselves
            self._database.read(_RELEASE, sorted(self.numbers.values()), self._token)


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
        return UrlRow(number, record[0], site, record_of(tuple(record), source, CODES))
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


class PostgresImport:
    """Writes a schema; see `StoreImport`."""

    def __init__(self, held: HeldSources, database: Database) -> None:
        self._held, self._database = held, database
        self._hosts: dict[int, dict[str, int]] = {}
        """The numbers of sites by the number of the source."""

    def write(self, kind: type[R], rows: Sequence[R], source: str = "") -> None:
        """Add rows."""
        number = self._held.numbers.get(source, 0)
        self._database.transact(lambda db: self._write(db, kind, rows, number))
        self._held.renew()

    def _write(self, db: psycopg.Connection, kind: type[Row], rows: Sequence[Any], number: int) -> None:
        values: Sequence[Sequence[object]] = rows
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
