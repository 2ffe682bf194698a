"""SQLite files of the state: locking, connections, schema, errors and damage, and the base class of store parts."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, NamedTuple, TypeVar

from ultracrawl.errors import StateDamagedError, StateError, UserError
from ultracrawl.model import UrlOutcome
from ultracrawl.stores.state.read_ahead import RecordCache, Row
from ultracrawl.system.files import cause_and_remedy, full_disk, set_aside
from ultracrawl.system.wall_guard import LOCK_LIMIT

T = TypeVar("T")

MEMORY = ":memory:"
"""The path of an in-memory store."""


CHECKPOINT_PAGES = 8000
"""Pages of 4 KB in the write-ahead log (32 MB) that trigger a checkpoint; a page written often is copied once."""

SCHEMA = Path(__file__).with_name("schema.sql")
"""The schema of a file."""
SCHEMA_VERSION = 32
"""The version of `SCHEMA`."""
MIGRATIONS: Mapping[int, Sequence[str]] = {
    32: (
        "ALTER TABLE site RENAME TO known_site",
        "ALTER TABLE feed_link RENAME COLUMN only TO alone",
        "ALTER TABLE revisit RENAME COLUMN first TO first_at",
        "ALTER TABLE revisit RENAME COLUMN last TO last_at",
        "ALTER TABLE anchor_left RENAME COLUMN id TO number",
    ),
}
"""The statements that make a version, by its number, from the one before it; files of other versions are refused."""

COMPANIONS = ("-wal", "-shm")
"""Suffixes of the files that SQLite keeps beside a database."""

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_WAL_SECONDS = 10.0
"""Seconds for which a file is tried again that another connection is making."""
MIGRATION_SECONDS = 1.0
"""Seconds for which a file is asked again that another process may be bringing to this version."""
_NOT_WRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
_REMEDY = "the next crawl creates it again, and fetches every page again"


class ImpossibleValueError(sqlite3.DatabaseError):
    """A store holds an invalid value, although SQLite itself finds no damage."""


def lock_file(path: Path, source: str, *, is_spider: bool = False) -> IO[str]:
    """Take the write lock of a store, held until the returned file is closed. Raises `UserError`, `StateError`.

    Spiders of a Scrapy project are no sources, so that no verb ends them.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_name(path.name + ".lock").open("w")
    except OSError as error:
        raise StateError(f"cannot write the state in {path.parent}: {cause_and_remedy(error)}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        stop = "" if is_spider else f" with `ultracrawl stop {source}`"
        raise UserError(
            f"the source {source!r} is being crawled by another process; wait for it, or end it{stop}"
        ) from error
    return lock


def connect(path: str, read_only: bool) -> sqlite3.Connection:
    """Open a store. Raises `UserError` if a store to be read does not exist, `StateError`."""
    if read_only and path != MEMORY and not os.path.exists(path):
        raise UserError(
            f"nothing was crawled yet: there is no state file {path}; run `ultracrawl crawl` first"
        )
    try:
        return _open(path, read_only)
    except StateError as error:
        if not (read_only and code_of(error.__cause__) in _NOT_WRITABLE):
            raise
    return _open_unwritable(path)


def connect_or_replace(path: str) -> tuple[sqlite3.Connection, str]:
    """Open a store for writing after a check of all its pages (a second for a million URLs); the lock is held.

    A damaged store is set aside and a new one created; then the returned text says so. Raises `StateError`.
    """
    try:
        db = _open(path, read_only=False)
        try:
            with translated(db):
                ((result,),) = db.execute("PRAGMA quick_check(1)").fetchall()
                if result != "ok" or _lacks_columns(db):
                    raise ImpossibleValueError(
                        result.splitlines()[-1] if result != "ok" else "a table lacks a column"
                    )
        except BaseException:
            db.close()
            raise
    except StateDamagedError as error:
        aside = set_aside_database(Path(path))
        message = f"{error.problem}; it is set aside as {aside.name}, and every page is fetched again"
        return _open(path, read_only=False), message
    return db, ""


def set_aside_database(path: Path) -> Path:
    """Rename a SQLite file that no process has open; returns its new name. Raises `StateError`."""
    try:
        return set_aside(path, COMPANIONS)
    except OSError as error:
        raise StateError(f"{path} is damaged, and cannot be set aside: {cause_and_remedy(error)}") from error


def _open(path: str, read_only: bool) -> sqlite3.Connection:
    with contextlib.ExitStack() as on_error:
        db = sqlite3.connect(path, isolation_level=None, timeout=LOCK_LIMIT)
        on_error.callback(db.close)
        with translated(db):
            use_wal(db)
            db.execute("PRAGMA synchronous=NORMAL")
            db.execute("PRAGMA cache_size=-16384")
            db.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}")
            _require_schema(db)
            _migrate(db, path, read_only=read_only)
            _require_version(db, _version(db))
            if read_only:
                db.execute("PRAGMA query_only=1")
        on_error.pop_all()
        return db


