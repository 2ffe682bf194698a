"""The store of one source in PostgreSQL: its rows in a schema, one fenced transaction per flush."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import psycopg

from ultracrawl.errors import StateError, WorkError
from ultracrawl.stores.port.documents import Retained
from ultracrawl.stores.port.leases import KeptLease
from ultracrawl.stores.port.queue import QueueStart
from ultracrawl.stores.port.store import RunMark
from ultracrawl.stores.postgresql.access.beside import BesideDatabase
from ultracrawl.stores.postgresql.access.connecting import PostgresAddress
from ultracrawl.stores.postgresql.documents import PostgresDocuments
from ultracrawl.stores.postgresql.filling import fill_queue, prepare_filling
from ultracrawl.stores.postgresql.links import PostgresLinks
from ultracrawl.stores.postgresql.part_base import PostgresWriting, StoreAccess
from ultracrawl.stores.postgresql.queue import PostgresQueue
from ultracrawl.stores.postgresql.records import PostgresRecords
from ultracrawl.stores.postgresql.visits import PostgresVisits
from ultracrawl.stores.state.part import Writing
from ultracrawl.stores.state.sites import Sites
from ultracrawl.stores.state.store import Listings, UnitOfWork

_NEXT_EPOCH = b"UPDATE epoch SET last = greatest(last + 1, floor(moment())::bigint) RETURNING last"
_KEPT_LINKS = (
    "INSERT INTO anchor_left (source, part, marks) SELECT {ids}, marks FROM anchor_page WHERE {own} AND key = ANY(%s)",
    "INSERT INTO anchor_left (source, part, target)"
    " SELECT {ids}, target FROM anchor_redirect WHERE {own} AND key = ANY(%s)",
)
_OF_URLS = (
    "url", "revisit", "expiry", "copy", "submitted", "removal", "detour", "failure", "sitemap", "anchor_page",
    "anchor_redirect", "anchor_document",
)  # fmt: skip
"""The tables with rows of URLs that are forgotten with them, beside those that are found by something else."""


class PostgresStore(UnitOfWork):
    """The state of one source; see `Store`.

    Its writer holds a token as long as it is open, so that two crawls of one source cannot run at once, whatever
    machines they run on; readers (`read_only=True`) see the last flush. Raises `UserError` if another process writes.
    """

    renewed = ""
    """PostgreSQL repairs itself: nothing is ever set aside."""
    damage = ""

    records: PostgresRecords
    queue: PostgresQueue
    visits: PostgresVisits
    documents: PostgresDocuments
    links: PostgresLinks

    def __init__(self, address: PostgresAddress, source: str, *, read_only: bool = False) -> None:
        self._database = BesideDatabase(address, source, read_only=read_only)
        try:
            self._access = access = StoreAccess(self._database, self.flush)
            self.queue = queue = PostgresQueue(access)
            self.visits = visits = PostgresVisits(access)
            self.records = PostgresRecords(access, queue, visits)
            self.documents = PostgresDocuments(access, queue)
            self.sites = Sites(access, queue)
            self.links = PostgresLinks(access)
            self._listings = Listings(access)
        except BaseException:
            self._database.close()
            raise
        super().__init__(access, source)

    def _add_run(self, run: RunMark, start: QueueStart) -> None:
        filling = prepare_filling(self._database, run.place, start)

        def add(to: PostgresWriting) -> None:
            self._insert_run(to, run)
            fill_queue(to.connection, self._database, filling)
            self.queue.remove_blacklisted(to)

        self._access.write(add, whole=True)
        self._database.analyze()

    def _drop(self, to: Writing, keys: list[int]) -> None:
        if not keys:
            return
        for statement in _KEPT_LINKS:
            to.execute(statement, (keys,))
        for table in _OF_URLS:
            to.execute(f"DELETE FROM {table} WHERE {{own}} AND key = ANY(%s)", (keys,))  # noqa: S608 - constant texts
        to.execute("DELETE FROM feed_link WHERE {own} AND feed = ANY(%s)", (keys,))
        purposes = range(len(Retained))
        to.execute(
            "DELETE FROM retained WHERE {own} AND purpose = ANY(%s) AND key = ANY(%s)", (list(purposes), keys)
        )

    # ---- the unit of work

    def next_epoch(self) -> int:
        """Return a number that is higher than all that were given before in the schema. Raises `StateError`."""
        rows = self._database.write(lambda db: db.execute(_NEXT_EPOCH).fetchall())
        return int(rows[0][0])

    def keep_lease(self) -> float:
        """Renew the lease if that is due, and return since when it lasts. Raises `StateError` if it was lost."""
        if self._database.lost:
            raise StateError(self._database.lost)
        if not self._database.read_only:
            self._database.renew()
        return self._database.renewed

    def kept_lease(self) -> KeptLease | None:
        """Return the lease of the source; who only reads has none."""
        return None if self._database.read_only else self._database

    def flush(self) -> None:
        """Make everything written so far durable; without changes it may renew the lease.

        It waits for a flush that was begun, and repeats it if it failed: that is a transaction of its own.
        """
        with suppress(WorkError):
            self._database.settle()
        super().flush()
        if not self._database.read_only:
            self._database.renew()

    def begin_flush(self, first: Callable[[], object] = lambda: None) -> None:
        """Begin to write everything so far in a thread, where `first` is called before."""
        self._database.settle()
        self.prepare_flush()
        if self._freeze():
            self._database.begin_write(self._write_beside, self._forget_frozen, first)
            return
        first()
        if not self._database.read_only:
            self._database.renew()

    def _write_beside(self, connection: psycopg.Connection) -> None:
        self._write_frozen(self._access.writing(connection))

    def flush_ended(self) -> bool:
        """Whether no flush goes on. Raises `WorkError` of one that failed."""
        if self._database.is_writing:
            return False
        self._database.settle()
        return True

    def _write_frozen(self, to: Writing) -> None:
        assert isinstance(to, PostgresWriting)
        keep_answers = self.records.frozen.ask_stored(to.connection)
        super()._write_frozen(to)
        keep_answers()  # they came with what the parts have read

    def close(self) -> None:
        """Flush and close; what was written after another process took the source over is dropped."""
        try:
            with suppress(WorkError):  # it is repeated
                self._database.settle()
            if self.unflushed and not self._database.lost and not self._database.read_only:
                self.flush()
        finally:
            self._database.close()
