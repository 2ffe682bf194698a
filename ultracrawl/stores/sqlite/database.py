"""A SQLite file as the state of a source: its lock, its settings, its schema, its damage, and how parts use it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import IO, Any, Protocol

from ultracrawl.errors import StateDamagedError, StateError, UserError
from ultracrawl.stores.sqlite.former_causes import add_functions
from ultracrawl.stores.sqlite.migrations import MIGRATIONS, SCHEMA_VERSION
from ultracrawl.stores.sqlite.read_ahead import RecordsAhead
from ultracrawl.system.files import set_aside

MEMORY = ":memory:"
"""The path of a store that is kept in memory."""


CHECKPOINT_PAGES = 8000
"""Pages of 4 KB in the write-ahead log (32 MB) from which on they are copied to their places, each once."""

SCHEMA = Path(__file__).with_name("schema.sql")
"""What all steps make together, up to the version that it ends with."""

COMPANIONS = ("-wal", "-shm")
"""How the names of the files go on that SQLite keeps beside a store."""

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_NOT_WRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
_REMEDY = "the next crawl makes it anew, and asks for every page again"


class ImpossibleValueError(sqlite3.DatabaseError):
    """A store holds an impossible value, although SQLite itself finds nothing wrong."""


def lock_file(path: Path, source: str) -> IO[str]:
    """Take the lock of a store for writing; it ends with the file. Raises `UserError`, `StateError`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_name(path.name + ".lock").open("w")
    except OSError as error:
        raise StateError(f"cannot write the state in {path.parent}: {error.strerror}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise UserError(
            f"the source {source!r} is being crawled by another process (its lock is {lock.name}); "
            "wait for it or stop it"
        ) from error
    return lock


def connect(path: str, read_only: bool) -> sqlite3.Connection:
    """Open a store and bring it up to date. Raises `UserError` for one to be read that is not there, `StateError`."""
    if read_only and path != MEMORY and not os.path.exists(path):
        raise UserError(
            f"nothing was crawled yet: there is no state file {path}; run `ultracrawl crawl` first"
        )
    try:
        return _opened(path, read_only)
    except StateError as error:
        if not (read_only and code_of(error.__cause__) in _NOT_WRITABLE):
            raise
    return _opened_as_it_is(path)


def connect_sound(path: str) -> tuple[sqlite3.Connection, str]:
    """Open a store for writing after a look at all its pages, a second for a million URLs; the lock is held.

    One that is damaged is set aside, and a new one begun; then the text says so. Raises `StateError`.
    """
    try:
        db = _opened(path, read_only=False)
        try:
            with translated(db):
                ((said,),) = db.execute("PRAGMA quick_check(1)").fetchall()
                if said != "ok" or _lacks_columns(db):
                    raise ImpossibleValueError(
                        said.splitlines()[-1] if said != "ok" else "a table lacks a column"
                    )
        except BaseException:
            db.close()
            raise
    except StateDamagedError as error:
        aside = put_aside(Path(path))
        told = f"{error.problem}; it is set aside as {aside.name}, and every page is asked for again"
        return _opened(path, read_only=False), told
    return db, ""


def put_aside(path: Path) -> Path:
    """Set a SQLite file aside that nobody has open; returns its new name. Raises `StateError`."""
    try:
        return set_aside(path, COMPANIONS)
    except OSError as error:
        raise StateError(f"{path} is damaged, and cannot be set aside: {error.strerror}") from error


def _opened(path: str, read_only: bool) -> sqlite3.Connection:
    with contextlib.ExitStack() as on_error:
        db = sqlite3.connect(path, isolation_level=None, timeout=30.0)
        on_error.callback(db.close)
        with translated(db):
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")
            db.execute("PRAGMA cache_size=-16384")
            db.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}")
            _migrate(db)
            if read_only:
                db.execute("PRAGMA query_only=1")
        on_error.pop_all()
        return db


def _opened_as_it_is(path: str) -> sqlite3.Connection:
    """Open a store where nothing can be written, not even the files that SQLite has beside it."""
    with contextlib.ExitStack() as on_error:
        db = connect_where_nothing_can_be_written(Path(path))
        on_error.callback(db.close)
        with translated(db):
            if db.execute("PRAGMA user_version").fetchone() != (SCHEMA_VERSION,):
                raise StateError(
                    f"the state file {path} is of another version, and cannot be brought up to date: "
                    "its folder cannot be written"
                )
        on_error.pop_all()
        return db


def connect_where_nothing_can_be_written(path: Path, remedy: str = _REMEDY) -> sqlite3.Connection:
    """Open a SQLite file for reading alone; `remedy` is as in `translated`. Raises `StateError`."""
    uri = path.absolute().as_uri()
    log = path.with_name(path.name + COMPANIONS[0])
    whole = not (log.exists() and log.stat().st_size)
    for mode in ("mode=ro", "mode=ro&immutable=1")[: 1 + whole]:
        try:
            db = sqlite3.connect(f"{uri}?{mode}", uri=True, isolation_level=None, timeout=30.0)
            db.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            return db
        except sqlite3.Error as error:
            reason = str(error)
            if is_damage(error):
                raise StateDamagedError(f"the state file {path} is damaged ({reason})", remedy) from error
    raise StateError(f"{path} cannot be read without writing beside it: {reason}")