def use_wal(db: sqlite3.Connection) -> None:
    """Have a file keep a write-ahead log.

    Of several that open a new file at once one changes it; SQLite refuses the others at once, whatever their time-out.
    """
    end = time.monotonic() + _WAL_SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if code_of(error) != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return


def _open_unwritable(path: str) -> sqlite3.Connection:
    """Open a store on a read-only file system, where neither it nor the files beside it can be written."""
    with contextlib.ExitStack() as on_error:
        db = connect_read_only(Path(path))
        on_error.callback(db.close)
        with translated(db):
            _require_version(db, _version(db))
        on_error.pop_all()
        return db


def checkpoint_file(path: Path) -> None:
    """Write everything into the file itself, so that it can be renamed alone; its lock is held. Raises `StateError`."""
    db = _open(str(path), read_only=False)
    with contextlib.closing(db), translated(db):
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute("PRAGMA journal_mode=DELETE")


def connect_read_only(path: Path, remedy: str = _REMEDY) -> sqlite3.Connection:
    """Open a SQLite file without writing anything; `remedy` is as in `translated`. Raises `StateError`."""
    uri = path.absolute().as_uri()
    wal = path.with_name(path.name + COMPANIONS[0])
    is_checkpointed = not (wal.exists() and wal.stat().st_size)
    for mode in ("mode=ro", "mode=ro&immutable=1")[: 1 + is_checkpointed]:
        try:
            db = sqlite3.connect(f"{uri}?{mode}", uri=True, isolation_level=None, timeout=LOCK_LIMIT)
            db.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            return db
        except sqlite3.Error as error:
            reason = str(error)
            if is_damage(error):
                raise StateDamagedError(f"the state file {path} is damaged ({reason})", remedy) from error
    raise StateError(f"{path} cannot be read without write access to its folder: {reason}")


def _lacks_columns(db: sqlite3.Connection) -> bool:
    """Return whether a table or column of the current schema is missing: the file is not one of our stores."""
    return not _newest_columns() <= _columns(db)


@cache
def _newest_columns() -> frozenset[tuple[str, str]]:
    db = sqlite3.connect(MEMORY, isolation_level=None)
    try:
        _require_schema(db)
        return _columns(db)
    finally:
        db.close()


def _columns(db: sqlite3.Connection) -> frozenset[tuple[str, str]]:
    query = "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type='table'"
    return frozenset(db.execute(query).fetchall())


def _require_schema(db: sqlite3.Connection) -> None:
    """Create the tables of a new file."""
    if _version(db):
        return
    try:
        create = f"BEGIN IMMEDIATE; {SCHEMA.read_text()} PRAGMA user_version={SCHEMA_VERSION}; COMMIT;"
        db.executescript(create)
    except sqlite3.OperationalError:
        db.rollback()
        if not _version(db):
            raise
        # Another process that opened the file at the same time has created the tables.


def _migrate(db: sqlite3.Connection, path: str, *, read_only: bool) -> None:
    """Bring the tables of an earlier version to this one. Raises `StateError` while that version crawls the source.

    Who writes has the lock of the file already.
    """
    end = time.monotonic() + MIGRATION_SECONDS
    while (version := _version(db)) + 1 in MIGRATIONS:
        try:
            with lock_file(Path(path), Path(path).stem) if read_only else contextlib.nullcontext():
                _carry_out(db, MIGRATIONS[version + 1], version + 1)
        except UserError as error:
            if time.monotonic() > end:
                raise StateError(
                    f"the state file {path} is of an earlier version, which still crawls the source; "
                    "wait until it ends"
                ) from error
            time.sleep(0.01)


