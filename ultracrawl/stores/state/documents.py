"""Retained, expiring, submitted and indexed documents: what changed since the last flush, over the stored rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

from ultracrawl.stores.port.documents import READ_IN_TURN, Copy, Expiries, Retained, Unrecorded
from ultracrawl.stores.state.part import Access, Part, Writing, put_rows
from ultracrawl.stores.state.queue import Queue
from ultracrawl.stores.state.read_ahead import LARGE_VALUE, ValuesAhead


class Documents(Part):
    """Base class of the documents of each engine; see `DocumentPart`. Statements about retained ones are by purpose."""

    SELECT_RETAINED: Mapping[Retained, str]
    """Key and document of a list of keys."""
    SELECT_AHEAD: Mapping[Retained, str]
    """The same; takes a key, a size, and a list of keys: of larger documents than that only the one of the key."""
    RETAINED_KEYS: Mapping[Retained, str]
    """All keys, by depth and URL."""
    PUT_RETAINED: Mapping[Retained, str]
    """Takes key, document."""
    DELETE_RETAINED: Mapping[Retained, str]
    """Takes a key."""
    SELECT_EXPIRED = "SELECT key, at FROM expiry WHERE {own} AND at <= %s"
    COUNT_EXPIRED = """
        SELECT count(*) FILTER (WHERE at <= %s), min(at) FILTER (WHERE at > %s) FROM expiry WHERE {own}"""
    PUT_EXPIRY = put_rows("expiry", "key bigint", "at float8")
    DELETE_EXPIRY = "DELETE FROM expiry WHERE {own} AND key = ANY(%s)"
    SELECT_COPY = "SELECT checksum, holds FROM copy WHERE {own} AND key = %s"
    SELECT_COPIES = "SELECT key, holds FROM copy WHERE {own} AND checksum = %s"
    PUT_COPY = put_rows("copy", "key bigint", "checksum text, holds bool")
    DELETE_COPY = "DELETE FROM copy WHERE {own} AND key = ANY(%s)"
    SELECT_KEPT: str
    """Keys of all indexed, submitted, pending and succeeding documents."""
    SELECT_KEPT_AND_DUPLICATES: str
    COUNT_BEFORE: str
    """One row: how many documents there are that were not made at or after a time."""
    SELECT_STAND: str
    """Of a list of keys those that are known: whether each is submitted, and whether it is queued."""
    UPDATE_INDEXED: str
    """Takes key, whether its document is indexed."""
    CLEAR_VALIDATORS: str
    """Clears those of indexed and submitted documents."""
    MARK_LOST: str
    """Takes a key, whose document is not submitted or indexed any more, and has no validators."""
    MEET_AGAIN: str
    """Takes a key, which was not seen in this cycle."""

    def __init__(self, access: Access, queue: Queue) -> None:
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
        for part in (self, self.frozen):
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
        stored = self._read(self.SELECT_RETAINED[purpose], self._many(rest)) if rest else ()
        return found | {key: bytes(document) for key, document in stored}

    def _is_changed(self, purpose: Retained, key: int) -> bool:
        return key in self._retained[purpose] or key in self.frozen._retained[purpose]

    def _read_ahead(self, purpose: Retained, keys: list[int]) -> dict[int, bytes | None]:
        rows = self._read(self.SELECT_AHEAD[purpose], keys[0], LARGE_VALUE, self._many(keys))
        return {key: None if document is None else bytes(document) for key, document in rows}

    def retained_keys(self, purpose: Retained) -> list[int]:
        """Return the keys of all URLs with a retained document."""
        return [key for (key,) in self._read(self.RETAINED_KEYS[purpose])]

    def forget_read(self) -> None:
        """Forget what was read of documents whose URLs may have left the document table."""
        for ahead in self._ahead.values():
            ahead.forget()

    # ---- descriptions that expire

    def put_expiry(self, key: int, at: float) -> None:
        """Store when the description of a URL expires."""
        self._expiries[key] = at

    def expired_documents(self, now: float) -> dict[int, float]:
        """Return the expiry time by key of all expired descriptions."""
        return dict(self._read(self.SELECT_EXPIRED, now))

    def expiries(self, now: float) -> Expiries:
        """Return how many descriptions have expired and when the next one does."""
        ((expired, following),) = self._read(self.COUNT_EXPIRED, now, now)
        return Expiries(expired or 0, following or 0.0)

    # ---- copies, as the filters of a source compare them

    def put_copy(self, key: int, copy: Copy | None) -> None:
        """Store the checksum of the content of a known URL."""
        self._copies[key] = copy

    def copy_of(self, key: int) -> Copy | None:
        """Return the checksum stored for a URL, or None."""
        for part in (self, self.frozen):
            if key in part._copies:
                return part._copies[key]
        rows = self._read(self.SELECT_COPY, key)
        return Copy(rows[0][0], bool(rows[0][1])) if rows else None

    def copies(self, checksum: str) -> dict[int, bool]:
        """Return the keys of all URLs with a checksum, and whether each holds it."""
        unflushed = self.frozen._copies | self._copies
        rows = self._read(self.SELECT_COPIES, checksum)
        found = {key: bool(holds) for key, holds in rows if key not in unflushed}
        changed = ((key, copy) for key, copy in unflushed.items() if copy and copy.checksum == checksum)
        return found | {key: copy.holds for key, copy in changed}

    # ---- submitted and indexed documents

    def kept_keys(self, *, duplicates: bool = False) -> frozenset[int]:
        """Return the keys of all indexed, submitted and retained documents."""
        query = self.SELECT_KEPT_AND_DUPLICATES if duplicates else self.SELECT_KEPT
        return frozenset(key for (key,) in self._read(query))

    def documents_before(self, started: float) -> int:
        """Count the documents that existed when a run started."""
        return int(self._read(self.COUNT_BEFORE, started)[0][0])

    def mark_indexed(self, keys: Iterable[tuple[int, bool]]) -> None:
        """Record whether the documents of these keys are in the index."""
        self._marks.update(keys)

    def remake_documents(self) -> None:
        """Clear validators and checksums of indexed documents."""
        self._access.flush()
        self._record_cache.invalidate()
        self._access.write(lambda to: to.execute(self.CLEAR_VALIDATORS))

    def refetch_lost(self, waiting: frozenset[int]) -> list[int]:
        """Have visits read lost documents; returns the keys of those that are not queued."""
        lost = self._lost_documents(waiting)
        if not lost:
            return []
        self._record_cache.invalidate()
        self._access.write(lambda to: self._mark_lost(to, [(key,) for key in lost]))
        queued = {key for key, _, is_queued in self._stand(lost) if is_queued}
        return [key for key in lost if key not in queued]

    def _lost_documents(self, waiting: frozenset[int]) -> list[int]:
        """Return the keys of documents that are submitted and wait nowhere."""
        raise NotImplementedError

    def _mark_lost(self, to: Writing, keys: list[tuple[int]]) -> None:
        to.run(self.MARK_LOST, keys)
        to.run(self.MEET_AGAIN, keys)

    def adopt_unrecorded(self, waiting: Collection[int]) -> Unrecorded:
        """Mark documents as submitted that the store has not recorded as such.

        Those still in the queue were not recorded: a recorded visit leaves the queue.
        """
        self._record_cache.invalidate()
        rows = self._stand([*waiting]) if waiting else []
        known = sorted(key for key, submitted, queued in rows if queued and not submitted)
        if known:
            self._access.write(lambda to: self._mark_submitted(to, known))
        found = {row[0] for row in rows}
        return Unrecorded(tuple(known), tuple(key for key in waiting if key not in found))

    def _stand(self, keys: list[int]) -> list[tuple[int, bool, bool]]:
        rows = self._read(self.SELECT_STAND, self._many(keys))
        return [(key, bool(submitted), bool(queued)) for key, submitted, queued in rows]

    def _mark_submitted(self, to: Writing, keys: list[int]) -> None:
        """Mark documents as submitted, without validators."""
        raise NotImplementedError

    # ---- writing, inside a transaction of the store

    def write_changes(self, to: Writing) -> None:
        """Write the unflushed changes, after the records."""
        to.run(self.UPDATE_INDEXED, list(self._marks.items()))
        for purpose, changes in self._retained.items():
            kept = [(key, document) for key, document in changes.items() if document is not None]
            to.run(self.PUT_RETAINED[purpose], kept)
            gone = [(key,) for key, document in changes.items() if document is None]
            to.run(self.DELETE_RETAINED[purpose], gone)
        to.run(self.PUT_EXPIRY, [(key, at) for key, at in self._expiries.items() if at])
        to.run(self.DELETE_EXPIRY, [(key,) for key, at in self._expiries.items() if not at])
        to.run(self.PUT_COPY, [(key, *copy) for key, copy in self._copies.items() if copy])
        to.run(self.DELETE_COPY, [(key,) for key, copy in self._copies.items() if not copy])

    def forget_frozen(self) -> None:
        """Forget what was flushed, and the cached records that it changed."""
        retained = self.frozen._retained
        marked = (*self.frozen._marks, *retained[Retained.APPROVAL], *retained[Retained.CHANGE])
        self._record_cache.note_flushed(marked)
        super().forget_frozen()
