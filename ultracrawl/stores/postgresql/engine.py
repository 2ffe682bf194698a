"""The storage engine `postgresql`: all stores of a project in one schema of a database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path

from ultracrawl.errors import MissingExtraError, StateError, UserError

try:
    import psycopg
except ImportError as error:
    raise MissingExtraError("the state store `postgresql`", "postgresql") from error

from ultracrawl.stores.port.notes import NotesOf
from ultracrawl.stores.postgresql.access.connecting import PostgresAddress
from ultracrawl.stores.postgresql.access.database import Database, EmptyDatabase
from ultracrawl.stores.postgresql.access.fencing import SourceDatabase
from ultracrawl.stores.postgresql.access.pool import pool_of
from ultracrawl.stores.postgresql.saving import restoring_schema, save_schema
from ultracrawl.stores.postgresql.shared.node_store import PostgresNodeStore
from ultracrawl.stores.postgresql.shared.notes import PostgresNotes
from ultracrawl.stores.postgresql.shared.site_store import PostgresSiteStore
from ultracrawl.stores.postgresql.shared.tables import PostgresTables
from ultracrawl.stores.postgresql.store import PostgresStore
from ultracrawl.stores.postgresql.transfer import (
    PostgresExport,
    PostgresImport,
    export_schema,
    import_schema,
)
from ultracrawl.stores.shared.schedule_store import SqlScheduleStore

_FLUSH_NO = b"SELECT source, flush_no FROM source JOIN part USING (source) WHERE name = %s"
_NOTING = b"SELECT source FROM note WHERE kind = 'source' AND name = %s ORDER BY source"
_TABLES_OF_SOURCE = """
    SELECT table_name FROM information_schema.columns
    WHERE table_schema = current_schema() AND column_name = 'part' ORDER BY table_name"""


class PostgresEngine:
    """Keeps the stores of a project in a schema; see `StoreEngine` and the other protocols there.

    The folder of the state has what people load into it: lists, boosts, users.
    """

    def __init__(self, options: Mapping[str, str] | None = None) -> None:
        """Make an engine of the options `url`, `schema` and `password` of the state. Raises `UserError`."""
        given = dict(options or {})
        if not given.get("url"):
            raise UserError(
                "state.url is missing, which the state store `postgresql` needs; "
                "add `url: postgresql://user@host/database`"
            )
        address = PostgresAddress(
            given["url"], given.get("schema") or "ultracrawl", given.get("password", "")
        )
        address.check()
        self._pool = pool_of(address)

    # ---- stores

    def open_store(
        self, folder: Path, source: str, *, read_only: bool = False, renew: bool = False
    ) -> PostgresStore:
        """Open the store of one source."""
        return PostgresStore(self._pool.address, source, read_only=read_only)

    def open_sites(self, folder: Path, *, read_only: bool = False, renew: bool = False) -> PostgresSiteStore:
        """Open the shared store of sites."""
        return PostgresSiteStore(self._shared(read_only=read_only))

    def open_schedules(
        self, folder: Path, *, read_only: bool = False, renew: bool = False
    ) -> SqlScheduleStore:
        """Open the store of schedules."""
        return SqlScheduleStore(PostgresTables(self._shared(read_only=read_only)))

    def open_nodes(self, folder: Path, token: str = "", *, read_only: bool = False) -> PostgresNodeStore:
        """Open the store of nodes."""
        return PostgresNodeStore(self._shared(read_only=read_only), token)

    def _shared(self, *, read_only: bool) -> Database:
        """Return a connection to the tables that sources share; who only reads needs none, and creates none."""
        database = Database(self._pool.address, read_only=read_only)
        try:
            if not read_only:
                database.require_schema()
            elif not database.has_schema():
                database.close()
                return EmptyDatabase(self._pool.address, read_only=True)
        except BaseException:
            database.close()
            raise
        return database

    # ---- sources

    def has_store(self, folder: Path, source: str) -> bool:
        """Return whether a source has rows."""
        return bool(self._pool.read_sources(b"WHERE name = %s", source))

    def stored_sources(self, folder: Path) -> list[str]:
        """Return the sources that have rows."""
        return self._pool.read_sources(b"ORDER BY name")

    def remove_store(self, folder: Path, source: str) -> None:
        """Delete the rows of a source."""

        def remove(db: psycopg.Connection) -> None:
            for (number,) in db.execute(
                b"SELECT source FROM source WHERE name = %s FOR UPDATE", [source]
            ).fetchall():
                tables = db.execute(_TABLES_OF_SOURCE.encode()).fetchall()
                for (table,) in tables:
                    db.execute(f"DELETE FROM {table} WHERE source = %s".encode(), [number])  # noqa: S608 - names of ours
                db.execute(b"DELETE FROM source WHERE source = %s", [number])

        with self._pool.connection() as database:
            database.transact(remove)

    def lock_source(self, folder: Path, source: str) -> AbstractContextManager[object]:
        """Hold the token of a source; one without rows has none."""
        if not self.has_store(folder, source):
            return nullcontext()
        return closing(SourceDatabase(self._pool.address, source))

    def rename_store(self, folder: Path, source: str, new: str) -> None:
        """Rename a source."""
        if not self.has_store(folder, source):
            return
        if self.has_store(folder, new):
            raise StateError(f"the state has a source {new!r} already")
        with self._pool.connection() as database:
            database.read(b"UPDATE source SET name = %s WHERE name = %s", new, source)

    # ---- copying

    @contextmanager
    def exporting(self, folder: Path) -> Iterator[PostgresExport]:
        """Hold all sources, and read the schema."""
        with (
            closing(self._shared(read_only=False)) as leases,
            export_schema(self._pool.address, leases) as rows,
        ):
            yield rows

    @contextmanager
    def importing(self, folder: Path, sources: Sequence[str]) -> Iterator[PostgresImport]:
        """Add sources, and hold them."""
        with closing(self._shared(read_only=False)) as database, import_schema(database, sources) as rows:
            yield rows

    def save_stores(self, folder: Path, target: Path) -> None:
        """Write all tables to files."""
        save_schema(self._pool.address, target)

    def restoring_stores(
        self, folder: Path, saved: Path, *, force: bool = False
    ) -> AbstractContextManager[None]:
        """Replace the rows of all tables when the block ends."""
        return restoring_schema(self._pool.address, saved, force=force)

    # ---- notes

    def noting_sources(self, folder: Path, name: str) -> list[str]:
        """Return the sources that have a note of this name."""
        with self._pool.connection() as database:
            if not self._pool.has_table(database, "note"):
                return []
            return [source for (source,) in database.read(_NOTING, name)]

    def open_notes(self, folder: Path, source: str, of: NotesOf = NotesOf.SOURCE) -> PostgresNotes:
        """Return the notes of an owner, which are rows as well."""
        return PostgresNotes(self._pool, source, of)

    def state_version(self, folder: Path, source: str) -> object | None:
        """Return the number of the last flush."""
        return self._pool.read(_FLUSH_NO, source) or None