def _carry_out(db: sqlite3.Connection, statements: Sequence[str], version: int) -> None:
    with transaction(db):
        if _version(db) == version - 1:  # another process may have been faster
            for statement in statements:
                db.execute(statement)
            db.execute(f"PRAGMA user_version={version}")


def _require_version(db: sqlite3.Connection, version: int) -> None:
    if version > SCHEMA_VERSION:
        raise StateError(
            f"the state was written by a newer version (schema {version}, here {SCHEMA_VERSION}); "
            "update ultracrawl here, or restore a backup that this version has made"
        )
    if version + 1 in MIGRATIONS:
        raise StateError(
            f"the state file {_file_of(db)} was written by an earlier version (schema {version}, here "
            f"{SCHEMA_VERSION}); the next crawl brings it up to date"
        )
    if version < SCHEMA_VERSION:
        raise StateError(
            f"the state file {_file_of(db)} was written by an earlier version (schema {version}, here "
            f"{SCHEMA_VERSION}), and cannot be read; remove it: the next crawl fetches every page again, and the "
            "index stays searchable meanwhile"
        )


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Run a block in a transaction."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        # SQLite may have rolled back by itself (disk full); a second rollback is then an error.
        with contextlib.suppress(sqlite3.OperationalError):
            db.execute("ROLLBACK")
        raise


_LEAST_FREE_BYTES = 1 << 20
"""Free bytes below which a file of SQLite cannot grow."""


