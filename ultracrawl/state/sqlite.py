"""The state store on SQLite in WAL mode: document table, queue and runs."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from ultracrawl.model import UrlOutcome, UrlRecord
from ultracrawl.state.connection import MEMORY, connect, lock_file, translated
from ultracrawl.state.near_table import NearTable
from ultracrawl.state.sitemap_table import SitemapTable
from ultracrawl.state.store import QueueEntry, RunMark, StateCounts
from ultracrawl.urls import site_of

GONE_RUNS = 3
"""A URL that nothing links to any more is forgotten when it was gone in this many runs in a row."""

_RECORD = (
    "url, depth, display_url, status, outcome, reason, etag, last_modified, checksum, indexed, handed, "
    "first_seen, last_fetched, failures, links, fingerprint, preference"
)
_UPSERT = f"""
    INSERT INTO url (key, site, {_RECORD}) VALUES (?{",?" * 18})
    ON CONFLICT (key) DO UPDATE SET depth=excluded.depth, display_url=excluded.display_url,
    status=excluded.status, outcome=excluded.outcome, reason=excluded.reason, etag=excluded.etag,
    last_modified=excluded.last_modified, checksum=excluded.checksum, indexed=excluded.indexed,
    handed=excluded.handed, first_seen=excluded.first_seen, last_fetched=excluded.last_fetched,
    failures=excluded.failures, links=excluded.links, fingerprint=excluded.fingerprint,
    preference=excluded.preference"""  # noqa: S608 - constant column names
_DISCOVER = """
    INSERT INTO url (key, url, site, depth, display_url, first_seen) VALUES (?,?,?,?,?,?)
    ON CONFLICT (key) DO UPDATE SET depth=min(depth, excluded.depth)"""
_ENQUEUE = "INSERT OR REPLACE INTO queue (site, depth, seq, key, hops) VALUES (?,?,?,?,?)"
_DEQUEUE = "DELETE FROM queue WHERE site=? AND depth=? AND seq=?"
_MARK = "UPDATE url SET indexed=?, handed=0 WHERE key=?"
_ENTRY = "q.key, u.url, q.site, q.depth, q.seq, q.hops, u.display_url FROM queue q JOIN url u ON u.key=q.key"


class SqliteState:
    """The state of one source in one SQLite file, or in memory (`path=":memory:"`).

    The writer holds a lock for as long as it is open, so that two crawls of one source cannot mix; readers
    (`read_only=True`) see the last flush. Raises `UserError` if another process writes, `StateError` if
    the file is no store of ours or the disk is full.
    """

    def __init__(self, path: Path | str, source: str, *, read_only: bool = False) -> None:
        self.source = source
        self._lock: IO[str] | None = None
        self._path = str(path)
        if self._path != MEMORY and not read_only:
            self._lock = lock_file(Path(path), source)
        try:
            self._db = connect(self._path, read_only)
        except BaseException:
            if self._lock:
                self._lock.close()
            raise
        self._found: dict[int, tuple[QueueEntry, float]] = {}
        self._again: list[QueueEntry] = []
        self._done: dict[int, tuple[QueueEntry, UrlRecord]] = {}
        self._left: list[QueueEntry] = []
        """Entries that left the queue before the latest one of their URL, in the same stretch between two flushes."""
        self._amended: dict[int, UrlRecord] = {}
        self._marks: dict[int, bool] = {}
        self._names: dict[str, set[int]] = {}
        """Keys by display URL, of what is not flushed."""
        self._any_names = bool(self._one("SELECT EXISTS (SELECT 1 FROM url WHERE display_url<>'')")[0])
        self._seq = self._last_seq()
        self._prints: dict[bytes, set[int]] = {}
        """Keys by fingerprint, of what is not flushed."""
        self.sitemaps = SitemapTable(self._db, self._all)
        self.near = NearTable(self._db, self._all)

    # ---- runs

    def begin_run(self, started: float, scope: str) -> tuple[RunMark, bool]:
        """Open the next run, or the one that did not end; see `StateStore`."""
        latest = next(iter(self.runs(1)), None)
        if latest and not latest.finished and latest.scope == scope:
            self.sitemaps.resume_run()
            return latest, True
        number = latest.number + 1 if latest else 1
        with translated(), self._transaction():
            self._db.execute(
                "INSERT INTO run (number, started, scope) VALUES (?,?,?)", (number, started, scope)
            )
            self._forget_orphans()
            self.sitemaps.begin_run(number - 1)
            self.near.begin_run()
            self._db.execute("DELETE FROM queue")
            self._db.execute(
                "INSERT INTO queue (site, depth, seq, key) "
                "SELECT site, depth, row_number() OVER (ORDER BY depth, first_seen, url), key FROM url "
                "WHERE key NOT IN (SELECT key FROM sitemap)"
            )
        self._seq = self._last_seq()
        return RunMark(number, started, scope=scope), False

    def _forget_orphans(self) -> None:
        self._db.executemany("DELETE FROM url WHERE key=?", [(key,) for key in self.orphans()])

    def orphans(self) -> set[int]:
        """Return the keys of URLs that were gone several times in a row and that no known page links to."""
        gone = {
            key for (key,) in self._all("SELECT key FROM url WHERE outcome='GONE' AND failures>=?", GONE_RUNS)
        }
        if gone:
            for (links,) in self._db.execute("SELECT links FROM url WHERE outcome<>'GONE' AND links<>x''"):
                gone.difference_update(array("q", links))
        return gone

    def end_run(self, run: RunMark) -> None:
        """Store the end of a run durably."""
        self.flush()
        with translated(), self._transaction():
            self._db.execute(
                "UPDATE run SET finished=?, report=?, scope=? WHERE number=?",
                (run.finished, run.report, run.scope, run.number),
            )

    def runs(self, limit: int = 10) -> list[RunMark]:
        """Return the latest runs, newest first."""
        rows = self._all(
            "SELECT number, started, finished, scope, report FROM run ORDER BY number DESC LIMIT ?", limit
        )
        return [RunMark(*row) for row in rows]

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
            return self._record(entry, now)
        rows = self._all(f"SELECT {_RECORD} FROM url WHERE key=?", key)  # noqa: S608 - constant column names
        return self._from_row(rows[0]) if rows else None

    def _record(self, entry: QueueEntry, now: float) -> UrlRecord:
        return UrlRecord(
            entry.url, self.source, depth=entry.depth, display_url=entry.display_url, first_seen=now
        )

    def discover(self, entry: QueueEntry, now: float) -> None:
        """Add a URL that is not known yet to table and queue."""
        self._found[entry.key] = (entry, now)
        self._note_name(entry.key, entry.display_url)

    def requeue(self, entry: QueueEntry) -> None:
        """Put a known URL into the queue again."""
        self._again.append(entry)

    def finish(self, entry: QueueEntry, record: UrlRecord) -> None:
        """Replace the record of a queued URL and take it out of the queue."""
        if entry.key in self._done:
            self._left.append(self._done[entry.key][0])
        self._done[entry.key] = (entry, record)
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
        rows = [(key,) for key in keys]
        with translated(), self._transaction():
            self._db.executemany("DELETE FROM queue WHERE key=?", rows)
            self._db.executemany("DELETE FROM url WHERE key=?", rows)
            self.sitemaps.forget_dropped()

    def kept_keys(self, *, duplicates: bool = False) -> frozenset[int]:
        """Return the keys of documents that are in the index or on their way there."""
        self.flush()
        rest = "OR (outcome='DUPLICATE' AND fingerprint<>x'')" if duplicates else ""
        query = f"SELECT key FROM url WHERE indexed=1 OR handed=1 {rest}"  # noqa: S608 - constant text
        return frozenset(key for (key,) in self._all(query))

    def mark_indexed(self, keys: Iterable[tuple[int, bool]]) -> None:
        """Say whether the documents of these keys are in the index."""
        self._marks.update(keys)

    def lost(self, waiting: frozenset[int]) -> int:
        """Make documents that were handed over but got lost be fetched anew."""
        lost = [(key,) for (key,) in self._all("SELECT key FROM url WHERE handed=1") if key not in waiting]
        with translated(), self._transaction():
            self._db.executemany(
                "UPDATE url SET handed=0, indexed=0, etag='', last_modified='', checksum=x'' WHERE key=?",
                lost,
            )
        return len(lost)

    # ---- the queue

    def queued(self, site: str, limit: int) -> list[QueueEntry]:
        """Return the first `limit` waiting URLs of a site, in order."""
        self.flush()
        rows = self._all(f"SELECT {_ENTRY} WHERE q.site=? ORDER BY q.depth, q.seq LIMIT ?", site, limit)
        return [QueueEntry(*row) for row in rows]

    def queued_sites(self) -> list[tuple[str, int]]:
        """Return every site with waiting URLs and their number."""
        self.flush()
        return [
            (site, number) for site, number in self._all("SELECT site, count(*) FROM queue GROUP BY site")
        ]

    def next_seq(self) -> int:
        """Return a number higher than that of every entry so far."""
        self._seq += 1
        return self._seq

    def _last_seq(self) -> int:
        return int(self._one("SELECT coalesce(max(seq), 0) FROM queue")[0])

    # ---- durability

    @property
    def unflushed(self) -> int:
        """The number of writes that wait for the next flush."""
        waiting = (self._found, self._again, self._done, self._amended, self._marks)
        return sum(map(len, waiting)) + self.sitemaps.unwritten + self.near.unwritten

    def flush(self) -> None:
        """Make everything said so far durable, in one transaction."""
        if not self.unflushed:
            return
        new = [entry for entry, _ in self._found.values()]
        with translated(), self._transaction():
            run = self._db.executemany
            run(
                _DISCOVER,
                [(e.key, e.url, e.site, e.depth, e.display_url, t) for e, t in self._found.values()],
            )
            run(_ENQUEUE, [(e.site, e.depth, e.seq, e.key, e.hops) for e in (*new, *self._again)])
            gone = (*self._left, *(entry for entry, _ in self._done.values()))
            run(_DEQUEUE, [(e.site, e.depth, e.seq) for e in gone])
            run(_UPSERT, [_row(key, site_of(record.url), record) for key, record in self._amended.items()])
            run(_UPSERT, [_row(entry.key, entry.site, record) for entry, record in self._done.values()])
            run(_MARK, [(indexed, key) for key, indexed in self._marks.items()])
            self.sitemaps.write()
            self.near.write()
        self.sitemaps.written()
        self.near.written()
        self._found.clear()
        self._again.clear()
        self._done.clear()
        self._left.clear()
        self._amended.clear()
        self._names.clear()
        self._prints.clear()
        self._marks.clear()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            # SQLite may have rolled back by itself (disk full); a second rollback is then an error of its own.
            with contextlib.suppress(sqlite3.OperationalError):
                self._db.execute("ROLLBACK")
            raise

    # ---- reading

    def records(self, outcome: UrlOutcome | None = None) -> Iterator[UrlRecord]:
        """Yield all records in order of their URL, of one outcome if it is named."""
        where = "WHERE outcome=?" if outcome else ""
        query = f"SELECT {_RECORD} FROM url {where} ORDER BY url"  # noqa: S608 - constant column names
        with translated():
            for row in self._db.execute(query, (outcome.value,) if outcome else ()):
                yield self._from_row(row)

    def counts(self) -> StateCounts:
        """Return how many URLs are known, waiting and indexed."""
        known, indexed = self._one("SELECT count(*), coalesce(sum(indexed), 0) FROM url")
        (queued,) = self._one("SELECT count(*) FROM queue")
        rows = self._all("SELECT outcome, count(*) FROM url GROUP BY outcome")
        return StateCounts(known, queued, indexed, {UrlOutcome(outcome): number for outcome, number in rows})

    def close(self) -> None:
        """Flush and release."""
        try:
            self.flush()
        finally:
            self._db.close()
            if self._lock:
                self._lock.close()

    def _from_row(self, row: tuple[object, ...]) -> UrlRecord:
        url, depth, display, status, outcome, reason, etag, modified, checksum, indexed, handed, *rest = row
        return UrlRecord(  # the columns are typed by the schema
            url, self.source, depth, display, status, UrlOutcome(outcome), reason, etag, modified, checksum,  # type: ignore[arg-type]
            bool(indexed), bool(handed), *rest,  # type: ignore[arg-type]
        )  # fmt: skip

    def _all(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with translated():
            return self._db.execute(query, values).fetchall()

    def _one(self, query: str) -> tuple[Any, ...]:
        return self._all(query)[0]


def _row(key: int, site: str, r: UrlRecord) -> tuple[object, ...]:
    return (
        key, site, r.url, r.depth, r.display_url, r.status_code, r.outcome.value, r.reason, r.etag,
        r.last_modified, r.checksum, r.indexed, r.handed, r.first_seen, r.last_fetched, r.failures, r.links,
        r.fingerprint, r.preference,
    )  # fmt: skip