def _lacks_columns(db: sqlite3.Connection) -> bool:
    """Return whether a table lacks something, as one that was not made by these migrations."""
    return not _newest_columns() <= _columns(db)


@cache
def _newest_columns() -> frozenset[tuple[str, str]]:
    db = sqlite3.connect(MEMORY, isolation_level=None)
    try:
        _migrate(db)
        return _columns(db)
    finally:
        db.close()


def _columns(db: sqlite3.Connection) -> frozenset[tuple[str, str]]:
    query = "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type='table'"
    return frozenset(db.execute(query).fetchall())


def _migrate(db: sqlite3.Connection) -> None:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version > SCHEMA_VERSION:
        raise StateError(
            f"the state was written by a newer version (schema {version}, here {SCHEMA_VERSION})"
        )
    if version < SCHEMA_VERSION:
        add_functions(db)
    while version < SCHEMA_VERSION:
        # A new file gets at once what most steps make: one after the other they take a quarter of a small crawl.
        step = f"{MIGRATIONS[version]} PRAGMA user_version={version + 1};" if version else SCHEMA.read_text()
        try:
            db.executescript(f"BEGIN IMMEDIATE; {step} COMMIT;")
        except sqlite3.OperationalError:
            db.rollback()
            if db.execute("PRAGMA user_version").fetchone() == (version,):
                raise
            # Another process, which opened the file at the same moment, has done this step.
        (version,) = db.execute("PRAGMA user_version").fetchone()


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Make what a block writes durable together, or not at all."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        # SQLite may have rolled back by itself (disk full); a second rollback is then an error of its own.
        with contextlib.suppress(sqlite3.OperationalError):
            db.execute("ROLLBACK")
        raise


def code_of(error: BaseException | None) -> int:
    """Return the primary error code of SQLite, 0 if it has none."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF


def is_damage(error: BaseException) -> bool:
    """Return whether what reading a store raised says that its file is damaged, and not that the disk is full."""
    if isinstance(error, sqlite3.OperationalError) and getattr(error, "sqlite_errorcode", None) is None:
        return True  # Python's own error for a text that is no UTF-8
    return isinstance(error, ImpossibleValueError) or code_of(error) in _DAMAGE


class _Translation:
    """Makes `StateError` of what SQLite raises in a block; no generator, because it stands around every query."""

    __slots__ = ("_db", "_remedy", "damage")

    def __init__(self, db: sqlite3.Connection, remedy: str) -> None:
        self._db = db
        self._remedy = remedy
        self.damage = ""
        """What was found to be damaged."""

    def __enter__(self) -> None:
        return

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if not isinstance(error, sqlite3.Error):
            return
        place = f"the state file {_file_of(self._db)}"
        if is_damage(error) or self._is_strange(error):
            damaged = StateDamagedError(f"{place} is damaged ({error})", self._remedy)
            self.damage = str(damaged)
            raise damaged from error
        raise StateError(f"{place} cannot be used: {error}") from error

    def _is_strange(self, error: sqlite3.Error) -> bool:
        """Whether a query was not understood because the tables are not ours."""
        try:
            return code_of(error) == sqlite3.SQLITE_ERROR and _lacks_columns(self._db)
        except sqlite3.Error:
            return False


def _file_of(db: sqlite3.Connection) -> str:
    try:
        return str(db.execute("PRAGMA database_list").fetchone()[2]) or MEMORY
    except sqlite3.Error:
        return "(closed)"


def translated(db: sqlite3.Connection, remedy: str = _REMEDY) -> _Translation:
    """Turn errors of SQLite into `StateError`s; `remedy` says what to do about a damaged file."""
    return _Translation(db, remedy)


class SqliteAccess:
    """The connection of a store; errors of SQLite become `StateError`. `flush` is that of the store."""

    def __init__(self, db: sqlite3.Connection, flush: Callable[[], None], *, read_only: bool = False) -> None:
        self.db = db
        self.flush = flush
        self.ahead = RecordsAhead(keeps=not read_only)
        self.translated = translated(db)

    def read(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a query and return its rows."""
        with self.translated:
            return self.db.execute(query, values).fetchall()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Make what a block writes durable together, or not at all."""
        with self.translated, transaction(self.db):
            yield


class Changes(Protocol):
    """A dictionary, list or set of changes that wait for the next flush."""

    def __len__(self) -> int:
        """Return how many there are."""

    def clear(self) -> None:
        """Forget them."""


class SqlitePart:
    """A part of a SQLite store: collects changes, and writes them when the store is flushed."""

    changes: tuple[Changes, ...] = ()
    """All that waits for the next flush, and what is known of it alone."""

    def __init__(self, access: SqliteAccess) -> None:
        self._access = access
        self._db = access.db
        self._read = access.read

    @property
    def unwritten(self) -> int:
        """The number of changes that wait for the next flush."""
        return sum(len(one) for one in self.changes)

    def write_changes(self) -> None:
        """Write what waits; called inside the transaction of a flush."""
        raise NotImplementedError

    def forget_changes(self) -> None:
        """Clear the changes, because the transaction of `write_changes` succeeded."""
        for one in self.changes:
            one.clear()
