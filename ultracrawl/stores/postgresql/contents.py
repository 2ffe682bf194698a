"""Duplicate look-up: records by fingerprint, and table `near` with signatures by block."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import psycopg

from ultracrawl.model import UrlRecord
from ultracrawl.rules.duplicates.fingerprint import blocks, distance
from ultracrawl.stores.caching.loaded_tables import Signatures
from ultracrawl.stores.postgresql.part_base import ROWS_AT_ONCE, PostgresPart, StoreAccess
from ultracrawl.stores.postgresql.record_row import READ, record_of

_SELECT_BY_FINGERPRINTS = f"""
    {READ} AND u.fingerprint = ANY(%s)
    AND u.key IN (SELECT c.key FROM content c WHERE {{c}} AND c.fingerprint = ANY(%s)) ORDER BY u.key"""  # noqa: S608 - constant texts
_PUT_SIGNATURES = """
    INSERT INTO near (source, part, block, fingerprint, signature)
    SELECT {ids}, * FROM unnest(%s::bigint[], %s::bytea[], %s::bigint[]) ON CONFLICT DO NOTHING"""
_SELECT_SIGNATURES = (
    "SELECT fingerprint, signature FROM near WHERE {own} AND block >= %s AND block < %s LIMIT %s"
)
_DELETE_UNUSED = """
    DELETE FROM near n WHERE {n} AND NOT EXISTS (SELECT FROM content c WHERE {c} AND c.fingerprint = n.fingerprint)"""
_SIGN_BIT = 1 << 63


class PostgresContents(PostgresPart):
    """Which records have equal or similar content. The blocks find similar texts without comparing all of them."""

    def __init__(self, access: StoreAccess) -> None:
        super().__init__(access)
        self._texts = Signatures(self._stored_signatures)

    def begin_generation(self) -> None:
        """Begin without signatures and fingerprints."""
        self._signatures: dict[bytes, int] = {}
        self._blocks: dict[int, set[bytes]] = {}
        """Fingerprints by block."""
        self._fingerprints: dict[bytes, set[int]] = {}
        """Keys by fingerprint."""
        self.changes = (self._signatures, self._blocks, self._fingerprints)

    def _stored_signatures(self, found_by: range, limit: int) -> Iterable[tuple[bytes, int]] | None:
        if not self._record_cache.keeps:
            return None
        query, bounds = self._sql(_SELECT_SIGNATURES), (found_by.start, found_by.stop)
        rows = self._database.stream(query, *bounds, limit, at_once=ROWS_AT_ONCE)
        unflushed = (part._signatures.items() for part in self.generations)
        return chain(((found, value % (1 << 64)) for found, value in rows), *unflushed)

    def _note_fingerprint(self, key: int, fingerprint: bytes) -> None:
        if fingerprint:
            self._fingerprints.setdefault(fingerprint, set()).add(key)

    def _flushed_with(self, fingerprint: bytes) -> dict[int, UrlRecord]:
        """Return the flushed records with a fingerprint; read with those of the pages that are likely to be next."""
        kept = self._record_cache.get_by_fingerprint(fingerprint)
        if kept is not None:
            return kept
        asked = self._record_cache.asked_with(fingerprint)
        rows = self._read(_SELECT_BY_FINGERPRINTS, asked, asked)
        found = {row[0]: record_of(row, self._database.name) for row in rows}
        self._record_cache.put_by_fingerprint(asked, found)
        return {key: record for key, record in found.items() if record.fingerprint == fingerprint}

    def put_signature(self, fingerprint: bytes, signature: int) -> None:
        """Store the signature of a text."""
        self._signatures[fingerprint] = signature
        self._texts.add(fingerprint, signature)
        for block in blocks(signature):
            self._blocks.setdefault(block, set()).add(fingerprint)

    def nearest_signature(self, signature: int, within: int) -> bytes | None:
        """Return the fingerprint with the nearest signature."""
        if self._texts.holds_all():
            return self._texts.nearest(signature, within)
        signature_blocks = blocks(signature)
        query = "SELECT fingerprint, signature FROM near WHERE {own} AND block = ANY(%s)"
        known = {found: value % (1 << 64) for found, value in self._read(query, list(signature_blocks))}
        for part in self.generations:
            for block in signature_blocks:
                known.update((found, part._signatures[found]) for found in part._blocks.get(block, ()))
        near = [(distance(signature, value), found) for found, value in known.items()]
        best = min(near, default=None)
        return best[1] if best is not None and best[0] <= within else None

    def forget_unused_signatures(self, db: psycopg.Connection) -> None:
        """Delete signatures of fingerprints that no page has any more; inside a transaction, after `content`."""
        db.execute(self._sql(_DELETE_UNUSED))
        self._texts.read_again()

    def write_changes(self, db: psycopg.Connection) -> None:
        """Write the unflushed changes."""
        rows = sorted(
            (block, fingerprint, value - (1 << 64) if value & _SIGN_BIT else value)
            for fingerprint, value in self._signatures.items()
            for block in blocks(value)
        )
        if rows:
            db.execute(self._sql(_PUT_SIGNATURES), list(map(list, zip(*rows, strict=True))))
