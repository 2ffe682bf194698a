"""The SQLite files that all sources of a project share: opened, replaced when they are damaged, and worked with."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

from ultracrawl.dataclass import dataclass, field
from ultracrawl.errors import StateDamagedError, StateError, UserError
from ultracrawl.stores.port.texts import storable, storable_row
from ultracrawl.stores.shared.site_store import CLOCK, SqlSiteStore
from ultracrawl.stores.sqlite.database import (
    MEMORY,
    ImpossibleValueError,
    Rewritten,
    connect_read_only,
    lock_file,
    set_aside_database,
    transaction,
    translated,
    use_wal,
)
from ultracrawl.system.files import cause_and_remedy
from ultracrawl.system.process_name import machine_name
from ultracrawl.system.wall_guard import LOCK_LIMIT

if TYPE_CHECKING:
    from ultracrawl.stores.port.site_store import SiteClock
    from ultracrawl.stores.shared.tables import Row, Statements

T = TypeVar("T")

CHECKPOINT_PAGES = 250
"""Pages of 4 KB in the write-ahead log (1 MB) that trigger a checkpoint: these files are small."""


@dataclass(frozen=True, slots=True)
class SharedDatabase:
    """The schema of a shared file, and the texts of its error messages."""

    what: str
    """Name of its contents."""
    remedy: str
    """What happens with a damaged file."""
    lost: str
    """What is lost when it is set aside."""
    version: int
    tables: str
    """Name of the file with its statements."""
    every_table: str
    """A query that fails if a table or its newest column is missing."""
    statements: Rewritten
    """Programs of several versions may have the file open at once, so its names stay as they were."""
    migrations: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """The statements that lead to a version, by its number, from the one before it."""


class SqliteTables:
    """An open file; see `SharedTables` and `Statements`. Its connection is used in one thread."""

    def __init__(
        self,
        kind: SharedDatabase,
        path: Path | str,
        *,
        read_only: bool = False,
        renew: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """With `renew`, a damaged file is set aside and a new one created; `renewed` then has a message."""
        self._db, self.renewed = open_tables(kind, path, read_only=read_only, renew=renew)
        self._db.create_function("moment", 0, clock)
        self._translated = translated(self._db, kind.remedy)
        self._rewritten = kind.statements

    def read(self, statement: str, *values: object) -> list[Row]:
        """Run one statement, which is durable at once: it is a transaction of its own."""
        with self._translated:
            return self.rows(statement, *values)

    def transact(self, work: Callable[[Statements], T]) -> T:
        """Run a function in a transaction."""
        with self._translated, transaction(self._db):
            return work(self)

    def run(self, statement: str, *values: object) -> None:
        """Run a statement of a transaction."""
        self._db.execute(self._rewritten[statement], list(map(_bound, values)))

    def rows(self, statement: str, *values: object) -> list[Row]:
        """Return the rows of a query."""
        return self._db.execute(self._rewritten[statement], list(map(_bound, values))).fetchall()

    def run_each(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Run a statement of a transaction with the values of each row."""
        self._db.executemany(self._rewritten[statement], rows)

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def _bound(value: object) -> object:
    """Return a value of a statement as SQLite takes it: a list as JSON, and a text that every store can hold."""
    if isinstance(value, str):
        return storable(value)
    return json.dumps(value) if isinstance(value, list) else value


def open_tables(
    kind: SharedDatabase, path: Path | str, *, read_only: bool, renew: bool
) -> tuple[sqlite3.Connection, str]:
    """Open the file; with `renew`, a damaged one is set aside and a new one created: then the text says so.

    Raises `StateError`.
    """
    if read_only and path != MEMORY:
        return _open_read_only(kind, Path(path)), ""
    try:
        return _open(kind, path, check=renew), ""
    except StateDamagedError as error:
        if not renew or path == MEMORY:
            raise
        aside = set_aside_database(Path(path))
        message = f"{error.problem}; it is set aside as {aside.name}, and {kind.lost}"
        return _open(kind, path, check=False), message


def _open(kind: SharedDatabase, path: Path | str, *, check: bool) -> sqlite3.Connection:
    with contextlib.ExitStack() as on_error:
        if path != MEMORY:
            _create_folder(kind, Path(path))
        db = sqlite3.connect(path, isolation_level=None, timeout=LOCK_LIMIT)
        on_error.callback(db.close)
        with translated(db, kind.remedy):
            use_wal(db)
            db.execute("PRAGMA synchronous=NORMAL")
            db.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}")
            db.execute(f"PRAGMA journal_size_limit={CHECKPOINT_PAGES * 4096}")
            _create_tables(kind, db)
            if check:
                db.execute(kind.every_table)
                if db.execute("PRAGMA quick_check(1)").fetchall() != [("ok",)]:
                    raise ImpossibleValueError("its pages are inconsistent")
        on_error.pop_all()
        return db


