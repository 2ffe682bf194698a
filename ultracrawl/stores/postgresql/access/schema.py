"""Creates the tables of a schema, and changes those of an earlier version."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import psycopg
from psycopg import sql

from ultracrawl.errors import StateError

SCHEMA = Path(__file__).with_name("schema.sql")
"""The tables."""
VERSION = 5
"""The version of `SCHEMA`, which is stored beside its tables."""
MIGRATIONS: Mapping[int, str] = {
    2: """
    CREATE TABLE node (
        name text COLLATE "C" PRIMARY KEY,
        token uuid,
        machine text NOT NULL DEFAULT '',
        process text NOT NULL DEFAULT '',
        host text NOT NULL DEFAULT '',
        program text NOT NULL DEFAULT '',
        version integer NOT NULL DEFAULT 0,
        draining boolean NOT NULL DEFAULT false,
        until double precision NOT NULL DEFAULT 0
    ) WITH (fillfactor = 50);
    CREATE TABLE taken (plan text COLLATE "C" PRIMARY KEY, token uuid NOT NULL, sources text[] NOT NULL);""",
    3: """
        CREATE TABLE note (
            kind text COLLATE "C" NOT NULL, source text COLLATE "C" NOT NULL, name text COLLATE "C" NOT NULL,
            text bytea NOT NULL, token uuid, machine text NOT NULL DEFAULT '', process text NOT NULL DEFAULT '',
            until double precision NOT NULL DEFAULT 0,
            PRIMARY KEY (kind, source, name)
        ) WITH (fillfactor = 50)""",
    4: "CREATE TABLE epoch (last bigint NOT NULL); INSERT INTO epoch (last) VALUES (0)",
    5: """
        ALTER TABLE node ADD COLUMN told text NOT NULL DEFAULT '{}';
        CREATE TABLE release (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, files text NOT NULL);
        CREATE TABLE released (source text COLLATE "C" PRIMARY KEY, digest text NOT NULL, release bigint NOT NULL)""",
}
"""The statements that make a version, by its number, from the one before it."""
_LOCK = 0x756C_7472_6163_7261
"""The advisory lock under which tables are created; nothing else takes it."""


def require_schema(db: psycopg.Connection, schema: str) -> None:
    """Create the schema and its tables, or bring them to this version. Raises `StateError`, `psycopg.Error`."""
    if _stored_version(db, schema) == VERSION:
        return
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        version = _stored_version(db, schema)  # again: another process may have been faster
        _refuse_newer(version)
        if not version:
            db.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))
            db.execute(SCHEMA.read_bytes())
            db.execute("INSERT INTO version (number) VALUES (%s)", [VERSION])
            return
        for number in range(version + 1, VERSION + 1):
            db.execute(MIGRATIONS[number].encode())
        db.execute("UPDATE version SET number = %s", [VERSION])


def has_schema(db: psycopg.Connection, schema: str, *, earlier: bool = False) -> bool:
    """Return whether the tables exist in this version, or in an `earlier` one.

    Raises `StateError` if they are of another one.
    """
    version = _stored_version(db, schema)
    _refuse_newer(version)
    if version and version < VERSION and not earlier:
        raise StateError(
            f"the schema {schema!r} was written by an earlier version ({version}, here {VERSION}); "
            "the next crawl brings it up to date"
        )
    return bool(version)


def _refuse_newer(version: int) -> None:
    if version > VERSION:
        raise StateError(f"the state was written by a newer version (schema {version}, here {VERSION})")


def _stored_version(db: psycopg.Connection, schema: str) -> int:
    table = sql.Identifier(schema, "version")
    row = db.execute("SELECT to_regclass(%s) IS NOT NULL", [table.as_string(db)]).fetchone()
    if row is None or not row[0]:
        return 0
    found = db.execute(sql.SQL("SELECT number FROM {}").format(table)).fetchone()
    return int(found[0]) if found else 0
