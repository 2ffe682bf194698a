"""Retained, expiring, submitted and indexed documents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import partial

import psycopg

from ultracrawl.model import UrlOutcome
from ultracrawl.stores.caching.read_ahead import LARGE_VALUE, ValuesAhead
from ultracrawl.stores.port.documents import READ_IN_TURN, Copy, Expiries, Retained, Unrecorded
from ultracrawl.stores.postgresql.access.fencing import is_over, run_for
from ultracrawl.stores.postgresql.codes import OUTCOME_NUMBERS, PURPOSE_NUMBERS
from ultracrawl.stores.postgresql.part_base import PostgresPart, StoreAccess
from ultracrawl.stores.postgresql.queue import PostgresQueue
from ultracrawl.stores.postgresql.record_row import SUBMIT

_PENDING, _SUCCESSOR = PURPOSE_NUMBERS[Retained.APPROVAL], PURPOSE_NUMBERS[Retained.REPLACEMENT]
_UPDATE_INDEXED = """
    UPDATE url u SET indexed = t.indexed FROM unnest(%s::bigint[], %s::bool[]) t(key, indexed)
    WHERE {u} AND u.key = t.key"""
_DELETE_SUBMITTED = "DELETE FROM submitted WHERE {own} AND key = ANY(%s)"
_COUNT_BEFORE_RUN = f"""
    SELECT count(*) FROM url u LEFT JOIN submitted s ON {{s}} AND s.key = u.key
    WHERE {{u}} AND (u.indexed OR s.key IS NOT NULL)
    AND NOT (u.outcome = {OUTCOME_NUMBERS[UrlOutcome.NEW]} AND coalesce(u.last_fetched, 0) >= %s)"""  # noqa: S608 - constant texts
_CLEAR = "UPDATE url u SET etag = NULL, last_modified = NULL, checksum = NULL"
_CLEAR_VALIDATORS = f"""
    {_CLEAR} WHERE {{u}} AND (indexed OR EXISTS (SELECT FROM submitted s WHERE {{s}} AND s.key = u.key))"""
_MARK_LOST = f"{_CLEAR}, indexed = false WHERE {{u}} AND key = ANY(%s)"
_SELECT_STAND = """
    SELECT u.key, s.key IS NOT NULL, EXISTS (SELECT FROM queue q WHERE {q} AND q.key = u.key) FROM url u
    LEFT JOIN submitted s ON {s} AND s.key = u.key WHERE {u} AND u.key = ANY(%s)"""
_ADD_PLACE = b"INSERT INTO place (name) VALUES (%s) ON CONFLICT DO NOTHING"
_PLACE = b"SELECT place FROM place WHERE name = %s"
_LAST_PLACE = "SELECT place FROM part WHERE {own}"
_KEEP_PLACE = "UPDATE part SET place = %s WHERE {own} AND place <> %s"
_SUBMITTED_AT = "SELECT key FROM submitted WHERE {own} AND place = %s AND key = ANY(%s)"
_LIVING_PLACES = b"""
    SELECT place.place, machine, process FROM place JOIN node ON node.told::json ->> 'place' = place.name
    WHERE token IS NOT NULL AND until > moment()"""
_MEET_AGAIN = "UPDATE revisit SET seen = 0 WHERE {own} AND key = ANY(%s)"
_CLEAR_OF = f"{_CLEAR} WHERE {{u}} AND key = ANY(%s)"
_SELECT_RETAINED_KEYS = """
    SELECT p.key FROM retained p JOIN url u ON {u} AND u.key = p.key WHERE {p} AND p.purpose = %s
    ORDER BY u.depth, u.url"""
_SELECT_RETAINED = "SELECT key, document FROM retained WHERE {own} AND purpose = %s AND key = ANY(%s)"
_SELECT_AHEAD = """
    SELECT key, CASE WHEN key = %s OR octet_length(document) <= %s THEN document END FROM retained
    WHERE {own} AND purpose = %s AND key = ANY(%s)"""
_PUT_RETAINED = """
    INSERT INTO retained (source, part, key, document, purpose)
    SELECT {ids}, t.*, %s FROM unnest(%s::bigint[], %s::bytea[]) t
    ON CONFLICT (source, part, purpose, key) DO UPDATE SET document = excluded.document"""
_DELETE_RETAINED = "DELETE FROM retained WHERE {own} AND purpose = %s AND key = ANY(%s)"
_PUT_EXPIRIES = """
    INSERT INTO expiry (source, part, key, at) SELECT {ids}, * FROM unnest(%s::bigint[], %s::float8[])
    ON CONFLICT (source, part, key) DO UPDATE SET at = excluded.at"""
_PUT_COPIES = """
    INSERT INTO copy (source, part, key, checksum, holds)
    SELECT {ids}, * FROM unnest(%s::bigint[], %s::text[], %s::bool[])
    ON CONFLICT (source, part, key) DO UPDATE SET checksum = excluded.checksum, holds = excluded.holds"""
_KEPT = f"""
    SELECT key FROM url WHERE {{own}} AND (indexed OR %s AND outcome = {OUTCOME_NUMBERS[UrlOutcome.DUPLICATE]}
        AND fingerprint IS NOT NULL)
    UNION SELECT key FROM submitted WHERE {{own}}
    UNION SELECT key FROM retained WHERE {{own}} AND purpose IN ({_PENDING}, {_SUCCESSOR})"""  # noqa: S608 - constant texts


class PostgresDocuments(PostgresPart):
    """The tables `retained`, `expiry`, `copy` and `submitted`, and marks in `url`; see `DocumentPart`."""

    def __init__(self, access: StoreAccess, queue: PostgresQueue) -> None:
        super().__init__(access)
        self._ahead = {
            purpose: ValuesAhead[bytes](
                queue.keys_from,
                partial(self._is_changed, purpose),
                partial(self._read_ahead, purpose),
                len,
                keeps=self._record_cache.keeps,
            )
            for purpose in READ_IN_TURN
        }

    def begin_generation(self) -> None:
        """Begin with no documents."""
        self._retained: dict[Retained, dict[int, bytes | None]] = {purpose: {} for purpose in Retained}
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
        self._record_cache.invalidate((key,))
        self._retained[purpose][key] = document
        if purpose in self._ahead:
            self._ahead[purpose].drop((key,))

    def retained_document(self, purpose: Retained, key: int) -> bytes | None:
        """Return the retained document of a URL, or None."""
        for part in reversed(self.generations):
            if key in part._retained[purpose]:
                return part._retained[purpose][key]
        if purpose in self._ahead:
            return self._ahead[purpose].get(key)
        return self.retained_documents(purpose, [key]).get(key)

    def retained_documents(self, purpose: Retained, keys: Sequence[int]) -> dict[int, bytes]:
        """Return the retained documents of some keys."""
        changes = self.frozen._retained[purpose] | self._retained[purpose]
        found = {key: document for key in keys if (document := changes.get(key)) is not None}
        rest = [key for key in keys if key not in changes]
        stored = self._read(_SELECT_RETAINED, PURPOSE_NUMBERS[purpose], rest) if rest else ()
        return found | {key: bytes(document) for key, document in stored}

    def _is_changed(self, purpose: Retained, key: int) -> bool:
        return any(key in part._retained[purpose] for part in self.generations)

    def _read_ahead(self, purpose: Retained, keys: list[int]) -> dict[int, bytes | None]:
        rows = self._read(_SELECT_AHEAD, keys[0], LARGE_VALUE, PURPOSE_NUMBERS[purpose], keys)
        return {key: None if document is None else bytes(document) for key, document in rows}

    def forget_read(self) -> None:
        """Forget what was read of documents whose URLs may have left the document table."""
        for ahead in self._ahead.values():
            ahead.forget()

    def retained_keys(self, purpose: Retained) -> list[int]:
        """Return the keys of all URLs with a retained document."""
        return [key for (key,) in self._read(_SELECT_RETAINED_KEYS, PURPOSE_NUMBERS[purpose])]

    # ---- descriptions that expire

    def put_expiry(self, key: int, at: float) -> None:
        """Store when the description of a URL expires."""
        self._expiries[key] = at

    def expired_documents(self, now: float) -> dict[int, float]:
        """Return the expiry time by key of all expired descriptions."""
        return dict(self._read("SELECT key, at FROM expiry WHERE {own} AND at <= %s", now))

    def expiries(self, now: float) -> Expiries:
        """Return how many descriptions have expired and when the next one does."""
        query = """
            SELECT count(*) FILTER (WHERE at <= %s), min(at) FILTER (WHERE at > %s) FROM expiry WHERE {own}"""
        ((expired, following),) = self._read(query, now, now)
        return Expiries(expired, following or 0.0)

    # ---- copies, as the filters of a source compare them

    def put_copy(self, key: int, copy: Copy | None) -> None:
        """Store the checksum of the content of a known URL."""
        self._copies[key] = copy

    def copy_of(self, key: int) -> Copy | None:
        """Return the checksum stored for a URL, or None."""
        for part in reversed(self.generations):
            if key in part._copies:
                return part._copies[key]
        rows = self._read("SELECT checksum, holds FROM copy WHERE {own} AND key = %s", key)
        return Copy(*rows[0]) if rows else None

    def copies(self, checksum: str) -> dict[int, bool]:
        """Return the keys of all URLs with a checksum, and whether each holds it."""
        rows = self._read("SELECT key, holds FROM copy WHERE {own} AND checksum = %s", checksum)
        unflushed = self.frozen._copies | self._copies
        found = {key: holds for key, holds in rows if key not in unflushed}
        changed = ((key, copy) for key, copy in unflushed.items() if copy and copy.checksum == checksum)
        return found | {key: copy.holds for key, copy in changed}

    # ---- submitted and indexed documents

    def kept_keys(self, *, duplicates: bool = False) -> frozenset[int]:
        """Return the keys of all indexed, submitted and retained documents."""
        return frozenset(key for (key,) in self._read(_KEPT, duplicates))

    def documents_before(self, started: float) -> int:
        """Count the documents that existed when a run started."""
        return int(self._read(_COUNT_BEFORE_RUN, started)[0][0])

    def mark_indexed(self, keys: Iterable[tuple[int, bool]]) -> None:
        """Record whether the documents of these keys are in the index."""
        self._marks.update(keys)

    def remake_documents(self) -> None:
        """Clear validators and checksums of indexed documents."""
        self._access.flush()
        self._record_cache.invalidate()
        self._database.write(lambda db: db.execute(self._sql(_CLEAR_VALIDATORS)))

    def open_place(self, name: str) -> bool:
        """Look up the number of the cache, giving a new one to a new cache."""
        rows = self._database.read(_PLACE, name)
        if not rows:
            self._database.read(_ADD_PLACE, name)
            rows = self._database.read(_PLACE, name)
        self._access.place = int(rows[0][0])
        return self._read(_LAST_PLACE)[0][0] not in (0, self._access.place)

    def submitted_here(self, keys: Collection[int]) -> frozenset[int]:
        """Return the keys whose rows name this cache."""
        return frozenset(key for (key,) in self._read(_SUBMITTED_AT, self._access.place, list(keys)))

    def keep_place(self) -> None:
        """Note the cache in the row of the writer."""
        place = self._access.place
        if place and self._read(_LAST_PLACE) != [(place,)]:
            self._database.write(lambda db: db.execute(self._sql(_KEEP_PLACE), [place, place]))

    def note_submitted(self, key: int) -> None:
        """Have the next row of the document name this cache."""
        self._access.elsewhere.discard(key)

    def _living_places(self) -> set[int]:
        rows = self._database.read(_LIVING_PLACES)
        return {place for place, machine, process in rows if not is_over(machine, process)}

    def refetch_lost(self, waiting: frozenset[int]) -> list[int]:
        """Have visits read lost documents; returns the keys of those that are not queued."""
        submitted = self._read("SELECT key, place FROM submitted WHERE {own} ORDER BY key")
        own = {0, self._access.place}
        living = self._living_places() if any(place not in own for _, place in submitted) else set()
        self._access.elsewhere = {key for key, place in submitted if place not in own and place in living}
        lost = [
            key
            for key, place in submitted
            if key not in self._access.elsewhere and (place not in own or key not in waiting)
        ]
        if not lost:
            return []
        self._record_cache.invalidate()

        def mark(db: psycopg.Connection) -> None:
            db.execute(self._sql(_MARK_LOST), [lost])
            db.execute(self._sql(_DELETE_SUBMITTED), [lost])
            db.execute(self._sql(_MEET_AGAIN), [lost])

        self._database.write(mark)
        queued = {key for (key,) in self._read("SELECT key FROM queue WHERE {own} AND key = ANY(%s)", lost)}
        return [key for key in lost if key not in queued]

    def adopt_unrecorded(self, waiting: Collection[int]) -> Unrecorded:
        """Mark documents as submitted that the store has not recorded as such.

        Those still in the queue were not recorded: a recorded visit leaves the queue.
        """
        self._record_cache.invalidate()
        rows = self._read(_SELECT_STAND, list(waiting)) if waiting else []
        known = sorted(key for key, submitted, queued in rows if queued and not submitted)

        def adopt(db: psycopg.Connection) -> None:
            db.execute(self._sql(SUBMIT), [self._access.place, known])
            db.execute(self._sql(_CLEAR_OF), [known])

        if known:
            self._database.write(adopt)
        found = {row[0] for row in rows}
        return Unrecorded(tuple(known), tuple(key for key in waiting if key not in found))

    # ---- writing, inside a transaction of the store

    def write_changes(self, db: psycopg.Connection) -> None:
        """Write the unflushed changes, after the records."""
        run_for(db, self._sql(_UPDATE_INDEXED), list(self._marks.items()))
        if self._marks:
            db.execute(self._sql(_DELETE_SUBMITTED), [sorted(self._marks)])
        for purpose, changes in self._retained.items():
            number = PURPOSE_NUMBERS[purpose]
            if kept := sorted((key, document) for key, document in changes.items() if document is not None):
                db.execute(self._sql(_PUT_RETAINED), [number, *map(list, zip(*kept, strict=True))])
            if gone := sorted(key for key, document in changes.items() if document is None):
                db.execute(self._sql(_DELETE_RETAINED), [number, gone])
        run_for(db, self._sql(_PUT_EXPIRIES), [(key, float(at)) for key, at in self._expiries.items() if at])
        if cleared := sorted(key for key, at in self._expiries.items() if not at):
            db.execute(self._sql("DELETE FROM expiry WHERE {own} AND key = ANY(%s)"), [cleared])
        run_for(db, self._sql(_PUT_COPIES), [(key, *copy) for key, copy in self._copies.items() if copy])
        if removed := sorted(key for key, copy in self._copies.items() if not copy):
            db.execute(self._sql("DELETE FROM copy WHERE {own} AND key = ANY(%s)"), [removed])

    def forget_frozen(self) -> None:
        """Forget what was flushed, and the cached records that it changed."""
        retained = self.frozen._retained
        marked = (*self.frozen._marks, *retained[Retained.APPROVAL], *retained[Retained.CHANGE])
        self._record_cache.note_flushed(marked)
        super().forget_frozen()
