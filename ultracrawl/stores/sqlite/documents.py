"""Documents between crawl and index: kept back, expired, in the index, or on the way there; durable."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable

from ultracrawl.model import UrlOutcome
from ultracrawl.stores.port.documents import Expiries, Retained, Unrecorded
from ultracrawl.stores.sqlite.database import SqliteAccess, SqlitePart

_MARK = "UPDATE url SET indexed=?, submitted=0 WHERE key=?"
_BEFORE = "SELECT count(*) FROM url WHERE (indexed OR submitted) AND NOT (outcome=? AND last_fetched>=?)"
_REMAKE = "UPDATE url SET etag='', last_modified='', checksum=x'' WHERE indexed=1 OR submitted=1"
_REFETCH = "UPDATE url SET submitted=0, indexed=0, etag='', last_modified='', checksum=x'' WHERE key=?"
_SUBMITTED = "SELECT key, submitted FROM url WHERE key IN (SELECT value FROM json_each(?))"
_IN_QUEUE = """
    SELECT key FROM url WHERE key IN (SELECT value FROM json_each(?)) AND id IN (SELECT id FROM queue)"""
_ADOPT = "UPDATE url SET submitted=1, etag='', last_modified='', checksum=x'' WHERE key=?"
# The names of tables below are the values of an enumeration.
_RETAINED_KEYS = "SELECT p.key FROM {0} p JOIN url u ON u.key=p.key ORDER BY u.depth, u.url"
_RETAIN = "INSERT OR REPLACE INTO {0} (key, document) VALUES (?,?)"
_RELEASE = "DELETE FROM {0} WHERE key=?"
_FORGET_DROPPED = "DELETE FROM {0} WHERE key NOT IN (SELECT key FROM url)"


class SqliteDocuments(SqlitePart):
    """The tables `pending`, `successor`, `told`, `told_lists` and `expiry`, and marks in `url`; see `DocumentPart`."""

    def __init__(self, access: SqliteAccess) -> None:
        super().__init__(access)
        self._retained: dict[Retained, dict[int, bytes | None]] = {purpose: {} for purpose in Retained}
        self._expiries: dict[int, float] = {}
        self._marks: dict[int, bool] = {}
        self.changes = (self._marks, self._expiries, *self._retained.values())

    # ---- kept back

    def retain_document(self, purpose: Retained, key: int, document: bytes) -> None:
        """Keep the document of a URL."""
        self._access.ahead.forget_records((key,))
        self._retained[purpose][key] = document

    def release_document(self, purpose: Retained, key: int) -> None:
        """Delete the retained document of a URL."""
        self._access.ahead.forget_records((key,))
        self._retained[purpose][key] = None

    def retained_document(self, purpose: Retained, key: int) -> bytes | None:
        """Return the document of a URL."""
        changes = self._retained[purpose]
        if key in changes:
            return changes[key]
        rows = self._read(f"SELECT document FROM {purpose.value} WHERE key=?", key)  # noqa: S608 - a constant name
        return bytes(rows[0][0]) if rows else None

    def retained_keys(self, purpose: Retained) -> list[int]:
        """Return the keys of all URLs whose documents are kept."""
        return [key for (key,) in self._read(_RETAINED_KEYS.format(purpose.value))]

    # ---- descriptions that expire

    def put_expiry(self, key: int, at: float) -> None:
        """Store when the description of a URL expires."""
        self._expiries[key] = at

    def expired_documents(self, now: float) -> dict[int, float]:
        """Return the URLs whose descriptions have expired."""
        return dict(self._read("SELECT key, at FROM expiry WHERE at<=?", now))

    def expiries(self, now: float) -> Expiries:
        """Return how many have expired and when the next one does."""
        query = "SELECT sum(at<=?), min(CASE WHEN at>? THEN at END) FROM expiry"
        ((expired, following),) = self._read(query, now, now)
        return Expiries(expired or 0, following or 0.0)

    # ---- in the index, or on the way there

    def kept_keys(self, *, duplicates: bool = False) -> frozenset[int]:
        """Return the keys of documents that are in the index or on their way there."""
        self._access.flush()
        rest = "OR (outcome='DUPLICATE' AND fingerprint<>x'')" if duplicates else ""
        query = f"SELECT key FROM url WHERE indexed=1 OR submitted=1 {rest}"  # noqa: S608 - constant text
        waiting = " UNION SELECT key FROM pending UNION SELECT key FROM successor"
        return frozenset(key for (key,) in self._read(query + waiting))

    def documents_before(self, started: float) -> int:
        """Return how many documents there are of those that were there when a run started."""
        self._access.flush()
        return int(self._read(_BEFORE, UrlOutcome.NEW.value, started)[0][0])

    def mark_indexed(self, keys: Iterable[tuple[int, bool]]) -> None:
        """Mark whether the documents of these keys are in the index."""
        self._marks.update(keys)

    def remake_documents(self) -> None:
        """Delete validators and checksums of documents in the index."""
        self._access.flush()
        self._access.ahead.forget_records()
        with self._access.transaction():
            self._db.execute(_REMAKE)

    def refetch_lost(self, waiting: frozenset[int]) -> int:
        """Have documents fetched again that were submitted but got lost."""
        submitted = self._read("SELECT key FROM url WHERE submitted=1")
        lost = [(key,) for (key,) in submitted if key not in waiting]
        self._access.ahead.forget_records()
        with self._access.transaction():
            self._db.executemany(_REFETCH, lost)
        return len(lost)

    def adopt_unrecorded(self, waiting: Collection[int]) -> Unrecorded:
        """Mark documents as submitted that the store has not recorded as such.

        What was recorded is no longer in the queue.
        """
        self._access.ahead.forget_records()
        with self._access.transaction():
            submitted = dict(self._db.execute(_SUBMITTED, (json.dumps(list(waiting)),)).fetchall())
            doubted = [key for key, is_submitted in submitted.items() if not is_submitted]
            known = self._db.execute(_IN_QUEUE, (json.dumps(doubted),)).fetchall() if doubted else []
            self._db.executemany(_ADOPT, known)
        return Unrecorded(
            tuple(key for (key,) in known), tuple(key for key in waiting if key not in submitted)
        )

    # ---- writing, inside a transaction of the store

    def write_changes(self) -> None:
        """Write what waits, when records are written."""
        run = self._db.executemany
        self._access.ahead.forget_records((*self._marks, *self._retained[Retained.APPROVAL]))
        run(_MARK, [(indexed, key) for key, indexed in self._marks.items()])
        for purpose, changes in self._retained.items():
            kept = [(key, document) for key, document in changes.items() if document is not None]
            run(_RETAIN.format(purpose.value), kept)
            gone = [(key,) for key, document in changes.items() if document is None]
            run(_RELEASE.format(purpose.value), gone)
        dated = [(key, at) for key, at in self._expiries.items() if at]
        run("INSERT OR REPLACE INTO expiry (key, at) VALUES (?,?)", dated)
        run("DELETE FROM expiry WHERE key=?", [(key,) for key, at in self._expiries.items() if not at])

    def forget_dropped(self) -> None:
        """Delete documents whose URLs left the document table."""
        for purpose in Retained:
            self._db.execute(_FORGET_DROPPED.format(purpose.value))