def _create_folder(kind: SharedDatabase, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StateError(f"cannot write {kind.what} in {path.parent}: {cause_and_remedy(error)}") from error


def _open_read_only(kind: SharedDatabase, path: Path) -> sqlite3.Connection:
    """Open the file for reading; a missing one is replaced by an empty one in memory."""
    if not path.exists():
        return _open(kind, MEMORY, check=False)
    with contextlib.ExitStack() as on_error:
        db = connect_read_only(path, kind.remedy)
        on_error.callback(db.close)
        with translated(db, kind.remedy):
            if _version(db) + 1 in kind.migrations:
                _open(kind, path, check=False).close()
            if _version(db) != kind.version:
                raise StateError(f"{kind.what} in {path} were written by another version")
        on_error.pop_all()
        return db


def _create_tables(kind: SharedDatabase, db: sqlite3.Connection) -> None:
    if _version(db) == kind.version:
        return
    with transaction(db):
        version = _version(db)  # again: another process may have created the tables
        if version == 0:
            for statement in Path(__file__).with_name(kind.tables).read_text().split(";\n"):
                db.execute(statement)
            version = kind.version
        while version + 1 in kind.migrations:
            version += 1
            for statement in kind.migrations[version]:
                db.execute(statement)
        db.execute(f"PRAGMA user_version={version}")
        if version != kind.version:
            raise StateError(
                f"{kind.what} were written by a newer version (schema {version}, here {kind.version}); "
                "update ultracrawl here, or restore a backup that this version has made"
            )


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


SCHEDULES = SharedDatabase(
    what="the schedules of the project",
    remedy=(
        "the next schedule runner creates it again; "
        "schedules that were disabled, stopped or paused are enabled again"
    ),
    lost="schedules that were disabled, stopped or paused are enabled again",
    version=1,
    tables="schedules.sql",
    every_table="SELECT left, sources, source, of_source FROM schedule, run, paused, command LIMIT 0",
    statements=Rewritten(("schedule_run", "run"), ("unfinished", "left")),
)

SITES = SharedDatabase(
    what="the sites of the project",
    remedy="the next crawl creates it again, and fetches every robots.txt again",
    lost="every robots.txt is fetched again",
    version=1,
    tables="sites.sql",
    every_table="SELECT until, requested, number, received, sealed FROM crawl, site, waiting, robots, session LIMIT 0",
    statements=Rewritten(("c.crawl", "c.id"), ("c.node", "c.machine")),
)

_SET_CLOCK = ", ".join(f"{name}=?" for name in CLOCK[1:])
_PUT_CLOCK = f"UPDATE site SET {_SET_CLOCK} WHERE site=? AND crawl=?"  # noqa: S608 - constant column names
_RELEASE = f"UPDATE site SET {_SET_CLOCK}, crawl=0 WHERE site=? AND crawl=?"  # noqa: S608 - constant column names
_clock_values = attrgetter(*CLOCK[1:], "site")


class SqliteSiteStore(SqlSiteStore):
    """The sites of a project in one SQLite file in WAL mode, or in memory (`path=":memory:"`); see `SiteStore`."""

    def __init__(
        self,
        path: Path | str,
        *,
        read_only: bool = False,
        renew: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """With `renew`, a damaged file is set aside and a new one created; `renewed` then has a message."""
        self._file = SqliteTables(SITES, path, read_only=read_only, renew=renew, clock=clock)
        super().__init__(self._file)
        self._path = None if path == MEMORY else Path(path)
        self._locks: dict[str, IO[str]] = {}
        """Locks by source; the system releases them when a process ends, however it does."""
        self.now = clock
        """The clock of the machine, which all processes with this file share."""

    def register_crawl(self, source: str, lease: float) -> int:
        """Register a crawl of a source and return its number."""
        others_ended = self._lock(source)

        def register(db: Statements) -> int:
            self._end_earlier(db, source, lambda _: others_ended)
            insert = "INSERT INTO crawl (source, machine, pid, until) VALUES (%s, %s, %s, moment() + %s)"
            db.run(insert, source, machine_name(), os.getpid(), lease)
            return int(db.rows("SELECT last_insert_rowid()")[0][0])

        return self._tables.transact(register)

    def _lock(self, source: str) -> bool:
        """Take the lock of a source; returns whether no other process can run a crawl of it."""
        if self._path is not None and source not in self._locks:
            with contextlib.suppress(UserError):
                self._locks[source] = lock_file(self._path.parent / source, source)
        return source in self._locks

    def renew_leases(self, crawl: int, lease: float) -> bool:
        """Extend all leases of a crawl; returns False if it was closed."""
        self._tables.read("UPDATE crawl SET until = moment() + %s WHERE id = %s", lease, crawl)
        return self._tables.read("SELECT changes()") == [(1,)]

    def beside(self) -> SqliteSiteStore | None:
        """Open the file once more; what is in memory is seen by nobody else."""
        return None if self._path is None else SqliteSiteStore(self._path, clock=self.now)

    def put_clocks(self, crawl: int, clocks: Iterable[SiteClock]) -> None:
        """Store the clocks of sites."""
        self._write_clocks(_PUT_CLOCK, crawl, clocks)

    def release_sites(self, crawl: int, clocks: Iterable[SiteClock]) -> None:
        """End the leases of sites and store their clocks."""
        self._write_clocks(_RELEASE, crawl, clocks)

    def _write_clocks(self, statement: str, crawl: int, clocks: Iterable[SiteClock]) -> None:
        rows = [(*storable_row(_clock_values(clock)), crawl) for clock in clocks]
        self._tables.transact(lambda _: self._file.run_each(statement, rows))

    def close_crawl(self, crawl: int) -> None:
        """Unregister a crawl that has released its sites, and release the lock of its source."""
        sources = self._tables.read("SELECT source FROM crawl WHERE id = %s", crawl)
        super().close_crawl(crawl)
        for (source,) in sources:
            if source in self._locks:
                self._locks.pop(source).close()

    def close(self) -> None:
        """Release the store."""
        for lock in self._locks.values():
            lock.close()
        super().close()
