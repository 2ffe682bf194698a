"""The store of one source on SQLite in WAL mode: one file, one transaction per flush."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

from ultracrawl.stores.port.queue import ALL_KNOWN_URLS, QueueStart
from ultracrawl.stores.port.store import RunMark
from ultracrawl.stores.sqlite.database import (
    MEMORY,
    SqliteAccess,
    connect,
    connect_or_replace,
    lock_file,
    set_aside_database,
)
from ultracrawl.stores.sqlite.documents import SqliteDocuments
from ultracrawl.stores.sqlite.links import SqliteLinks
from ultracrawl.stores.sqlite.queue import SqliteQueue, fill_queue
from ultracrawl.stores.sqlite.records import SqliteRecords
from ultracrawl.stores.sqlite.sites import SqliteSites
from ultracrawl.stores.sqlite.visits import SqliteVisits

_INSERT_RUN = "INSERT INTO run (number, started, scope, cycle, minor, due, mode) VALUES (?,?,?,?,?,?,?)"
_UPDATE_RUN = "UPDATE run SET finished=?, report=?, scope=?, deleted=? WHERE number=?"
_SELECT_LISTINGS = "SELECT run, state FROM listing"
_PUT_LISTING = "INSERT OR REPLACE INTO listing (run, state) VALUES (?,?)"
_DELETE_OLD_LISTINGS = "DELETE FROM listing WHERE run<?"
MAX_LISTINGS = 100
"""Number of runs whose listing state is kept."""
_SELECT_RUNS = """
    SELECT number, started, finished, scope, report, cycle, minor, due, mode, deleted FROM run
    ORDER BY number DESC LIMIT ?"""


class SqliteStore:
    """The state of one source in one SQLite file, or in memory (`path=":memory:"`); see `Store`.

    The writer holds a file lock while it is open, so that two crawls of one source cannot run at once; readers
    (`read_only=True`) see the last flush. Raises `UserError` if another process writes, `StateError` if
    the file is not a valid store or the disk is full.
    """

    def __init__(
        self, path: Path | str, source: str, *, read_only: bool = False, renew: bool = False
    ) -> None:
        """With `renew`, a damaged store is set aside and a new one created; `renewed` then has a message."""
        self.source = source
        self._lock: IO[str] | None = None
        self._path = str(path)
        if self._path != MEMORY and not read_only:
            self._lock = lock_file(Path(path), source)
        try:
            check = renew and self._lock is not None
            self._db, self.renewed = (
                connect_or_replace(self._path) if check else (connect(self._path, read_only), "")
            )
        except BaseException:
            if self._lock:
                self._lock.close()
            raise
        self._access = access = SqliteAccess(self._db, self.flush, read_only=read_only)
        self.queue = SqliteQueue(access)
        self.visits = SqliteVisits(access)
        self.records = SqliteRecords(access, source, self.queue, self.visits)
        self.documents = SqliteDocuments(access, self.queue)
        self.sites = SqliteSites(access, self.queue)
        self.links = SqliteLinks(access)
        self.prepare_flush: Callable[[], object] = lambda: None
        self._listings: dict[int, str] = {}
        """Unflushed listing states by run number."""
        # Records first: the writes of the other parts refer to rows that records insert.
        self._parts = (self.records, self.queue, self.visits, self.documents, self.sites, self.links)

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
        ((fetched,),) = self._access.read("SELECT EXISTS (SELECT 1 FROM url WHERE last_fetched>0)")
        place = rule.following(latest.place if latest else None, started, nothing_stored=not fetched)
        run = RunMark.at(latest.number + 1 if latest else 1, started, scope, place)
        with self._access.transaction():
            self._db.execute(
                _INSERT_RUN, (run.number, started, scope, run.cycle, run.minor, run.due, run.mode)
            )
            self._forget_urls(self.records.forgettable_urls())
            self.sites.begin_run(started, run.number - 1)
            self.records.forget_unused_signatures()
            self.queue.begin_run()
            fill_queue(self._db, place, start)
            self.queue.remove_blacklisted()
        self.queue.reload_counters()
        self.visits.enter_cycle(run.cycle)
        return run, False

    def end_run(self, run: RunMark) -> None:
        """Store the progress of a run or its end, durably."""
        self.flush()
        with self._access.transaction():
            self._db.execute(_UPDATE_RUN, (run.finished, run.report, run.scope, run.deleted, run.number))

    def runs(self, limit: int = 10) -> list[RunMark]:
        """Return the latest runs, newest first."""
        return [RunMark(*row) for row in self._access.read(_SELECT_RUNS, limit)]

    # ---- listings

    def listings(self) -> list[tuple[int, str]]:
        """Return (run number, listing state), newest first."""
        states = dict(self._access.read(_SELECT_LISTINGS)) | self._listings
        return sorted(states.items(), reverse=True)

    def note_listing(self, run: int, text: str) -> None:
        """Store how far a run has listed its source."""
        self._listings[run] = text

    def forget_listings(self) -> None:
        """Delete all listing states, durably."""
        self._listings.clear()
        with self._access.transaction():
            self._db.execute("DELETE FROM listing")

    # ---- the unit of work

    def next_epoch(self) -> int:
        """Return 0: who has the lock of the source is on this machine, as are the document caches of the project."""
        return 0

    def keep_lease(self) -> float:
        """Return 0: who has the lock of the source has it until the process ends."""
        return 0.0

    def kept_lease(self) -> None:
        """Return None: the lock of the source needs no renewal."""

    @property
    def unflushed(self) -> int:
        """The number of unflushed writes."""
        return sum(part.unwritten for part in self._parts) + len(self._listings)

    def flush(self) -> None:
        """Make everything written so far durable, in one transaction."""
        self.prepare_flush()
        if not self.unflushed:
            return
        with self._access.transaction():
            for part in self._parts:
                part.write_changes()
            self._db.executemany(_PUT_LISTING, self._listings.items())
            expired = [(run - MAX_LISTINGS,) for run in self._listings]
            self._db.executemany(_DELETE_OLD_LISTINGS, expired)
        for part in self._parts:
            part.forget_changes()
        self._listings.clear()

    def begin_flush(self, first: Callable[[], object] = lambda: None) -> None:
        """Do what `flush` does: to write a file takes less time than to hand it to a thread."""
        first()
        self.flush()

    def flush_ended(self) -> bool:
        """Return True: `begin_flush` ends it."""
        return True

    def drop_urls(self, keys: Iterable[int]) -> None:
        """Delete URLs, durably."""
        self.flush()
        dropped = list(keys)
        with self._access.transaction():
            self.queue.remove_keys(dropped)
            self._forget_urls(dropped)

    def _forget_urls(self, keys: Iterable[int]) -> None:
        self._access.record_cache.invalidate()
        self._db.executemany("DELETE FROM url WHERE key=?", [(key,) for key in keys])
        for part in (self.queue, self.visits, self.documents, self.sites):
            part.forget_dropped()

    @property
    def damage(self) -> str:
        """Message about damage found in the store, empty if it is sound."""
        return self._access.translated.damage

    def close(self) -> None:
        """Flush and close; a damaged store that was open for writing is set aside instead."""
        damaged = self.damage
        with contextlib.ExitStack() as releasing:
            if self._lock:
                releasing.callback(self._lock.close)
            if self._lock and damaged:
                releasing.callback(set_aside_database, Path(self._path))
            releasing.callback(self._db.close)
            if not damaged:
                self.flush()
