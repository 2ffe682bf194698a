"""Notes as rows, visible to all machines; those of a process that is present have a lease, which a thread renews."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar
from uuid import UUID, uuid4

import psycopg

from ultracrawl.errors import StateError
from ultracrawl.stores.port.leases import LEASE_SECONDS, RENEW_SECONDS
from ultracrawl.stores.port.notes import NotesOf, always
from ultracrawl.stores.postgresql.access.database import PATIENCE, Database, Query, Row
from ultracrawl.stores.postgresql.access.fencing import is_over, this_process
from ultracrawl.stores.postgresql.access.pool import ConnectionPool

T = TypeVar("T")

_LOOK_SECONDS = 0.1
"""Seconds between looks at the lease of a process that may have died on another machine."""
_READ = b"SELECT text FROM note WHERE kind = %s AND source = %s AND name = %s"
_PUT = b"""
    INSERT INTO note (kind, source, name, text) VALUES (%s, %s, %s, %s)
    ON CONFLICT (kind, source, name) DO UPDATE SET text = excluded.text, token = NULL"""
_ADD = b"INSERT INTO note (kind, source, name, text) VALUES (%s, %s, %s, '') ON CONFLICT DO NOTHING"
_LOCK = _READ + b" FOR UPDATE"
_CHANGE = b"UPDATE note SET text = %s WHERE kind = %s AND source = %s AND name = %s"
_DELETE = b"DELETE FROM note WHERE kind = %s AND source = %s AND name = %s"
_HOLDER = b"""
    SELECT token, machine, process, until, until - moment() FROM note
    WHERE kind = %s AND source = %s AND name = %s FOR UPDATE"""
_TAKE = b"""
    UPDATE note SET text = %s, token = %s, machine = %s, process = %s, until = moment() + %s
    WHERE kind = %s AND source = %s AND name = %s"""
_DELETE_ENDED = b"DELETE FROM note WHERE kind = %s AND source = %s AND until < moment() AND token IS NOT NULL"
# A row that others deleted while this process stood still is written again.
_PUBLISH = b"""
    INSERT INTO note AS n (kind, source, name, text, token, machine, process, until)
    VALUES (%s, %s, %s, %s, %s, %s, %s, moment() + %s)
    ON CONFLICT (kind, source, name) DO UPDATE SET text = excluded.text, until = excluded.until
    WHERE n.token = excluded.token RETURNING 1"""
_LEFT = b"""
    SELECT machine, until - moment() FROM note
    WHERE kind = %s AND source = %s AND name = %s AND token IS NOT NULL AND until >= moment()"""
_PRESENT = b"""
    SELECT text, machine, process FROM note
    WHERE kind = %s AND source = %s AND token IS NOT NULL AND until >= moment() AND """


class PostgresNotes:
    """The notes of one owner; see `Notes`.

    Who has reached the server once waits for it when it is lost, as a crawl does; who only looks is told at once.
    """

    def __init__(self, pool: ConnectionPool, source: str, of: NotesOf) -> None:
        self.pool = pool
        self._owner = (of.value, source)
        self._patience = 0.0

    @contextmanager
    def _connection(self) -> Iterator[Database]:
        with self.pool.connection(self._patience) as database:
            self._patience = PATIENCE
            yield database

    def _ask(self, query: Query, *values: object) -> list[Row]:
        """Run a statement that finds nothing where there are no tables."""
        with self._connection() as database:
            return database.read(query, *values) if self.pool.has_tables(database) else []

    def _write(self, query: Query, *values: object) -> list[Row]:
        with self._connection() as database:
            self.pool.require_tables(database)
            return database.read(query, *values)

    def _transact(self, work: Callable[[psycopg.Connection], T]) -> T:
        with self._connection() as database:
            self.pool.require_tables(database)
            return database.transact(work)

    # ---- notes

    def read(self, name: str) -> bytes | None:
        """Return the text of a row, of an earlier version, too: a crawl looks before it changes the tables."""
        with self._connection() as database:
            has_notes = self.pool.has_table(database, "note")
            rows = database.read(_READ, *self._owner, name) if has_notes else []
        return rows[0][0] if rows else None

    def write(self, name: str, text: bytes) -> None:
        """Insert or replace a row."""
        self._write(_PUT, *self._owner, name, text)

    leave = write

    def change(self, name: str, edit: Callable[[bytes], bytes]) -> None:
        """Change a row while it is locked."""
        key, made = (*self._owner, name), list[bytes]()

        def change(db: psycopg.Connection) -> None:
            db.execute(_ADD, key)
            for (before,) in db.execute(_LOCK, key).fetchall():
                if before in made:
                    return  # the transaction was committed whose answer was lost
                made.append(edit(before))
                if made[-1] != before:
                    db.execute(_CHANGE, (made[-1], *key))

        self._transact(change)

    def delete(self, name: str) -> None:
        """Delete a row."""
        self._ask(_DELETE, *self._owner, name)

    def delete_text(self, name: str, text: bytes) -> None:
        """Delete a row that nobody has replaced since it had this text."""
        self._ask(_DELETE + b" AND text = %s", *self._owner, name, text)

    # ---- presence

    def appear(self, name: str, text: bytes, lives: Callable[[], bool] = always) -> PostgresPresence:
        """Take a row for this process; waits for the end of the lease of one that died on another machine."""
        token, key, own = uuid4(), (*self._owner, name), this_process()
        alive = f"another process has the note {name!r} of {self._owner[1] or 'the service'!r}"

        def take_row(db: psycopg.Connection) -> float | None:
            """Take the row, or return when the lease of its holder ends."""
            db.execute(_ADD, key)
            ((holder, machine, process, until, left),) = db.execute(_HOLDER, key).fetchall()
            if holder not in (None, token) and left > 0 and not is_over(machine, process):
                if machine == own[0]:
                    raise StateError(alive)
                return float(until)
            db.execute(_TAKE, (text, token, *own, LEASE_SECONDS, *key))
            db.execute(_DELETE_ENDED, self._owner)
            return None

        ends = until = self._transact(take_row)
        while until is not None:
            if until != ends:  # it was renewed
                raise StateError(alive)
            time.sleep(_LOOK_SECONDS)
            until = self._transact(take_row)
        return PostgresPresence(self, key, text, (token, *own), lives)

    def present(self, name: str) -> bytes | None:
        """Return the text of a row whose process lives."""
        return next(iter(self._of_living(b"name = %s", name)), None)

    def all_present(self, ending: str) -> list[bytes]:
        """Return the texts of rows whose processes live."""
        return self._of_living(b"right(name, length(%s::text)) = %s", ending, ending)

    def _of_living(self, condition: Query, *values: str) -> list[bytes]:
        rows = self._ask(_PRESENT + condition, *self._owner, *values)
        return [text for text, machine, process in rows if not is_over(machine, process)]

    def lease_left(self, name: str) -> float | None:
        """Return for how many seconds more a row of another machine counts."""
        rows = self._ask(_LEFT, *self._owner, name)
        return next((left for machine, left in rows if machine != this_process()[0]), None)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold a lock of the server, which ends with the connection."""
        with self._connection() as database:
            self.pool.require_tables(database)
            with database.locked("/".join((self.pool.address.schema, *self._owner))):
                yield


