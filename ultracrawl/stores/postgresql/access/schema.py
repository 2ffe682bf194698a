"""Creates the tables of a schema, and changes those of an earlier version."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import psycopg
from psycopg import sql

from ultracrawl.errors import StateError

SCHEMA = Path(__file__).with_name("schema.sql")
"""The tables."""
VERSION = 7
"""The version of `SCHEMA`, which is stored beside its tables."""
LEAST = 6
"""The earliest version whose program still works with these tables, stored as well: machines get a newer program one by
one, and what an older one is crawling goes on. A step that an older program cannot work with raises it to its number.
"""
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
    6: "ALTER TABLE version ADD COLUMN least integer NOT NULL DEFAULT 0",
    7: """
        CREATE TABLE place (
            place integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE
        );
        ALTER TABLE submitted ADD COLUMN place integer NOT NULL DEFAULT 0;
        ALTER TABLE part ADD COLUMN place integer NOT NULL DEFAULT 0""",
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
        if not version:
            db.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))
            db.execute(SCHEMA.read_bytes())
            db.execute("INSERT INTO version (number, least) VALUES (%s, %s)", [VERSION, LEAST])
        elif version < VERSION:
            for number in range(version + 1, VERSION + 1):
                db.execute(MIGRATIONS[number].encode())
            db.execute("UPDATE version SET number = %s, least = %s", [VERSION, LEAST])


def has_schema(db: psycopg.Connection, schema: str, *, earlier: bool = False) -> bool:
    """Return whether the tables exist in this version, or in an `earlier` one.

    Raises `StateError` if they are of one that this program cannot work with.
    """
    version = _stored_version(db, schema)
    if version and version < VERSION and not earlier:
        raise StateError(
            f"the schema {schema!r} was written by an earlier version ({version}, here {VERSION}); "
            "the next crawl brings it up to date"
        )
    return bool(version)


def _stored_version(db: psycopg.Connection, schema: str) -> int:
    """Return the version of the tables, 0 if there are none. Raises `StateError` if it is too new for this program."""
    table = sql.Identifier(schema, "version")
    row = db.execute("SELECT to_regclass(%s) IS NOT NULL", [table.as_string(db)]).fetchone()
    if row is None or not row[0]:
        return 0
    # As an object, because earlier versions have no `least`.
    stored = db.execute(sql.SQL("SELECT to_jsonb(version) FROM {} version").format(table)).fetchone()
    version = stored[0] if stored else {"number": 0}
    if version["number"] > VERSION and version.get("least", version["number"]) > VERSION:
        raise StateError(
            f"the state was written by a newer version (schema {version['number']}, here {VERSION}); "
            "update ultracrawl here, or restore a backup that this version has made"
        )
    return int(version["number"])
