"""Retained, expiring, submitted and indexed documents of the SQLite store."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from functools import partial

from ultracrawl.model import UrlOutcome
from ultracrawl.stores.caching.read_ahead import LARGE_VALUE, ValuesAhead
from ultracrawl.stores.port.documents import READ_IN_TURN, Copy, Expiries, Retained, Unrecorded
from ultracrawl.stores.sqlite.database import SqliteAccess, SqlitePart
from ultracrawl.stores.sqlite.queue import SqliteQueue

_UPDATE_INDEXED = "UPDATE url SET indexed=?, submitted=0 WHERE key=?"
_COUNT_BEFORE_RUN = (
    "SELECT count(*) FROM url WHERE (indexed OR submitted) AND NOT (outcome=? AND last_fetched>=?)"
)
_CLEAR_VALIDATORS = "UPDATE url SET etag='', last_modified='', checksum=x'' WHERE indexed=1 OR submitted=1"
_MARK_LOST = "UPDATE url SET submitted=0, indexed=0, etag='', last_modified='', checksum=x'' WHERE key=?"
_MEET_AGAIN = "UPDATE revisit SET seen=0 WHERE id=(SELECT id FROM url WHERE key=?)"
_SELECT_SUBMITTED = "SELECT key, submitted FROM url WHERE key IN (SELECT value FROM json_each(?))"
_SELECT_QUEUED = """
    SELECT key FROM url WHERE key IN (SELECT value FROM json_each(?)) AND id IN (SELECT id FROM queue)"""
_MARK_SUBMITTED = "UPDATE url SET submitted=1, etag='', last_modified='', checksum=x'' WHERE key=?"
# {0} is a table name, the value of a `Retained` member.
_SELECT_RETAINED_KEYS = "SELECT p.key FROM {0} p JOIN url u ON u.key=p.key ORDER BY u.depth, u.url"
_SELECT_RETAINED = "SELECT key, document FROM {0} WHERE key IN (SELECT value FROM json_each(?))"
_SELECT_AHEAD = """
    SELECT key, CASE WHEN key=? OR length(document)<=? THEN document END FROM {0}
    WHERE key IN (SELECT value FROM json_each(?))"""
_INSERT_RETAINED = "INSERT OR REPLACE INTO {0} (key, document) VALUES (?,?)"
_DELETE_RETAINED = "DELETE FROM {0} WHERE key=?"
_DELETE_DROPPED = "DELETE FROM {0} WHERE key NOT IN (SELECT key FROM url)"


class SqliteDocuments(SqlitePart):
    """The tables of `Retained`, tables `expiry` and `copy`, and marks in `url`; see `DocumentPart`."""

    def __init__(self, access: SqliteAccess, queue: SqliteQueue) -> None:
        super().__init__(access)
        self._retained: dict[Retained, dict[int, bytes | None]] = {purpose: {} for purpose in Retained}
        self._ahead = {
            purpose: ValuesAhead[bytes](
                queue.keys_from,
                self._retained[purpose].__contains__,
                partial(self._read_ahead, purpose),
                len,
                keeps=access.record_cache.keeps,
            )
            for purpose in READ_IN_TURN
        }
        self._expiries: dict[int, float] = {}
        self._marks: dict[int, bool] = {}
        self._copies: dict[int, Copy | None] = {}
        self.changes = (self._marks, self._expiries, self._copies, *self._retained.values())

    # ---- retained documents

    def retain_document(self, purpose: Retained, key: int, document: bytes) -> None:
        """Retain the document of a URL."""
        self._change(purpose, key, document)

    def release_document(self, purpose: Retained, key: int) -> None:
        """Delete the retained document of a URL."""
        self._change(purpose, key, None)

    def _change(self, purpose: Retained, key: int, document: bytes | None) -> None:
        self._access.record_cache.invalidate((key,))
        self._retained[purpose][key] = document
        if purpose in self._ahead:
            self._ahead[purpose].drop((key,))

    def retained_document(self, purpose: Retained, key: int) -> bytes | None:
        """Return the retained document of a URL, or None."""
        changes = self._retained[purpose]
        if key in changes:
            return changes[key]
        if purpose in self._ahead:
            return self._ahead[purpose].get(key)
        return self.retained_documents(purpose, [key]).get(key)

    def retained_documents(self, purpose: Retained, keys: Sequence[int]) -> dict[int, bytes]:
        """Return the retained documents of some keys."""
        changes = self._retained[purpose]
        found = {key: document for key in keys if (document := changes.get(key)) is not None}
        rest = [key for key in keys if key not in changes]
        stored = self._read(_SELECT_RETAINED.format(purpose.value), json.dumps(rest)) if rest else ()
        return found | {key: bytes(document) for key, document in stored}

    def _read_ahead(self, purpose: Retained, keys: list[int]) -> dict[int, bytes | None]:
        query = _SELECT_AHEAD.format(purpose.value)
        return dict(self._read(query, keys[0], LARGE_VALUE, json.dumps(keys)))

    def retained_keys(self, purpose: Retained) -> list[int]:
        """Return the keys of all URLs with a retained document."""
        return [key for (key,) in self._read(_SELECT_RETAINED_KEYS.format(purpose.value))]

    # ---- descriptions that expire

    def put_expiry(self, key: int, at: float) -> None:
        """Store when the description of a URL expires."""
        self._expiries[key] = at

    def expired_documents(self, now: float) -> dict[int, float]:
        """Return the expiry time by key of all expired descriptions."""
        return dict(self._read("SELECT key, at FROM expiry WHERE at<=?", now))

    def expiries(self, now: float) -> Expiries:
        """Return how many descriptions have expired and when the next one does."""
        query = "SELECT sum(at<=?), min(CASE WHEN at>? THEN at END) FROM expiry"
        ((expired, following),) = self._read(query, now, now)
        return Expiries(expired or 0, following or 0.0)

    # ---- copies, as the filters of a source compare them

    def put_copy(self, key: int, copy: Copy | None) -> None:
        """Store the checksum of the content of a known URL."""
        self._copies[key] = copy

    def copy_of(self, key: int) -> Copy | None:
        """Return the checksum stored for a URL, or None."""
        if key in self._copies:
            return self._copies[key]
        rows = self._read("SELECT checksum, holds FROM copy WHERE key=?", key)
        return Copy(rows[0][0], bool(rows[0][1])) if rows else None

    def copies(self, checksum: str) -> dict[int, bool]:
        """Return the keys of all URLs with a checksum, and whether each holds it."""
        rows = self._read("SELECT key, holds FROM copy WHERE checksum=?", checksum)
        found = {key: bool(holds) for key, holds in rows if key not in self._copies}
        changed = ((key, copy) for key, copy in self._copies.items() if copy and copy.checksum == checksum)
        return found | {key: copy.holds for key, copy in changed}

    # ---- submitted and indexed documents

    def kept_keys(self, *, duplicates: bool = False) -> frozenset[int]:
        """Return the keys of all indexed, submitted and retained documents."""
        rest = "OR (outcome='DUPLICATE' AND fingerprint<>x'')" if duplicates else ""
        query = f"SELECT key FROM url WHERE indexed=1 OR submitted=1 {rest}"  # noqa: S608 - constant text
        waiting = " UNION SELECT key FROM pending UNION SELECT key FROM successor"
        return frozenset(key for (key,) in self._read(query + waiting))

    def documents_before(self, started: float) -> int:
        """Count the documents that existed when a run started."""
        return int(self._read(_COUNT_BEFORE_RUN, UrlOutcome.NEW.value, started)[0][0])

    def mark_indexed(self, keys: Iterable[tuple[int, bool]]) -> None:
        """Record whether the documents of these keys are in the index."""
        self._marks.update(keys)

    def remake_documents(self) -> None:
        """Clear validators and checksums of indexed documents."""
        self._access.flush()
        self._access.record_cache.invalidate()
        with self._access.transaction():
            self._db.execute(_CLEAR_VALIDATORS)

    def open_place(self, name: str) -> bool:
        """Do nothing: there is one machine."""
        return False

    def submitted_here(self, keys: Collection[int]) -> frozenset[int]:
        """Return all keys."""
        return frozenset(keys)

    def keep_place(self) -> None:
        """Do nothing."""

    def note_submitted(self, key: int) -> None:
        """Do nothing."""

    def refetch_lost(self, waiting: frozenset[int]) -> list[int]:
        """Have visits read lost documents; returns the keys of those that are not queued."""
        submitted = self._read("SELECT key FROM url WHERE submitted=1")
        lost = [key for (key,) in submitted if key not in waiting]
        if not lost:
            return []
        self._access.record_cache.invalidate()
        with self._access.transaction():
            self._db.executemany(_MARK_LOST, [(key,) for key in lost])
            self._db.executemany(_MEET_AGAIN, [(key,) for key in lost])
            queued = {key for (key,) in self._db.execute(_SELECT_QUEUED, (json.dumps(lost),))}
        return [key for key in lost if key not in queued]

    def adopt_unrecorded(self, waiting: Collection[int]) -> Unrecorded:
        """Mark documents as submitted that the store has not recorded as such.

        Those still in the queue were not recorded: a recorded visit leaves the queue.
        """
        self._access.record_cache.invalidate()
        with self._access.transaction():
            submitted = dict(self._db.execute(_SELECT_SUBMITTED, (json.dumps(list(waiting)),)).fetchall())
            doubted = [key for key, is_submitted in submitted.items() if not is_submitted]
            known = self._db.execute(_SELECT_QUEUED, (json.dumps(doubted),)).fetchall() if doubted else []
            self._db.executemany(_MARK_SUBMITTED, known)
        return Unrecorded(
            tuple(key for (key,) in known), tuple(key for key in waiting if key not in submitted)
        )

    # ---- writing, inside a transaction of the store

    def write_changes(self) -> None:
        """Write the unflushed changes, after the records."""
        run = self._db.executemany
        self._access.record_cache.note_flushed(
            (*self._marks, *self._retained[Retained.APPROVAL], *self._retained[Retained.CHANGE])
        )
        run(_UPDATE_INDEXED, [(indexed, key) for key, indexed in self._marks.items()])
        for purpose, changes in self._retained.items():
            kept = [(key, document) for key, document in changes.items() if document is not None]
            run(_INSERT_RETAINED.format(purpose.value), kept)
            gone = [(key,) for key, document in changes.items() if document is None]
            run(_DELETE_RETAINED.format(purpose.value), gone)
        dated = [(key, at) for key, at in self._expiries.items() if at]
        run("INSERT OR REPLACE INTO expiry (key, at) VALUES (?,?)", dated)
        run("DELETE FROM expiry WHERE key=?", [(key,) for key, at in self._expiries.items() if not at])
        copies = [(key, *copy) for key, copy in self._copies.items() if copy]
        run("INSERT OR REPLACE INTO copy (key, checksum, holds) VALUES (?,?,?)", copies)
        run("DELETE FROM copy WHERE key=?", [(key,) for key, copy in self._copies.items() if not copy])

    def forget_dropped(self) -> None:
        """Delete documents whose URLs left the document table."""
        for ahead in self._ahead.values():
            ahead.forget()
        for purpose in Retained:
            self._db.execute(_DELETE_DROPPED.format(purpose.value))