class PostgresPresence:
    """A row with a lease; see `Presence`. A thread renews it, since a crawl may be busy for longer than a lease."""

    def __init__(
        self,
        notes: PostgresNotes,
        key: tuple[str, str, str],
        text: bytes,
        holder: tuple[UUID, str, str],
        lives: Callable[[], bool],
    ) -> None:
        self._notes, self._pool, self._lives = notes, notes.pool, lives
        self._key, self._text, self._holder = key, text, holder
        self._publishing, self._closed = threading.Lock(), threading.Event()
        self._renewal = threading.Thread(target=self._keep, name=f"note {key[-1]}", daemon=True)
        self._renewal.start()

    def publish(self, text: bytes) -> None:
        """Replace the text of the row, if no other process has taken it."""
        if not self._put(text):
            raise StateError(f"another process has taken the note {self._key[-1]!r}")

    def _put(self, text: bytes | None = None) -> bool:
        with self._publishing, self._pool.connection() as database:
            self._text = self._text if text is None else text
            row = (*self._key, self._text, *self._holder, LEASE_SECONDS)
            return bool(database.read(_PUBLISH, *row))

    def _keep(self) -> None:
        while not self._closed.wait(RENEW_SECONDS):
            self.renew()

    def renew(self) -> None:
        """Renew the lease of the row, unless the process hangs."""
        if self._lives():
            with suppress(StateError):  # while the server is lost
                self._put()

    def take_note(self, name: str) -> bytes | None:
        """Read and delete another row."""
        # Read before it is deleted: if the answer to the deletion is lost, the text is known here.
        if (text := self._notes.read(name)) is not None:
            self._notes.delete_text(name, text)
        return text

    def close(self) -> None:
        """Delete the row."""
        self._closed.set()
        self._renewal.join()
        with suppress(StateError), self._pool.connection() as database:  # else its lease ends by itself
            database.read(_DELETE + b" AND token = %s", *self._key, self._holder[0])
