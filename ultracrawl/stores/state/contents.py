"""Equal and similar content: fingerprints and signatures of texts, unflushed ones over the stored ones."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TypeVar

from ultracrawl.model import UrlRecord
from ultracrawl.rules.duplicates.fingerprint import PART_BITS, PARTS, SIZE, blocks, distance
from ultracrawl.stores.state import read_ahead
from ultracrawl.stores.state.part import Access, Part, Writing
from ultracrawl.stores.state.read_ahead import Parts, PossibleValues, Row

MAX_SIGNATURES = 1_000_000
"""With more texts than these (40 MB), similar ones are looked up for each page."""
_BLOCKS = len(blocks(0))
_BLOCK_VALUES = 1 << PARTS * PART_BITS // _BLOCKS
_SIGN_BIT = 1 << 63

T = TypeVar("T", int, bytes)


class Signatures:
    """The signatures of texts with their fingerprints, 40 bytes each and 1 MB: chains of those with a block in common.

    `load` returns fingerprints and signatures of the texts with one of a range of blocks, those that are not flushed
    included, or None if another process may write some; it takes a limit.
    """

    def __init__(self, load: Callable[[range, int], Iterable[tuple[bytes, int]] | None]) -> None:
        self._load = load
        self._form = -1
        """The form of the signatures that were read, as `blocks` tells it; negative: none were."""
        self._too_many = False
        self._clear()

    def _clear(self) -> None:
        self._values = array("Q")
        self._prints = bytearray()
        self._latest = array("I")
        """By block: the number of the text that was added last, from 1; 0 for none."""
        self._before = array("I")
        """By text and place of a block: the number of the text that was added before."""

    def holds_all(self) -> bool:
        """Return whether all texts are in memory, now that they were needed."""
        first = blocks(0)[0]
        if self._form != first and not self._too_many:
            rows = self._load(range(first, first + _BLOCK_VALUES), MAX_SIGNATURES + 1)
            if rows is None:
                self._too_many = True
            else:
                self._fill(first, rows)
        return not self._too_many

    def _fill(self, form: int, rows: Iterable[tuple[bytes, int]]) -> None:
        self._clear()
        self._form, self._latest = form, array("I", bytes(4 * _BLOCKS * _BLOCK_VALUES))
        for fingerprint, signature in rows:
            self.add(fingerprint, signature)

    def add(self, fingerprint: bytes, signature: int) -> None:
        """Add a text, once or again."""
        if self._form < 0 or self._too_many:
            return
        self._values.append(signature)
        self._prints += fingerprint
        number = len(self._values)
        for block in blocks(signature):
            slot = block - self._form
            self._before.append(self._latest[slot])
            self._latest[slot] = number
        if number > MAX_SIGNATURES:
            self._too_many = True
            self._clear()

    def nearest(self, signature: int, within: int) -> bytes | None:
        """Return the fingerprint with the nearest signature; see `RecordPart.nearest_signature`."""
        least, best = within, None
        for place, block in enumerate(blocks(signature)):
            number = self._latest[block - self._form]
            while number:
                differing = distance(signature, self._values[number - 1])
                if differing <= least:
                    found = bytes(self._prints[SIZE * (number - 1) : SIZE * number])
                    if best is None or (differing, found) < (least, best):
                        least, best = differing, found
                number = self._before[_BLOCKS * (number - 1) + place]
        return best

    def read_again(self) -> None:
        """Forget what was read, since the table has changed."""
        self._form, self._too_many = -1, False
        self._clear()


class Contents(Part):
    """Which records have equal or similar content. The blocks find similar texts without comparing all of them."""

    ALL_FINGERPRINTS: str
    """All fingerprints in order, each at least once."""
    SELECT_SIGNATURES = (
        "SELECT fingerprint, signature FROM near WHERE {own} AND block >= %s AND block < %s LIMIT %s"
    )
    SELECT_NEAR = "SELECT fingerprint, signature FROM near WHERE {own} AND block = ANY(%s)"
    PUT_SIGNATURE = """
        INSERT INTO near (source, part, block, fingerprint, signature)
        SELECT {ids}, * FROM unnest(%s::bigint[], %s::bytea[], %s::bigint[]) ON CONFLICT DO NOTHING"""
    DELETE_SIGNATURES: str
    """Deletes those of fingerprints that no record has any more."""
    per_look_up: int | None = None
    """Stored values for each look-up before they are loaded; None for `VALUES_PER_LOOK_UP`."""

    def __init__(self, access: Access, expected: Callable[[], int]) -> None:
        """`expected` returns how many look-ups are to come."""  # noqa: D401
        super().__init__(access)
        self._possible_fingerprints = PossibleValues[bytes](
            self._highest_number,
            self._parts_of_fingerprints,
            _part_of_fingerprint,
            expected,
            self.per_look_up,
        )
        self._texts = Signatures(self._stored_signatures)

    def begin_generation(self) -> None:
        """Begin without signatures and fingerprints."""
        self._signatures: dict[bytes, int] = {}
        self._blocks: dict[int, set[bytes]] = {}
        """Fingerprints by block."""
        self._fingerprints: dict[bytes, set[int]] = {}
        """Keys by fingerprint."""
        self.changes = (self._signatures, self._blocks, self._fingerprints)

    def _highest_number(self) -> int:
        """Return a number that is at least that of the stored URLs."""
        raise NotImplementedError

    def _parts_of_fingerprints(self) -> tuple[Parts, set[bytes]] | None:
        waiting = [part._fingerprints for part in self.generations]
        return self._parts(self.ALL_FINGERPRINTS, _part_of_fingerprint, waiting)

    def _parts(
        self, query: str, part_of: Callable[[T], int], waiting: Iterable[Iterable[T]]
    ) -> tuple[Parts, set[T]] | None:
        """Return parts of the stored values, sorted, if they are many, and all other values with the unflushed ones.

        None if another process may write some.
        """
        if not self._record_cache.keeps:
            return None
        many = self._highest_number() >= read_ahead.MAX_LOADED_AT_ONCE
        unflushed = set[T]().union(*waiting)
        stored: Iterator[T] = (row[0] for row in self._stream(query, narrow=True))
        if many:
            return array("I", map(part_of, stored)), unflushed
        return array("I"), unflushed.union(stored)

    def _stored_signatures(self, found_by: range, limit: int) -> Iterable[tuple[bytes, int]] | None:
        if not self._record_cache.keeps:
            return None
        rows = self._stream(self.SELECT_SIGNATURES, found_by.start, found_by.stop, limit, narrow=True)
        unflushed = (part._signatures.items() for part in self.generations)
        return chain(((found, value % (1 << 64)) for found, value in rows), *unflushed)

    def _note_fingerprint(self, key: int, fingerprint: bytes) -> None:
        if fingerprint:
            self._fingerprints.setdefault(fingerprint, set()).add(key)
            self._possible_fingerprints.add_value(fingerprint)

    def _flushed_with(self, fingerprint: bytes) -> dict[int, UrlRecord]:
        """Return the flushed records with a fingerprint; read with those of the pages that are likely to be next."""
        kept = self._record_cache.get_by_fingerprint(fingerprint)
        if kept is not None:
            return kept
        asked = self._record_cache.asked_with(fingerprint)
        found = dict(self._keyed(self._rows_with_fingerprints(asked)))
        self._record_cache.put_by_fingerprint(asked, found)
        return {key: record for key, record in found.items() if record.fingerprint == fingerprint}

    def _rows_with_fingerprints(self, fingerprints: list[bytes]) -> list[Row]:
        """Return the rows of records with some fingerprints."""
        raise NotImplementedError

    def _keyed(self, rows: Iterable[Row]) -> Iterator[tuple[int, UrlRecord]]:
        """Yield key and record of each row of records. Raises `StateError`."""
        raise NotImplementedError

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
        rows = self._read(self.SELECT_NEAR, self._many([*signature_blocks]))
        known = {found: value % (1 << 64) for found, value in rows}
        for part in self.generations:
            for block in signature_blocks:
                known.update((found, part._signatures[found]) for found in part._blocks.get(block, ()))
        near = [(distance(signature, value), found) for found, value in known.items()]
        best = min(near, default=None)
        return best[1] if best is not None and best[0] <= within else None

    # ---- writing, inside a transaction of the store

    def clean(self, to: Writing) -> None:
        """Delete what no record has any more; once a run."""
        to.execute(self.DELETE_SIGNATURES)
        self._texts.read_again()

    def write_changes(self, to: Writing) -> None:
        """Write the unflushed changes."""
        rows = [
            (block, fingerprint, value - (1 << 64) if value & _SIGN_BIT else value)
            for fingerprint, value in self._signatures.items()
            for block in blocks(value)
        ]
        to.run(self.PUT_SIGNATURE, rows)


def _part_of_fingerprint(fingerprint: bytes) -> int:
    return int.from_bytes(fingerprint[:4], "big")
