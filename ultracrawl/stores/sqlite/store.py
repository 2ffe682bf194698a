"""The state store on SQLite in WAL mode: document table, queue and runs."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from ultracrawl.model import StatusCode, UrlOutcome, UrlRecord
from ultracrawl.rules.urls import site_of
from ultracrawl.stores.sqlite.adoption import adopt
from ultracrawl.stores.sqlite.counting import count_all, documents_before
from ultracrawl.stores.sqlite.cycle_start import AS_KNOWN, QueueStart, fill_queue
from ultracrawl.stores.sqlite.database import (
    MEMORY,
    connect,
    connect_sound,
    lock_file,
    put_aside,
    transaction,
    translated,
)
from ultracrawl.stores.sqlite.parts.anchor_former import take_over_anchors
from ultracrawl.stores.sqlite.queue_table import QueueTable
from ultracrawl.stores.sqlite.record_row import READ, REPLACE, UPSERT, record_of, row_of
from ultracrawl.stores.sqlite.run_rows import ADD_RUN, END_RUN, forgettable, latest_runs
from ultracrawl.stores.sqlite.tables import StateTables
from ultracrawl.stores.store import QueueEntry, RunMark, StateCounts, Unrecorded

_DISCOVER = """
    INSERT INTO url (id, key, url, site, depth, display_url, first_seen) VALUES (?,?,?,?,?,?,?)
    ON CONFLICT (key) DO UPDATE SET depth=min(depth, excluded.depth)"""
_PLACES = "SELECT key, id FROM url WHERE key IN (SELECT value FROM json_each(?))"
_MARK = "UPDATE url SET indexed=?, handed=0 WHERE key=?"


class SqliteState(StateTables):
    """The state of one source in one SQLite file, or in memory (`path=":memory:"`).

    The writer holds a lock for as long as it is open, so that two crawls of one source cannot mix; readers
    (`read_only=True`) see the last flush. Raises `UserError` if another process writes, `StateError` if
    the file is no store of ours or the disk is full.
    """

    def __init__(
        self, path: Path | str, source: str, *, read_only: bool = False, renew: bool = False
    ) -> None:
        """With `renew`, a store that is damaged is set aside, and a new one begun (`renewed` says so)."""
        self.source = source
        self._lock: IO[str] | None = None
        self._path = str(path)
        if self._path != MEMORY and not read_only:
            self._lock = lock_file(Path(path), source)
        try:
            sound = renew and self._lock is not None
            self._db, self.renewed = (
                connect_sound(self._path) if sound else (connect(self._path, read_only), "")
            )
            if not read_only:
                take_over_anchors(self._db)
        except BaseException:
            if self._lock:
                self._lock.close()
            raise
        self._translated = translated(self._db)
        self._found: dict[int, tuple[QueueEntry, float]] = {}
        self._put_off: set[int] = set()
        """Keys among those found that do not enter the queue."""
        self._again: list[QueueEntry] = []
        self._done: dict[int, tuple[QueueEntry, UrlRecord]] = {}
        self._left: list[QueueEntry] = []
        """Entries that left the queue before the latest one of their URL, in the same stretch between two flushes."""
        self._amended: dict[int, UrlRecord] = {}
        self._marks: dict[int, bool] = {}
        self._names: dict[str, set[int]] = {}
        """Keys by display URL, of what is not flushed."""
        self._any_names = bool(self._one("SELECT EXISTS (SELECT 1 FROM url WHERE display_url<>'')")[0])
        self._prints: dict[bytes, set[int]] = {}
        """Keys by fingerprint, of what is not flushed."""
        self._queue = QueueTable(self._db, self._all, self.flush)
        super().__init__(self._db, self._all, self.flush)

    # ---- runs

    def begin_run(self, started: float, scope: str, start: QueueStart = AS_KNOWN) -> tuple[RunMark, bool]:
        """Open the next run, or the one that did not end; see `StateStore`."""
        latest, rule = next(iter(self.runs(1)), None), start.rule
        if (
            latest
            and not latest.finished
            and latest.scope == scope
            and not rule.is_over(latest.place, started)
        ):
            self.sitemaps.resume_run()
            self.dequeue_removed()
            self.revisits.cycle = latest.cycle
            return latest, True
        if latest and latest.scope != scope:
            rule = rule.for_everything
        nothing = not self._one("SELECT EXISTS (SELECT 1 FROM url WHERE last_fetched>0)")[0]
        place = rule.following(latest.place if latest else None, started, nothing_stored=nothing)
        run = RunMark.at(latest.number + 1 if latest else 1, started, scope, place)
        with self._translated, transaction(self._db):
            self._db.execute(
                ADD_RUN,
                (run.number, started, scope, run.cycle, run.minor, run.due, run.mode),
            )
            self._forget_orphans()
            self.sitemaps.begin_run(run.number - 1)
            self.sites.begin_run(started)
            self.robots.begin_run(started)
            self.near.begin_run()
            self.allowances.begin_run()
            fill_queue(self._db, place, start)
            self._queue.remove_status(StatusCode.BLACKLISTED.value)
        self._queue.count_on()
        self.revisits.cycle = run.cycle
        return run, False

    def _forget_orphans(self) -> None:
        self._db.executemany("DELETE FROM url WHERE key=?", [(key,) for key in self.orphans()])
        self._forget_dropped()

    def orphans(self) -> set[int]:
        """Return the keys of URLs that were gone several times in a row and that no known page links to."""
        with self._translated:
            return forgettable(self._db)

    def end_run(self, run: RunMark) -> None:
        """Store how a run stands, or its end, durably."""
        self.flush()
        with self._translated, transaction(self._db):
            self._db.execute(END_RUN, (run.finished, run.report, run.scope, run.deleted, run.number))

    def runs(self, limit: int = 10) -> list[RunMark]:
        """Return the latest runs, newest first."""
        return latest_runs(self._all, limit)

    # ---- the document table

    def lookup(self, keys: Sequence[int]) -> dict[int, tuple[str, int]]:
        """Return (url, depth) by key for those of the keys that are known."""
        known = {
            key: (self._found[key][0].url, self._found[key][0].depth) for key in keys if key in self._found
        }
        rest = [key for key in keys if key not in known]
        if rest:
            query = "SELECT key, url, depth FROM url WHERE key IN (SELECT value FROM json_each(?))"
            known.update((key, (url, depth)) for key, url, depth in self._all(query, json.dumps(rest)))
        return known

    def get(self, key: int) -> UrlRecord | None:
        """Return the record of a key."""
        if key in self._done:
            return self._done[key][1]
        if key in self._amended:
            return self._amended[key]
        if key in self._found:
            entry, now = self._found[key]
            shown = entry.display_url
            return UrlRecord(entry.url, self.source, depth=entry.depth, display_url=shown, first_seen=now)
        rows = self._all(f"SELECT {READ} FROM url WHERE key=?", key)  # noqa: S608 - constant column names
        with self._translated:
            return record_of(rows[0], self.source) if rows else None

    def discover(self, entry: QueueEntry, now: float, *, queued: bool = True) -> None:
        """Add a URL that is not known yet to table and queue, or to the table alone."""
        self._found[entry.key] = (entry, now)
        self._queue.touch(entry.site)
        if not queued:
            self._put_off.add(entry.key)
        self._note_name(entry.key, entry.display_url)

    def requeue(self, entry: QueueEntry) -> None:
        """Put a known URL into the queue again."""
        self._again.append(entry)
        self._queue.touch(entry.site)

    def finish(self, entry: QueueEntry, record: UrlRecord) -> None:
        """Replace the record of a queued URL and take it out of the queue."""
        if entry.key in self._done:
            self._left.append(self._done[entry.key][0])
        self._done[entry.key] = (entry, record)
        self._queue.touch(entry.site)
        self._amended.pop(entry.key, None)
        self._note_name(entry.key, record.display_url)
        self._note_print(entry.key, record.fingerprint)

    def amend(self, key: int, record: UrlRecord) -> None:
        """Replace the record of a known URL; whether it waits in the queue stays as it is."""
        if key in self._done:
            self._done[key] = (self._done[key][0], record)
        else:
            self._amended[key] = record
        self._note_name(key, record.display_url)
        self._note_print(key, record.fingerprint)

    def shown_as(self, url: str) -> list[UrlRecord]:
        """Return the records that have this URL as a display URL of its own."""
        if not self._any_names:
            return []
        query = "SELECT key FROM url WHERE display_url=? AND display_url<>''"
        keys = self._names.get(url, set()).union(key for (key,) in self._all(query, url))
        records = (self.get(key) for key in sorted(keys))
        return [record for record in records if record is not None and record.display_url == url]

    def same_content(self, fingerprint: bytes) -> list[UrlRecord]:
        """Return the records with this fingerprint."""
        query = "SELECT key FROM url WHERE fingerprint=? AND fingerprint<>x''"
        keys = [key for (key,) in self._all(query, fingerprint)]
        if fingerprint in self._prints:
            keys = sorted(self._prints[fingerprint].union(keys))
        records = map(self.get, keys)
        return [one for one in records if one is not None and one.fingerprint == fingerprint]

    def redirecting_to(self, url: str) -> list[UrlRecord]:
        """Return the records of URLs that redirect to a URL."""
        query = f"SELECT {READ} FROM url WHERE outcome='REDIRECTED' AND reason=?"  # noqa: S608 - constant names
        return [record_of(row, self.source) for row in self._all(query, f"to {url}")]

    def _note_print(self, key: int, fingerprint: bytes) -> None:
        if fingerprint:
            self._prints.setdefault(fingerprint, set()).add(key)

    def _note_name(self, key: int, display_url: str) -> None:
        if display_url:
            self._any_names = True
            self._names.setdefault(display_url, set()).add(key)

    def drop(self, keys: Iterable[int]) -> None:
        """Forget URLs: they leave table and queue."""
        self.flush()
        dropped = list(keys)
        with self._translated, transaction(self._db):
            self._queue.remove_keys(dropped)
            self._db.executemany("DELETE FROM url WHERE key=?", [(key,) for key in dropped])
            self._forget_dropped()

    def dequeue_removed(self) -> None:
        """Take the URLs that somebody removed out of the queue."""
        self.flush()
        with self._translated, transaction(self._db):
            self._queue.remove_status(StatusCode.BLACKLISTED.value)

    def dequeue(self, keys: Iterable[int]) -> None:
        """Take URLs out of the queue."""
        self.flush()
        with self._translated, transaction(self._db):
            self._queue.remove_keys(list(keys))

    def kept_keys(self, *, duplicates: bool = False) -> frozenset[int]:
        """Return the keys of documents that are in the index or on their way there."""
        self.flush()
        rest = "OR (outcome='DUPLICATE' AND fingerprint<>x'')" if duplicates else ""
        query = f"SELECT key FROM url WHERE indexed=1 OR handed=1 {rest}"  # noqa: S608 - constant text
        waiting = " UNION SELECT key FROM pending UNION SELECT key FROM successor"
        return frozenset(key for (key,) in self._all(query + waiting))

    def remake_documents(self) -> None:
        """Forget by what documents in the index are known again."""
        self.flush()
        with self._translated, transaction(self._db):
            self._db.execute(
                "UPDATE url SET etag='', last_modified='', checksum=x'' WHERE indexed=1 OR handed=1"
            )

    def mark_indexed(self, keys: Iterable[tuple[int, bool]]) -> None:
        """Say whether the documents of these keys are in the index."""
        self._marks.update(keys)

    def lost(self, waiting: frozenset[int]) -> int:
        """Make documents that were handed over but got lost be fetched anew."""
        lost = [(key,) for (key,) in self._all("SELECT key FROM url WHERE handed=1") if key not in waiting]
        with self._translated, transaction(self._db):
            self._db.executemany(
                "UPDATE url SET handed=0, indexed=0, etag='', last_modified='', checksum=x'' WHERE key=?",
                lost,
            )
        return len(lost)

    def adopt(self, waiting: Collection[int]) -> Unrecorded:
        """Take note of documents on their way to the index that the store was not told of."""
        with self._translated, transaction(self._db):
            return adopt(self._db, waiting)

    # ---- the queue

    def queued(self, site: str, limit: int, levels: range | None = None) -> list[QueueEntry]:
        """Return the first `limit` waiting URLs of a site by level, rank, depth and order; or those of some levels."""
        return self._queue.first(site, limit, levels)

    def queued_sites(self) -> list[tuple[str, int]]:
        """Return every site with waiting URLs and their number."""
        return self._queue.sites()

    def left_over_sites(self) -> list[str]:
        """Return the sites that go on with entries which the cycle before left over."""
        return self._queue.left_over_sites()

    def next_seq(self) -> int:
        """Return a number higher than that of every entry so far."""
        return self._queue.next_seq()

    # ---- durability

    @property
    def unflushed(self) -> int:
        """The number of writes that wait for the next flush."""
        waiting = (self._found, self._again, self._done, self._amended, self._marks)
        return sum(map(len, waiting)) + sum(part.unwritten for part in self._parts)

    def flush(self) -> None:
        """Make everything said so far durable, in one transaction."""
        if not self.unflushed:
            return
        with self._translated, transaction(self._db):
            run = self._db.executemany
            self._write_found()
            self._queue.add(self._again)
            self._queue.remove((*self._left, *(entry for entry, _ in self._done.values())))
            run(UPSERT, [row_of(key, site_of(record.url), record) for key, record in self._amended.items()])
            self._write_done()
            run(_MARK, [(indexed, key) for key, indexed in self._marks.items()])
            for part in self._parts:
                part.write()
        for part in self._parts:
            part.written()
        self._queue.written()
        self._again.clear()
        self._left.clear()
        self._put_off.clear()
        for kept in (self._found, self._done, self._amended, self._names, self._prints, self._marks):
            kept.clear()

    def _write_found(self) -> None:
        """Give new URLs a row and a place in the queue; the places of rows go on behind the last one."""
        (last,) = self._one("SELECT coalesce(max(id), 0) FROM url")
        found = list(enumerate(self._found.values(), last + 1))
        self._db.executemany(
            _DISCOVER,
            [(place, e.key, e.url, e.site, e.depth, e.display_url, t) for place, (e, t) in found],
        )
        places = {entry.key: place for place, (entry, _) in found}
        if self._all("SELECT count(*) FROM url WHERE id>?", last) != [(len(found),)]:  # one was known
            places = dict(self._all(_PLACES, json.dumps(list(self._found))))
        self._queue.add_new((e for e, _ in self._found.values() if e.key not in self._put_off), places)
        self.revisits.write_new(places.values())

    def _write_done(self) -> None:
        rows = [row_of(entry.key, entry.site, record) for entry, record in self._done.values()]
        places = [self._queue.place(entry.key) for entry, _ in self._done.values()]
        self._db.executemany(
            REPLACE, [(*row[3:], place) for row, place in zip(rows, places, strict=True) if place]
        )
        self._db.executemany(UPSERT, [row for row, place in zip(rows, places, strict=True) if not place])

    @property
    def damage(self) -> str:
        """What was found in it that cannot be."""
        return self._translated.damage

    # ---- reading

    def records(self, outcome: UrlOutcome | None = None) -> Iterator[UrlRecord]:
        """Yield all records in order of their URL, of one outcome if it is named."""
        if outcome:
            return self._records("outcome=?", outcome.value)
        return self._records("1")

    def pending_records(self) -> Iterator[UrlRecord]:
        """Yield the records whose documents wait for an approval."""
        return self._records("key IN (SELECT key FROM pending)")

    def leaving_records(self) -> Iterator[UrlRecord]:
        """Yield the records whose documents are to leave the index."""
        return self._records("leaving<>''")

    def _records(self, condition: str, *values: object) -> Iterator[UrlRecord]:
        query = f"SELECT {READ} FROM url WHERE {condition} ORDER BY url"  # noqa: S608 - constant texts
        with self._translated:
            for row in self._db.execute(query, values):
                yield record_of(row, self.source)

    def counts(self) -> StateCounts:
        """Return how many URLs are known, waiting and indexed."""
        with self._translated:
            return count_all(self._all)

    def documents_before(self, started: float) -> int:
        """Return how many documents there are of those that were there when a run started."""
        self.flush()
        return documents_before(self._all, started)

    def close(self) -> None:
        """Flush and release; what was being written and found to be damaged is set aside."""
        damaged = self.damage
        with contextlib.ExitStack() as releasing:
            if self._lock:
                releasing.callback(self._lock.close)
            if self._lock and damaged:
                releasing.callback(put_aside, Path(self._path))
            releasing.callback(self._db.close)
            if not damaged:
                self.flush()

    def _all(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._translated:
            return self._db.execute(query, values).fetchall()

    def _one(self, query: str) -> tuple[Any, ...]:
        return self._all(query)[0]
