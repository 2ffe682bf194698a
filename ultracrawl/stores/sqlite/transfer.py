"""Copies all stores of a project out of SQLite files, and into new ones; see `TransferEngine`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Any, cast, get_type_hints

from ultracrawl.stores.port.documents import Retained
from ultracrawl.stores.port.transfer import select_all
from ultracrawl.stores.rows import (
    PLACES,
    OrderRow,
    PausedRow,
    RetainedRow,
    Row,
    ScheduleRow,
    ScheduleRunRow,
    UrlRow,
)
from ultracrawl.stores.sqlite.database import Files, Rewritten, connect, lock_file, transaction, translated
from ultracrawl.stores.sqlite.records import COLUMNS, READ_COLUMNS, row_of, stored_record
from ultracrawl.stores.sqlite.shared import SCHEDULES, SITES, open_tables

if TYPE_CHECKING:
    from ultracrawl.stores.port.transfer import R

_KEY_OF, _ID_OF = "(SELECT key FROM url WHERE url.id={table}.id)", "(SELECT id FROM url WHERE key=?)"
_IS_KNOWN = "id IN (SELECT id FROM url)"
"""A table with row ids of URLs has the keys of these URLs in its rows."""
_OF_SCHEDULES = (ScheduleRow, ScheduleRunRow, PausedRow, OrderRow)
_EMPTIED = (
    (SITES, ("crawl", "site", "waiting", "robots", "session")),
    (SCHEDULES, ("schedule", "run", "paused", "command")),
)
_SELECT_URLS = f"SELECT id, site, {READ_COLUMNS} FROM url ORDER BY id"  # noqa: S608 - constant names
_INSERT_URL = f"INSERT INTO url (id, key, site, {COLUMNS}) VALUES (?,?,?{',?' * len(COLUMNS.split(', '))})"  # noqa: S608 - as above


class _Databases:
    """The open files: those that are shared, and one of a source at a time."""

    def __init__(self, files: Files, opened: ExitStack, *, read_only: bool) -> None:
        self.sources = sorted(files.sources)
        self._files = files
        for source, path in files.sources.items():
            opened.enter_context(closing(lock_file(path, source)))
        paths = (files.sites, files.schedules)
        self._shared = [
            opened.enter_context(closing(open_tables(kind, path, read_only=read_only, renew=False)[0]))
            for (kind, _), path in zip(_EMPTIED, paths, strict=True)
        ]
        self._source, self._db = "", self._shared[0]
        opened.callback(self._close)

    def _of(self, kind: type[Row], source: str) -> sqlite3.Connection:
        """Return the file with the rows of a kind."""
        if not source:
            return self._shared[kind in _OF_SCHEDULES]
        if source != self._source:
            self._close()
            self._db = connect(str(self._files.sources[source]), read_only=False)
            self._source = source
        return self._db

    def _close(self) -> None:
        if self._source:
            self._db.close()
            self._source = ""


class SqliteExport(_Databases):
    """Reads the files of a project; see `StoreExport`."""

    def rows(self, kind: type[R], source: str = "") -> Iterator[R]:
        """Yield the rows of a kind."""
        db = self._of(kind, source)
        with translated(db):
            for row in self._read(db, kind, source):
                yield cast("R", row)

    def _read(self, db: sqlite3.Connection, kind: type[Row], source: str) -> Iterator[Row]:
        if kind is UrlRow:
            for number, site, *row in db.execute(_SELECT_URLS):
                yield UrlRow(number, row[0], site, stored_record(tuple(row), source))
        elif kind is RetainedRow:
            for purpose in Retained:
                for row in db.execute(f"SELECT key, document FROM {purpose.value} ORDER BY key"):  # noqa: S608 - a constant name
                    yield RetainedRow(purpose.value, *row)
        else:
            flags = [number for number, one in enumerate(get_type_hints(kind).values()) if one is bool]
            for row in db.execute(_select(kind)):
                values = list(row)
                for number in flags:
                    values[number] = bool(values[number])
                yield kind(*values)


class SqliteImport(_Databases):
    """Writes the files of a project; see `StoreImport`."""

    def write(self, kind: type[R], rows: Sequence[R], source: str = "") -> None:
        """Add rows."""
        db = self._of(kind, source)
        with translated(db), transaction(db):
            for statement, values in _statements(kind, rows):
                db.executemany(statement, values)

    def count(self, kind: type[Row], source: str = "") -> int:
        """Return the number of rows."""
        db = self._of(kind, source)
        tables = [one.value for one in Retained] if kind is RetainedRow else [PLACES[kind].sqlite.table]
        with translated(db):
            return sum(db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables)  # noqa: S608 - names of ours

    def empty_shared(self) -> None:
        """Delete what the files that sources share have."""
        for db, (_, tables) in zip(self._shared, _EMPTIED, strict=True):
            with translated(db), transaction(db):
                for table in tables:
                    db.execute(f"DELETE FROM {table}")  # noqa: S608 - names of ours

    def finish(self) -> None:
        """Write what is still in logs into the files."""
        for source in self.sources:
            db = self._of(UrlRow, source)
            with translated(db):
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _statements(kind: type[Row], rows: Iterable[Any]) -> Iterator[tuple[str, list[Row]]]:
    """Yield statements with the values of each row."""
    if kind is UrlRow:
        yield _INSERT_URL, [(row.number, *row_of(row.key, row.site, row.record)) for row in rows]
    elif kind is RetainedRow:
        for purpose in Retained:
            values = [row[1:] for row in rows if row.purpose == purpose.value]
            yield f"INSERT INTO {purpose.value} (key, document) VALUES (?,?)", values  # noqa: S608 - a constant name
    else:
        table, columns, _ = PLACES[kind].sqlite
        taken = ", ".join(_ID_OF if name == "id" else "?" for name in columns)
        yield f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({taken})", list(rows)  # noqa: S608 - names of ours


def _select(kind: type[Row]) -> str:
    place = PLACES[kind].sqlite
    names = [_KEY_OF.format(table=place.table) if name == "id" else name for name in place.columns]
    query = select_all(place._replace(columns=tuple(names)), of_source=True)
    return Rewritten()[query.replace("{own}", _IS_KNOWN) if "id" in place.columns else query]


@contextmanager
def export_files(files: Files) -> Iterator[SqliteExport]:
    """Open the files of a project to be read; nobody writes to those of its sources meanwhile."""
    with ExitStack() as opened:
        yield SqliteExport(files, opened, read_only=True)


@contextmanager
def import_files(files: Files) -> Iterator[SqliteImport]:
    """Create the files of sources, which must not exist, and empty the shared ones."""
    with ExitStack() as opened:
        databases = SqliteImport(files, opened, read_only=False)
        databases.empty_shared()
        yield databases