def code_of(error: BaseException | None) -> int:
    """Return the primary SQLite error code of an exception, 0 if it has none."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF


def is_damage(error: BaseException) -> bool:
    """Return whether an error of SQLite means a damaged file, in contrast to, say, a full disk."""
    if isinstance(error, sqlite3.OperationalError) and getattr(error, "sqlite_errorcode", None) is None:
        return True  # raised by Python for a text that is not UTF-8
    return isinstance(error, ImpossibleValueError) or code_of(error) in _DAMAGE


def is_disk_full(error: sqlite3.Error, path: Path | str) -> bool:
    """Return whether SQLite failed on a file because its disk is full; it calls some such errors `disk I/O error`."""
    if code_of(error) == sqlite3.SQLITE_FULL:
        return True
    try:
        disk = os.statvfs(Path(path).parent)
    except OSError:
        return False
    return code_of(error) == sqlite3.SQLITE_IOERR and disk.f_bavail * disk.f_frsize < _LEAST_FREE_BYTES


class _ErrorTranslator:
    """Context manager that turns errors of SQLite into `StateError`; a class, because it wraps every query."""

    __slots__ = ("_db", "_remedy", "damage")

    def __init__(self, db: sqlite3.Connection, remedy: str) -> None:
        self._db = db
        self._remedy = remedy
        self.damage = ""
        """Message about damage found in the file, empty if there is none."""

    def __enter__(self) -> None:
        return

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if not isinstance(error, sqlite3.Error):
            return
        place = f"the state file {_file_of(self._db)}"
        if is_damage(error) or self._is_foreign(error):
            damaged = StateDamagedError(f"{place} is damaged ({error})", self._remedy)
            self.damage = str(damaged)
            raise damaged from error
        if is_disk_full(error, _file_of(self._db)):
            raise StateError(full_disk(Path(_file_of(self._db)))) from error
        raise StateError(f"{place} cannot be used: {error}") from error

    def _is_foreign(self, error: sqlite3.Error) -> bool:
        """Whether a query failed because tables or columns are missing."""
        try:
            return code_of(error) == sqlite3.SQLITE_ERROR and _lacks_columns(self._db)
        except sqlite3.Error:
            return False


def _file_of(db: sqlite3.Connection) -> str:
    try:
        return str(db.execute("PRAGMA database_list").fetchone()[2]) or MEMORY
    except sqlite3.Error:
        return "(closed)"


def translated(db: sqlite3.Connection, remedy: str = _REMEDY) -> _ErrorTranslator:
    """Turn errors of SQLite in a block into `StateError`; `remedy` tells what to do about a damaged file."""
    return _ErrorTranslator(db, remedy)


class Files(NamedTuple):
    """The files of a project."""

    sources: Mapping[str, Path]
    sites: Path
    schedules: Path


_FORMS = (
    ("source, part, ", ""),  # a file has one source
    ("{ids}, ", ""),
    ("{own} AND ", ""),
    (" WHERE {own}", ""),
    ("{m} AND ", ""),
    ("{u} AND ", ""),
    ("unnest(%s::text[]) AS new(name)", "(SELECT value AS name FROM json_each(?)) AS new"),
    ("= ANY(%s)", "IN (SELECT value FROM json_each(?))"),
    ("<> ALL(%s::bigint[])", "NOT IN (SELECT value FROM json_each(?))"),
    ("%s::bigint", "?"),
    ("%s", "?"),
    (" FOR UPDATE", ""),  # a transaction has the whole file for itself
    (" FOR KEY SHARE", ""),
    (" = true", " = 1"),  # as in the conditions of indexes
    ("greatest(", "max("),
    ("least(", "min("),
)
"""What PostgreSQL says otherwise than SQLite."""


class Rewritten(dict[str, str]):
    """Statements as SQLite takes them, by those that PostgreSQL takes."""

    def __init__(self, *names: tuple[str, str]) -> None:
        """Each of `names` is one of a table or column, and the one that it has in the file."""
        super().__init__()
        self._forms = (*_FORMS, *names)

    def __missing__(self, statement: str) -> str:
        text = self[statement] = self._rewrite(statement)
        return text

    def _rewrite(self, text: str) -> str:
        for form, own in self._forms:
            if form in text:
                text = text.replace(form, own)
        return text


class _OfEachRow(Rewritten):
    """The same for statements that take the columns of rows as arrays: SQLite takes the values of one row."""

    def _rewrite(self, text: str) -> str:
        head, found, rest = text.replace("= ANY(%s)", "= %s").partition("SELECT {ids}, * FROM unnest(")
        if found:
            arrays, _, rest = rest.partition(")")
            head += f"VALUES ({', '.join(['%s'] * arrays.count('%s'))})"
        return super()._rewrite(head + rest)


_REWRITTEN, _OF_EACH_ROW = Rewritten(), _OfEachRow()


class SqliteWriting:
    """An open transaction; see `Writing`."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def run(self, statement: str, rows: Collection[Sequence[object]], /) -> None:
        """Run a statement for each of some rows."""
        if rows:
            self._db.executemany(_OF_EACH_ROW[statement], rows)

    def execute(self, statement: str, values: Sequence[object] = (), /) -> sqlite3.Cursor:
        """Run a statement once."""
        return self._db.execute(_REWRITTEN[statement], values)


class SqliteAccess:
    """The connection that the parts of a store share; `flush` flushes the store; see `Access`."""

    def __init__(self, db: sqlite3.Connection, flush: Callable[[], None], *, read_only: bool = False) -> None:
        self.db = db
        self.flush = flush
        self.record_cache = RecordCache(keeps=not read_only)
        self.elsewhere: Collection[int] = ()
        self.translated = translated(db)
        self.many = json.dumps
        self._writing = SqliteWriting(db)

    def read(self, query: str, /, *values: object) -> list[Row]:
        """Return the rows of a query. Raises `StateError`."""
        with self.translated:
            return self.db.execute(_REWRITTEN[query], values).fetchall()

    def stream(self, query: str, /, *values: object, narrow: bool = False) -> Iterator[Row]:
        """Yield the rows of a query of any size, while nothing else is done. Raises `StateError`."""
        with self.translated:
            yield from self.db.execute(_REWRITTEN[query], values)

    def stored_outcome(self, outcome: UrlOutcome) -> str:
        """Return the value of an outcome."""
        return outcome.value

    def outcome_of(self, stored: str) -> UrlOutcome:
        """Return the outcome of a value. Raises `StateError`."""
        with self.translated:
            try:
                return UrlOutcome(stored)
            except ValueError as error:
                raise ImpossibleValueError(str(error)) from None

    def write(self, work: Callable[[SqliteWriting], T], /, *, whole: bool = False) -> T:
        """Run a function in a transaction. Raises `StateError`."""
        with self.translated, transaction(self.db):
            return work(self._writing)
