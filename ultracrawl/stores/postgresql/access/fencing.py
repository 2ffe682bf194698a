"""The one writer of a source: its token, and the number of its last flush, are checked by each of its transactions."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeVar
from uuid import UUID, uuid4

import psycopg
from psycopg import errors

from ultracrawl.errors import StateError, UserError
from ultracrawl.stores.port.leases import LEASE_SECONDS, RENEW_SECONDS
from ultracrawl.stores.postgresql.access.connecting import PostgresAddress
from ultracrawl.stores.postgresql.access.database import Database, Query, Row
from ultracrawl.system.process_name import machine_name, process_name

T = TypeVar("T")


_FIND_SOURCE = b"SELECT source FROM source WHERE name = %s"
_ADD_SOURCE = b"INSERT INTO source (name) VALUES (%s) ON CONFLICT DO NOTHING"
_ADD_PART = b"INSERT INTO part (source, part) VALUES (%s, 0) ON CONFLICT DO NOTHING"
_HOLDER = b"""
    SELECT token, machine, process, until - moment(), flush_no, numbered FROM part
    WHERE source = %s AND part = 0 FOR UPDATE"""
_TAKE = b"""
    UPDATE part SET token = %s, machine = %s, process = %s, until = moment() + %s
    WHERE source = %s AND part = 0"""
# An error where there is no row to change: it ends the transaction, whose other statements were sent with this one.
_FENCE = b"""
    WITH own AS (
        UPDATE part SET flush_no = flush_no + 1, numbered = %s, until = moment() + %s
        WHERE source = %s AND part = 0 AND token = %s AND flush_no = %s RETURNING 1)
    SELECT 1 / count(*) FROM own"""
# A transaction that took long does not lose the source to who waits for its row.
_RENEW = b"""
    UPDATE part SET until = moment() + %s
    WHERE source = %s AND part = 0 AND until < moment() + %s"""
# A flush that has the row keeps the source as well: it is not waited for.
_KEEP = b"""
    WITH own AS (
        SELECT source FROM part WHERE source = %s AND part = 0 AND token = %s AND flush_no >= %s
        FOR UPDATE SKIP LOCKED)
    UPDATE part p SET until = moment() + %s FROM own WHERE p.source = own.source AND p.part = 0 RETURNING 1"""
_STAND = b"SELECT token, flush_no FROM part WHERE source = %s AND part = 0"
_JOIN_WHOLE_TABLES = b"SET LOCAL enable_nestloop = off"
_ANALYZE = b"""
    ANALYZE (SKIP_LOCKED) url, revisit, content, shown, submitted, near, queue, copy, anchor, anchor_page,
    anchor_document"""
_FEW_URLS = 1000
"""With less, any plan of a statement is fast."""
_RELEASE = b"UPDATE part SET token = NULL, until = 0 WHERE source = %s AND part = 0 AND token = %s"


class _Names(dict[str, str]):
    """The conditions that a statement is about one part of one source: `{own}`, or `{u}` for the alias `u`."""

    def __missing__(self, alias: str) -> str:
        return f"{alias}.source = {self['source']} AND {alias}.part = {self['part']}"


def statements_about(number: int) -> Callable[[str], Query]:
    """Return a function that completes statements about the source of a number; see `SourceDatabase.sql`."""
    names = _Names(source=str(number), part="0", ids=f"{number}, 0", own=f"source = {number} AND part = 0")
    return lru_cache(None)(lambda text: text.format_map(names).encode())


class SourceDatabase(Database):
    """The rows of one source; see `Database`. Without `read_only` it is the only writer."""

    def __init__(self, address: PostgresAddress, source: str, *, read_only: bool = False) -> None:
        super().__init__(address, read_only=read_only)
        self.name = source
        self.read_only = read_only
        self.lost = ""
        """Why nothing may be written any more, empty if it may."""
        self.numbered = 0
        """The highest number of a URL."""
        self._token = uuid4()
        self._flush_no = 0
        self._number = 0
        self.renewed = 0.0
        """Monotonic time before the last request that renewed the lease, and was carried out."""
        self._beside: Database | None = None
        """The connection of the thread that renews the lease when the crawl is late."""
        self._analyze_at = _FEW_URLS
        """The number of URLs at which the statistics are renewed."""
        try:
            if not read_only:
                self.require_schema()
            number = self._find() if read_only else self._claim()
        except BaseException:
            self.close()
            raise
        self._number = number
        self.sql = statements_about(number)
        """Returns a statement about this source: `{own}`, `{alias}` are conditions, `{ids}` the values to insert."""

    # ---- opening

    def _find(self) -> int:
        rows = self.read(_FIND_SOURCE, self.name) if self.has_schema() else []
        if not rows:
            raise UserError(
                f"nothing was crawled yet: there is no state of {self.name!r} in {self._address.shown}; "
                "run `ultracrawl crawl` first"
            )
        return int(rows[0][0])

    def _claim(self) -> int:
        rows = self.read(_FIND_SOURCE, self.name)
        if not rows:
            self.read(_ADD_SOURCE, self.name)
            rows = self.read(_FIND_SOURCE, self.name)
        number = int(rows[0][0])
        self.read(_ADD_PART, number)
        self._flush_no, self.numbered = self.transact(lambda db: self._take(db, number))
        return number

    def _take(self, db: psycopg.Connection, number: int) -> tuple[int, int]:
        self.renewed = time.monotonic()
        return take_part(db, number, self.name, self._token, LEASE_SECONDS)

    # ---- writing

    def write(self, work: Callable[[psycopg.Connection], T]) -> T:
        """Run a function in a transaction, which counts as one flush and happens once.

        It may run again after a lost connection. Raises `StateError` if another process has taken the source over.
        """
        done: list[T] = []
        begun: list[float] = []

        def fenced(db: psycopg.Connection) -> None:
            db.execute(_FENCE, (self.numbered, LEASE_SECONDS, self._number, self._token, self._flush_no))
            done.append(work(db))
            db.execute(_RENEW, (LEASE_SECONDS, self._number, LEASE_SECONDS - RENEW_SECONDS))

        def once() -> None:
            sent = len(done)
            begun.append(time.monotonic())
            try:
                self.transact_at_once(fenced)
            except psycopg.Error as error:
                if not self._db.closed:
                    del done[sent:]  # nothing of it is written
                if not isinstance(error, errors.DivisionByZero):
                    raise
                # The transaction may have been committed whose answer was lost, even while this one waited for it.
                if not (sent and self.read(_STAND, self._number) == [(self._token, self._flush_no + 1)]):
                    raise self._fenced_off() from None
                begun[:] = begun[:1]  # one of those before, at the earliest the first

        if self.lost:
            raise StateError(self.lost)
        self.repeated(once)
        self.renewed = max(self.renewed, begun[-1])
        self._flush_no += 1
        if self.numbered >= self._analyze_at:
            self.analyze()
        return done[-1]

    def write_whole(self, work: Callable[[psycopg.Connection], T]) -> T:
        """Do what `write` does, for statements that join tables of the source as wholes.

        While the statistics do not know a source, the planner expects one row of it, and would read one table anew for
        each row of the other.
        """

        def joined(db: psycopg.Connection) -> T:
            db.execute(_JOIN_WHOLE_TABLES)
            return work(db)

        return self.write(joined)

    def analyze(self) -> None:
        """Renew the planner's statistics, now and when the source has doubled; whoever owns no table renews none.

        The server does it by itself when a tenth of a table has changed, which a source of many may never be: until
        then it would read all rows of the source for a few.
        """
        self.read(_ANALYZE)
        self._analyze_at = max(_FEW_URLS, 2 * self.numbered)

    def renew(self) -> None:
        """Keep the source while nothing is flushed: a paused crawl is one, too. Raises `StateError` like `write`."""
        if not self.lost and time.monotonic() - self.renewed >= RENEW_SECONDS:
            self.write(lambda _: None)

    # ---- the lease while its holder is busy

    def lease_age(self) -> float:
        """Return how many seconds ago the lease was renewed."""
        return time.monotonic() - self.renewed

    def renew_beside(self) -> None:
        """Renew the lease by a connection of another thread; the next write notices if it was lost."""
        asked = time.monotonic()
        try:
            self._beside = self._beside or self.beside()
            own = (self._number, self._token, self._flush_no)
            renewed = self._beside.read(_KEEP, *own, LEASE_SECONDS)
        except StateError:
            self.end_beside()
            raise
        if renewed:
            self.renewed = max(self.renewed, asked)

    def end_beside(self) -> None:
        """Close the connection of the other thread."""
        if self._beside is not None:
            self._beside.close()
            self._beside = None

    def _fenced_off(self) -> StateError:
        stand = self.read(_STAND, self._number)
        if stand and stand[0][0] == self._token and stand[0][1] < self._flush_no:
            self.lost = (
                f"{self._address.shown} has lost what was written last (it is an older copy); "
                f"crawl {self.name!r} again: it continues from there"
            )
        else:
            self.lost = (
                f"another process has taken over the source {self.name!r}; nothing was written since then"
            )
        return StateError(self.lost)

    def close(self) -> None:
        """Give the source back, and close the connection."""
        if self._number and not self.read_only and not self._db.closed:
            try:
                self._db.execute(_RELEASE, [self._number, self._token])
            except psycopg.Error:
                self.lost = self.lost or "the connection was lost"  # its lease ends by itself
        super().close()


def take_part(db: psycopg.Connection, number: int, name: str, token: UUID, seconds: float) -> tuple[int, int]:
    """Take a source, inside a transaction; returns the number of its last flush, and the highest one of a URL.

    Raises `UserError` if another process may still write to it.
    """
    ((held, machine, process, left, flush_no, numbered),) = db.execute(_HOLDER, [number]).fetchall()
    if held not in (None, token) and left > 0 and not is_over(machine, process):
        raise UserError(
            f"the source {name!r} is being crawled by the {_shown_process(machine, process)}, "
            f"whose lease lasts {left:.0f} s more; wait until it ends, or stop it"
        )
    db.execute(_TAKE, (token, *this_process(), seconds, number))
    return flush_no, numbered


def rows_as_arrays(rows: Iterable[Sequence[object]], columns: int) -> list[list[Any]]:
    """Return the columns of rows, sorted by their first values: the order in which all writers lock rows."""
    ordered = sorted(rows, key=lambda row: row[0])  # type: ignore[arg-type, return-value]  # keys are numbers or texts
    return list(map(_column, zip(*ordered, strict=True))) if ordered else [[] for _ in range(columns)]


def _column(values: Sequence[Any]) -> list[Any]:
    """Return values as an array has them, in which all numbers are of one kind."""
    if {int, float} <= {*map(type, values)}:
        return [value if value is None else float(value) for value in values]
    return list(values)


def run_for(
    db: psycopg.Connection, query: Query, rows: Collection[Sequence[object]], *values: object
) -> psycopg.Cursor[Row] | None:
    """Run a statement for many rows, whose columns are its first parameters as arrays; without rows do nothing."""
    if not rows:
        return None
    columns = rows_as_arrays(rows, 0)
    return db.execute(query, [*columns, *values])


def ask_for(db: psycopg.Connection, query: Query, keys: Collection[int]) -> psycopg.Cursor[Row] | None:
    """Send a query about keys, without waiting for its rows; without keys send nothing."""
    return db.execute(query, [sorted(keys)]) if keys else None


def fetched(cursor: psycopg.Cursor[Row] | None) -> list[Row]:
    """Return the rows that were asked for by `ask_for`; none without a cursor."""
    return cursor.fetchall() if cursor is not None else []


def this_process() -> tuple[str, str]:
    """Return a name of this machine that no other has, empty if there is none, and one of this process.

    That of the machine ends with what its operating system calls it.
    """
    pid = os.getpid()
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            machine = f"{file.read().strip()}/{os.readlink('/proc/self/ns/pid')}/{machine_name()}"
    except OSError:
        return "", f"{pid}/"
    return machine, f"{pid}/{_start_of(pid)}"


def _shown_process(machine: str, process: str) -> str:
    return process_name(int(process.partition("/")[0]), machine.rpartition("/")[2])


def is_over(machine: str, process: str) -> bool:
    """Return whether a process is known to have ended: it was one of this machine."""
    pid, _, started = process.partition("/")
    return bool(machine) and machine == this_process()[0] and _start_of(int(pid)) != started


def _start_of(pid: int) -> str:
    """Return when a process started, in ticks since the machine did; empty if it does not run."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] == "Z" else fields[19]
