"""The store of one source on SQLite in WAL mode: one file, one transaction per flush."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import IO

from ultracrawl.stores.port.documents import Retained
from ultracrawl.stores.port.queue import QueueStart
from ultracrawl.stores.port.store import RunMark
from ultracrawl.stores.sqlite.database import (
    MEMORY,
    SqliteAccess,
    connect,
    connect_or_replace,
    lock_file,
    set_aside_database,
)
from ultracrawl.stores.sqlite.links import SqliteLinks
from ultracrawl.stores.sqlite.queue import SqliteQueue, fill_queue
from ultracrawl.stores.sqlite.records import SqliteRecords
from ultracrawl.stores.sqlite.statements import SqliteDocuments, SqliteVisits
from ultracrawl.stores.state.part import Writing
from ultracrawl.stores.state.sites import Sites
from ultracrawl.stores.state.store import Listings, UnitOfWork

_OF_URLS = {"failure": "key", "detour": "key", "sitemap": "key", "feed_link": "feed"}
"""The tables from which rows leave with their URL, and the columns of its key; triggers know others."""


class SqliteStore(UnitOfWork):
    """The state of one source in one SQLite file, or in memory (`path=":memory:"`); see `Store`.

    The writer holds a file lock while it is open, so that two crawls of one source cannot run at once; readers
    (`read_only=True`) see the last flush. Raises `UserError` if another process writes, `StateError` if
    the file is not a valid store or the disk is full.
    """

    records: SqliteRecords
    queue: SqliteQueue
    visits: SqliteVisits
    documents: SqliteDocuments
    links: SqliteLinks

    def __init__(
        self, path: Path | str, source: str, *, read_only: bool = False, renew: bool = False
    ) -> None:
        """With `renew`, a damaged store is set aside and a new one created; `renewed` then has a message."""
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
        self.queue = queue = SqliteQueue(access)
        self.visits = visits = SqliteVisits(access)
        self.records = SqliteRecords(access, source, queue, visits)
        self.documents = SqliteDocuments(access, queue)
        self.sites = Sites(access, queue)
        self.links = SqliteLinks(access)
        self._listings = Listings(access)
        super().__init__(access, source)

    def _add_run(self, run: RunMark, start: QueueStart) -> None:
        def add(to: Writing) -> None:
            self._insert_run(to, run)
            fill_queue(self._db, run.place, start)
            self.queue.remove_blacklisted(to)

        self._access.write(add)

    def _drop(self, to: Writing, keys: list[int]) -> None:
        to.run("DELETE FROM url WHERE key=?", [(key,) for key in keys])
        for table, column in _OF_URLS.items():
            to.execute(f"DELETE FROM {table} WHERE {column} NOT IN (SELECT key FROM url)")  # noqa: S608 - constant texts
        for purpose in Retained:
            to.execute(f"DELETE FROM {purpose.value} WHERE key NOT IN (SELECT key FROM url)")  # noqa: S608 - constant texts

    # ---- the unit of work

    def next_epoch(self) -> int:
        """Return 0: who has the lock of the source is on this machine, as are the document caches of the project."""
        return 0

    def keep_lease(self) -> float:
        """Return 0: who has the lock of the source has it until the process ends."""
        return 0.0

    def kept_lease(self) -> None:
        """Return None: the lock of the source needs no renewal."""

    def begin_flush(self, first: Callable[[], object] = lambda: None) -> None:
        """Do what `flush` does: to write a file takes less time than to hand it to a thread."""
        first()
        self.flush()

    def flush_ended(self) -> bool:
        """Return True: `begin_flush` ends it."""
        return True

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
