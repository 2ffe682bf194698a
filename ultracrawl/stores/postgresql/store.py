"""The store of one source in PostgreSQL: its rows in a schema, one fenced transaction per flush."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

import psycopg

from ultracrawl.errors import StateError, WorkError
from ultracrawl.stores.port.documents import Retained
from ultracrawl.stores.port.leases import KeptLease
from ultracrawl.stores.port.queue import ALL_KNOWN_URLS, QueueStart
from ultracrawl.stores.port.store import RunMark
from ultracrawl.stores.postgresql.access.beside import BesideDatabase
from ultracrawl.stores.postgresql.access.connecting import PostgresAddress
from ultracrawl.stores.postgresql.documents import PostgresDocuments
from ultracrawl.stores.postgresql.filling import fill_queue, prepare_filling
from ultracrawl.stores.postgresql.links import PostgresLinks
from ultracrawl.stores.postgresql.part_base import PostgresPart, StoreAccess
from ultracrawl.stores.postgresql.queue import DELETE_KEYS, PostgresQueue
from ultracrawl.stores.postgresql.records import PostgresRecords
from ultracrawl.stores.postgresql.sites import PostgresListings, PostgresSites
from ultracrawl.stores.postgresql.visits import PostgresVisits

_RUN = "number, started, finished, scope, report, cycle, minor, due, mode, deleted"
_SELECT_RUNS = f"SELECT {_RUN} FROM run WHERE {{own}} ORDER BY number DESC LIMIT %s"  # noqa: S608 - constant names
_INSERT_RUN = """
    INSERT INTO run (source, part, number, started, scope, cycle, minor, due, mode)
    VALUES ({ids}, %s, %s, %s, %s, %s, %s, %s)"""
_UPDATE_RUN = (
    "UPDATE run SET finished = %s, report = %s, scope = %s, deleted = %s WHERE {own} AND number = %s"
)
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


class PostgresStore:
    """The state of one source; see `Store`.

    Its writer holds a token as long as it is open, so that two crawls of one source cannot run at once, whatever
    machines they run on; readers (`read_only=True`) see the last flush. Raises `UserError` if another process writes.
    """

    renewed = ""
    """PostgreSQL repairs itself: nothing is ever set aside."""
    damage = ""

    def __init__(self, address: PostgresAddress, source: str, *, read_only: bool = False) -> None:
        self.source = source
        self._database = BesideDatabase(address, source, read_only=read_only)
        try:
            access = StoreAccess(self._database, self.flush)
            self.queue = PostgresQueue(access)
            self.visits = PostgresVisits(access)
            self.records = PostgresRecords(access, self.queue, self.visits)
            self.documents = PostgresDocuments(access, self.queue)
            self.sites = PostgresSites(access, self.queue)
            self.links = PostgresLinks(access)
        except BaseException:
            self._database.close()
            raise
        self._record_cache = access.record_cache
        self._sql = self._database.sql
        self.prepare_flush: Callable[[], object] = lambda: None
        self._listings = PostgresListings(access)
        # Records first: the writes of the other parts refer to rows that records insert.
        self._parts: tuple[PostgresPart, ...] = (
            self.records,
            self.queue,
            self.visits,
            self.documents,
            self.sites,
            self.links,
            self._listings,
        )

    # ---- runs

    def begin_run(
        self, started: float, scope: str, start: QueueStart = ALL_KNOWN_URLS
    ) -> tuple[RunMark, bool]:
        """Begin a new run, or resume the last one if it did not end."""
        latest, rule = next(iter(self.runs(1)), None), start.rule
        if (
            latest
            and not latest.finished
            and latest.scope == scope
            and not rule.is_over(latest.place, latest.started, started)
        ):
            self.sites.resume_run()
            self.queue.dequeue_removed()
            self.visits.enter_cycle(latest.cycle)
            return latest, True
        if latest and latest.scope != scope and not start.listed:
            rule = rule.for_everything
        query = self._sql("SELECT EXISTS (SELECT FROM url WHERE {own} AND last_fetched IS NOT NULL)")
        ((fetched,),) = self._database.read(query)
        place = rule.following(latest.place if latest else None, started, nothing_stored=not fetched)
        run = RunMark.at(latest.number + 1 if latest else 1, started, scope, place)
        self._make_room(run)
        filling = prepare_filling(self._database, place, start)

        def begin(db: psycopg.Connection) -> None:
            row = (run.number, started, scope, run.cycle, run.minor, run.due, run.mode)
            db.execute(self._sql(_INSERT_RUN), row)
            db.execute(self._sql("DELETE FROM allowance WHERE {own}"))
            fill_queue(db, self._database, filling)
            self.queue.remove_blacklisted(db)

        self._database.write_whole(begin)
        self._database.analyze()
        self.queue.reload_counters()
        self.visits.enter_cycle(run.cycle)
        return run, False

    def _make_room(self, run: RunMark) -> None:
        """Forget what a new run does not know any more; if the run then does not begin, the next one does it again."""
        self.flush()
        forgotten = sorted({*self.records.forgettable_urls(), *self.sites.unused_sitemaps(run.number - 1)})

        def make_room(db: psycopg.Connection) -> tuple[str, ...]:
            self._forget_urls(db, forgotten)
            self.records.clean(db)
            return self.sites.begin_run(db, run.started)

        self._forget_read(self._database.write_whole(make_room))

    def _forget_read(self, renewed: tuple[str, ...]) -> None:
        self._forget_urls_read()
        self.sites.run_began(renewed)

    def _forget_urls_read(self) -> None:
        self._record_cache.invalidate()
        self.visits.forget_dropped()
        self.documents.forget_read()
        self.sites.forget_read()

    def end_run(self, run: RunMark) -> None:
        """Store the progress of a run or its end, durably."""
        self.flush()
        row = (run.finished, run.report, run.scope, run.deleted, run.number)
        self._database.write(lambda db: db.execute(self._sql(_UPDATE_RUN), row))

    def runs(self, limit: int = 10) -> list[RunMark]:
        """Return the latest runs, newest first."""
        return [RunMark(*row) for row in self._database.read(self._sql(_SELECT_RUNS), limit)]

    # ---- listings

    def listings(self) -> list[tuple[int, str]]:
        """Return (run number, listing state), newest first."""
        return self._listings.all()

    def note_listing(self, run: int, text: str) -> None:
        """Store how far a run has listed its source."""
        self._listings.note(run, text)

    def forget_listings(self) -> None:
        """Delete all listing states, durably."""
        self._listings.forget_all()

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

    @property
    def unflushed(self) -> int:
        """The number of unflushed writes."""
        return sum(part.unwritten + part.frozen.unwritten for part in self._parts)

    def flush(self) -> None:
        """Make everything written so far durable; without changes it may renew the lease.

        It waits for a flush that was begun, and repeats it if it failed: that is a transaction of its own.
        """
        with suppress(WorkError):
            self._database.settle()
        self.prepare_flush()
        if not self.unflushed and not self._database.read_only:
            self._database.renew()
        while self._freeze():
            self._database.write(self._write_frozen)
            self._forget_frozen()

    def begin_flush(self, first: Callable[[], object] = lambda: None) -> None:
        """Begin to write everything so far in a thread, where `first` is called before."""
        self._database.settle()
        self.prepare_flush()
        if self._freeze():
            self._database.begin_write(self._write_frozen, self._forget_frozen, first)
            return
        first()
        if not self._database.read_only:
            self._database.renew()

    def flush_ended(self) -> bool:
        """Whether no flush goes on. Raises `WorkError` of one that failed."""
        if self._database.is_writing:
            return False
        self._database.settle()
        return True

    def _freeze(self) -> bool:
        """Set the changes aside that a flush writes: those of an earlier one that failed go first, by themselves."""
        if any(part.frozen.unwritten for part in self._parts):
            return True
        if not self.unflushed:
            return False
        for part in self._parts:
            part.freeze()
        self.records.count_new()
        return True

    def _write_frozen(self, db: psycopg.Connection) -> None:
        keep_answers = self.records.frozen.ask_stored(db)
        for part in self._parts:
            part.frozen.write_changes(db)
        keep_answers()  # they came with what the parts have read

    def _forget_frozen(self) -> None:
        for part in self._parts:
            part.forget_frozen()

    def drop_urls(self, keys: Iterable[int]) -> None:
        """Delete URLs, durably."""
        self.flush()
        dropped = sorted(set(keys))

        def drop(db: psycopg.Connection) -> None:
            db.execute(self._sql(DELETE_KEYS), [dropped])
            self._forget_urls(db, dropped)

        if dropped:
            self._database.write(drop)
        self.queue.forget_read()
        self._forget_urls_read()

    def _forget_urls(self, db: psycopg.Connection, keys: list[int]) -> None:
        """Delete everything about URLs but their entries in the queue and in lists of feeds."""
        if not keys:
            return
        for statement in _KEPT_LINKS:
            db.execute(self._sql(statement), [keys])
        for table in _OF_URLS:
            db.execute(self._sql(f"DELETE FROM {table} WHERE {{own}} AND key = ANY(%s)"), [keys])  # noqa: S608 - a constant name
        db.execute(self._sql("DELETE FROM feed_link WHERE {own} AND feed = ANY(%s)"), [keys])
        purposes = range(len(Retained))
        query = self._sql("DELETE FROM retained WHERE {own} AND purpose = ANY(%s) AND key = ANY(%s)")
        db.execute(query, [list(purposes), keys])

    def close(self) -> None:
        """Flush and close; what was written after another process took the source over is dropped."""
        try:
            with suppress(WorkError):  # it is repeated
                self._database.settle()
            if self.unflushed and not self._database.lost and not self._database.read_only:
                self.flush()
        finally:
            self._database.close()
