"""Saves all tables of a schema to files, and replaces them by saved ones: backups of a project."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from ultracrawl.errors import UserError
from ultracrawl.stores.postgresql.access.connecting import PostgresAddress
from ultracrawl.stores.postgresql.access.database import Database
from ultracrawl.stores.postgresql.access.schema import VERSION

CONTENTS = "contents.json"
"""The file that says which version of the schema was saved, and the columns of each file `TABLE.copy`."""
_NEVER_EMPTY = "epoch"
"""A table with one row from the beginning, which stays if an earlier version saved none."""
_PIECE = 1 << 20
_COLUMNS = b"""
    SELECT table_name, column_name, is_identity = 'YES' FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name <> 'version' ORDER BY table_name, ordinal_position"""
_PATIENT = b"SET LOCAL idle_in_transaction_session_timeout = 0"
_IN_ONE_MOMENT = b"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"

Tables = dict[str, list[str]]
"""The columns of each table."""


def save_schema(address: PostgresAddress, target: Path) -> None:
    """Write the rows of all tables, as they are at one moment, to a new folder. Raises `StateError`, `OSError`."""
    target.mkdir(parents=True)
    version, tables = VERSION, dict[str, list[str]]()
    with closing(Database(address, read_only=True)) as database:
        if database.has_schema():
            version, tables = database.transact(lambda db: _save_tables(db, target))
    (target / CONTENTS).write_text(json.dumps({"version": version, "tables": tables}))


def _save_tables(db: psycopg.Connection, target: Path) -> tuple[int, Tables]:
    db.execute(_IN_ONE_MOMENT)
    db.execute(_PATIENT)  # the disk may be slow
    tables, _ = _tables(db)
    for table, columns in tables.items():
        copied = db.cursor().copy(_copy("COPY {} ({}) TO STDOUT", table, columns))
        with _file_of(target, table).open("wb") as file, copied as rows:
            for piece in rows:
                file.write(piece)
    ((version,),) = db.execute(b"SELECT number FROM version").fetchall()
    return version, tables


@contextmanager
def restoring_schema(address: PostgresAddress, saved: Path, *, force: bool) -> Iterator[None]:
    """Replace the rows of all tables by saved ones when the block ends, and change nothing if it fails.

    What an earlier version saved has no values for later columns, which get their defaults. Raises `UserError` if a
    later one saved it, or for sources that are there, unless they are to go by `force`; `StateError`.
    """
    tables = _saved_tables(saved)
    with closing(Database(address)) as database:
        database.require_schema()
        with database.transaction() as db:
            db.execute(_PATIENT)
            own, numbered = _tables(db)
            if not force and db.execute(b"SELECT FROM source LIMIT 1").fetchall():
                raise UserError(f"{address.shown} contains data already; --force replaces it")
            if any(not {*columns} <= {*own.get(table, ())} for table, columns in tables.items()):
                raise UserError(
                    "the saved tables are not those of this version of ultracrawl, nor an earlier one"
                )
            emptied = [sql.Identifier(table) for table in own if table in tables or table != _NEVER_EMPTY]
            db.execute(sql.SQL("TRUNCATE {}").format(sql.SQL(", ").join(emptied)))
            for table, columns in tables.items():
                _load(db, saved, table, columns)
            for table, column in numbered:
                _count_on(db, table, column)
            yield
        for table in own:  # so that PostgreSQL plans well at once
            database.read(sql.SQL("ANALYZE {}").format(sql.Identifier(table)).as_bytes(None))


def _saved_tables(saved: Path) -> Tables:
    """Return the tables of a folder. Raises `UserError` if this version cannot read them."""
    contents: dict[str, Any] = json.loads((saved / CONTENTS).read_text())
    if contents["version"] > VERSION:
        raise UserError(
            f"the state was saved by a newer version (schema {contents['version']}, here {VERSION}); update ultracrawl"
        )
    tables: Tables = contents["tables"]
    return tables


def _load(db: psycopg.Connection, saved: Path, table: str, columns: Sequence[str]) -> None:
    copied = db.cursor().copy(_copy("COPY {} ({}) FROM STDIN", table, columns))
    with _file_of(saved, table).open("rb") as file, copied as rows:
        while piece := file.read(_PIECE):
            rows.write(piece)


def _count_on(db: psycopg.Connection, table: str, column: str) -> None:
    """Let the numbers of new rows follow those of the restored ones."""
    query = sql.SQL(
        "SELECT setval(pg_get_serial_sequence({}, {}), greatest(max({}), 1), max({}) IS NOT NULL) FROM {}"
    )
    name = sql.Identifier(column)
    db.execute(query.format(sql.Literal(table), sql.Literal(column), name, name, sql.Identifier(table)))


def _tables(db: psycopg.Connection) -> tuple[Tables, Sequence[tuple[str, str]]]:
    """Return the tables of the schema but that of its version, and the columns that number their rows."""
    tables: Tables = {}
    numbered = []
    for table, column, is_number in db.execute(_COLUMNS).fetchall():
        tables.setdefault(table, []).append(column)
        if is_number:
            numbered.append((table, column))
    return tables, numbered


def _copy(statement: str, table: str, columns: Sequence[str]) -> sql.Composed:
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    return sql.SQL(statement).format(sql.Identifier(table), names)


def _file_of(folder: Path, table: str) -> Path:
    return folder / f"{table}.copy"
