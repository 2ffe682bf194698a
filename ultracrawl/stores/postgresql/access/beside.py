"""A write beside the crawl: a thread has the connection meanwhile, and reads have another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import get_ident
from typing import TypeVar

import psycopg

from ultracrawl.stores.postgresql.access.connecting import PostgresAddress
from ultracrawl.stores.postgresql.access.database import STREAMED_ROWS, Database, Query, Row
from ultracrawl.stores.postgresql.access.fencing import SourceDatabase

T = TypeVar("T")


class BesideDatabase(SourceDatabase):
    """The rows of one source; a write can be begun, and goes on in a thread.

    It is one at a time, and the same fenced transaction as any other. Reads see the rows as they were before it, or as
    it leaves them; other writes wait for it.
    """

    _begun: Future[None] | None = None
    """The write that was begun, until its owner has been told of its end."""
    _written: Callable[[], None]
    _thread = 0
    """The thread that writes."""
    _streams = 0
    """How many streams of rows have the connection."""
    _reader: Database | None = None
    """The connection of reads while a write goes on, made by the first of them."""

    def __init__(self, address: PostgresAddress, source: str, *, read_only: bool = False) -> None:
        self._threads = ThreadPoolExecutor(1, "flush")  # it starts none before the first write
        super().__init__(address, source, read_only=read_only)

    def begin_write(
        self,
        work: Callable[[psycopg.Connection], object],
        written: Callable[[], None],
        first: Callable[[], object],
    ) -> None:
        """Begin what `write` does after `first`; `written` is called by `settle` when it has succeeded.

        `work` may use nothing that its owner changes meanwhile. While rows are streamed it is done at once.
        """
        self.settle()
        if self._streams:
            first()
            self.write(work)
            written()
            return
        self._written = written
        self._begun = self._threads.submit(self._write_here, work, first)

    def _write_here(self, work: Callable[[psycopg.Connection], object], first: Callable[[], object]) -> None:
        self._thread = get_ident()
        first()
        super().write(work)

    @property
    def is_writing(self) -> bool:
        """Whether a write that was begun goes on."""
        return self._begun is not None and not self._begun.done()

    def settle(self) -> None:
        """Wait for the write that was begun. Raises what it has raised, once."""
        if self._begun is None or get_ident() == self._thread:
            return
        wait([self._begun])
        begun, self._begun = self._begun, None
        begun.result()
        self._written()

    # ---- what else is done meanwhile

    def read(self, query: Query, *values: object) -> list[Row]:
        """Run one statement, and return its rows."""
        reader = self._reader_now()
        return super().read(query, *values) if reader is None else reader.read(query, *values)

    def stream(self, query: Query, *values: object, at_once: int = STREAMED_ROWS) -> Iterator[Row]:
        """Yield the rows of a query of any size."""
        reader = self._reader_now()
        if reader is not None:
            yield from reader.stream(query, *values, at_once=at_once)
            return
        self._streams += 1
        try:
            yield from super().stream(query, *values, at_once=at_once)
        finally:
            self._streams -= 1

    def _reader_now(self) -> Database | None:
        """Return the connection of reads while a write goes on; None: it is over, or this is its thread."""
        if not self.is_writing or get_ident() == self._thread:
            self.settle()
            return None
        if self._reader is None:
            self._reader = Database(self._address, read_only=True, first_patience=self.patience)
        return self._reader

    def write(self, work: Callable[[psycopg.Connection], T]) -> T:
        """Run a function in a fenced transaction."""
        self.settle()
        return super().write(work)

    def renew(self) -> None:
        """Keep the source; a write that goes on does that by itself."""
        if not self.is_writing:
            super().renew()

    def close(self) -> None:
        """Close the connection for good, after the write that goes on; what it has raised is dropped."""
        self._threads.shutdown()
        if self._reader is not None:
            self._reader.close()
        super().close()
