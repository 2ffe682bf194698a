"""A database that may be restarted under its clients: reads and transactions are repeated on a new connection."""

from __future__ import annotations

import contextlib
import itertools
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import psycopg
from psycopg import errors

from ultracrawl.errors import StateError
from ultracrawl.stores.postgresql.access.connecting import PostgresAddress
from ultracrawl.stores.postgresql.access.schema import has_schema, require_schema

T = TypeVar("T")
Row = tuple[Any, ...]
Query = bytes
"""A statement; its parameters are `%s`."""

PATIENCE = 120.0
"""Seconds for which a lost connection is tried again, with the crawl standing still meanwhile."""
_LONGEST_PAUSE = 2.0
_MOST_CONFLICTS = 5
"""How often a transaction is repeated that another one got in the way of."""
_CONFLICTS = (errors.SerializationFailure, errors.DeadlockDetected, errors.LockNotAvailable)
STREAMED_ROWS = 2000
_SNAPSHOT = b"""
    BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 0;
    SET LOCAL cursor_tuple_fraction = 1"""
_log = logging.getLogger(__name__)


class Database:
    """One connection to a schema, in one thread. Everything raises `StateError`; no text of it has a password."""

    def __init__(
        self, address: PostgresAddress, *, read_only: bool = False, first_patience: float = 0.0
    ) -> None:
        """`first_patience` is the number of seconds for which the first connection is tried."""
        self._address = address
        self._read_only = read_only
        self.patience = PATIENCE
        """Seconds for which a lost connection is tried again."""
        self._in_transaction = self._ended = False
        self._names = itertools.count()
        self._db = self._connected(first_patience)

    def beside(self) -> Database:
        """Connect once more, for another thread, which is told at once when the server is lost. Raises `StateError`."""
        database = Database(self._address, read_only=self._read_only)
        database.patience = 0.0
        return database

    def require_schema(self) -> None:
        """Create the tables, or bring them to this version."""
        with self._translated():
            require_schema(self._db, self._address.schema)

    def has_schema(self, *, earlier: bool = False) -> bool:
        """Return whether the tables exist, maybe in an `earlier` version; needs no right to create."""
        with self._translated():
            return has_schema(self._db, self._address.schema, earlier=earlier)

    # ---- reading

    def read(self, query: Query, *values: object) -> list[Row]:
        """Run one statement, which may be repeated, and return its rows."""
        return self.repeated(lambda: self._fetch(query, values))

    def _fetch(self, query: Query, values: Sequence[object]) -> list[Row]:
        cursor = self._db.execute(query, values)
        return cursor.fetchall() if cursor.description else []

    def stream(self, query: Query, *values: object, at_once: int = STREAMED_ROWS) -> Iterator[Row]:
        """Yield the rows of a query of any size, `at_once` of them by one round trip.

        The server keeps its result, without an open transaction.
        """
        name = f"rows{next(self._names)}"
        cursor = self.repeated(lambda: self._open_stream(name, query, values))
        with self._translated(), contextlib.closing(cursor):
            while rows := cursor.fetchmany(at_once):
                yield from rows

    def _open_stream(self, name: str, query: Query, values: Sequence[object]) -> psycopg.ServerCursor[Row]:
        cursor = psycopg.ServerCursor(self._db, name, withhold=True)
        try:
            return cursor.execute(query, values)
        except BaseException:
            cursor.close()
            raise

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Have all reads in the block see one state of the database, however long it lasts; it is not repeated."""
        with self._translated():
            self._db.execute(_SNAPSHOT)
            self._in_transaction = True
            try:
                yield
            finally:
                self._in_transaction = False
                with contextlib.suppress(psycopg.Error):
                    self._db.execute(b"ROLLBACK")

    # ---- writing

    def transact(self, work: Callable[[psycopg.Connection], T]) -> T:
        """Run a function in a transaction; it may be run again, and is not if the commit is known to have worked."""
        return self.repeated(lambda: self._transact(work))

    def _transact(self, work: Callable[[psycopg.Connection], T]) -> T:
        self._in_transaction = True
        try:
            with self._db.transaction():
                return work(self._db)
        finally:
            self._in_transaction = False

    @contextlib.contextmanager
    def transaction(self) -> Iterator[psycopg.Connection]:
        """Have the block write in one transaction, which is not repeated."""
        with self._translated(), self._db.transaction():
            yield self._db

    def transact_at_once(self, work: Callable[[psycopg.Connection], T]) -> T:
        """Run a function in a transaction whose statements are sent together: only what it fetches is waited for.

        It is not repeated. Raises `psycopg.Error`, and then nothing is written, unless the connection is lost.
        """
        self._in_transaction = True
        try:
            with self._db.pipeline():
                self._db.execute(b"BEGIN")
                result = work(self._db)
                self._db.execute(b"COMMIT")
            return result
        except BaseException:
            with contextlib.suppress(psycopg.Error):
                self._db.rollback()
            raise
        finally:
            self._in_transaction = False

    @contextlib.contextmanager
    def locked(self, name: str) -> Iterator[None]:
        """Keep other processes out of a block, which uses other connections, by a lock of this name."""

        def lock() -> None:
            # In a transaction, which the server ends if this process stands still.
            self._db.execute(b"BEGIN")
            try:
                self._db.execute(b"SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])
            except psycopg.Error:
                with contextlib.suppress(psycopg.Error):
                    self._db.rollback()
                raise

        self.repeated(lock)
        try:
            yield
        finally:
            with self._translated():
                self._db.rollback()

    # ---- failures

    def repeated(self, work: Callable[[], T]) -> T:
        """Run work until it is done; on a new connection if that was lost."""
        if self._in_transaction:
            return work()  # the transaction is repeated as a whole
        for conflicts in itertools.count(1):
            try:
                return work()
            except psycopg.Error as error:
                if isinstance(error, _CONFLICTS) and conflicts <= _MOST_CONFLICTS:
                    time.sleep(0.02 * conflicts)
                elif self._is_lost(error):
                    self._reconnect()
                else:
                    raise self._state_error(error) from error
        raise AssertionError("unreachable")

    def _is_lost(self, error: psycopg.Error) -> bool:
        moved = isinstance(error, errors.ReadOnlySqlTransaction) and not self._read_only
        return not self._ended and (self._db.closed or moved)

    def _reconnect(self) -> None:
        """Connect again. Raises `StateError` when that does not succeed for `patience` seconds."""
        self._db.close()
        if self.patience:
            _log.warning("the connection to %s was lost; trying again", self._address.shown)
        self._db = self._connected(self.patience)

    def _connected(self, patience: float) -> psycopg.Connection:
        deadline, pause = time.monotonic() + patience, 0.05
        while True:
            try:
                with self._translated(but=psycopg.OperationalError if patience else ()):
                    return self._address.connect(read_only=self._read_only)
            except psycopg.OperationalError as error:
                if time.monotonic() > deadline:
                    raise StateError(
                        f"{self._address.shown} cannot be reached for {patience:.0f} s "
                        f"({_first_line(error)}); crawl again when it can: nothing is lost"
                    ) from None
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    @contextlib.contextmanager
    def _translated(self, but: type[psycopg.Error] | tuple[()] = ()) -> Iterator[None]:
        try:
            yield
        except but:
            raise
        except psycopg.Error as error:
            raise self._state_error(error) from None

    def _state_error(self, error: psycopg.Error) -> StateError:
        return StateError(f"{self._address.shown} cannot be used: {_first_line(error)}")

    def close(self) -> None:
        """Close the connection for good."""
        self._ended = True
        self._db.close()


class EmptyDatabase(Database):
    """A database without tables, to read: it is as if they were empty."""

    def read(self, query: Query, *values: object) -> list[Row]:
        """Return no rows."""
        return []


def _first_line(error: psycopg.Error) -> str:
    text = str(error.diag.message_primary or error).strip()
    return text.splitlines()[0].strip() if text else type(error).__name__
