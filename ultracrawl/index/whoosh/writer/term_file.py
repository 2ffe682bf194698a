"""Writes terms and postings in the layout of Whoosh's W3 codec, a whole term at a time.

The postings file consists of blocks of up to 128 postings (length, pickled block header, pickled postings, compressed
if that is smaller). The term file maps field and term to the term info, with a few postings inline or their position in
the postings file. Whoosh's own writer makes seven Python calls for each posting and compresses even a single one.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable, Mapping
from itertools import chain
from operator import sub
from pickle import dumps
from struct import Struct, pack

from whoosh.codec.whoosh3 import W3Codec, W3FieldWriter, W3PerDocWriter, W3Segment
from whoosh.fields import Schema
from whoosh.filedb.filestore import Storage
from whoosh.filedb.filetables import OrderedHashWriter
from whoosh.util.numlists import GrowableArray

from ultracrawl.system.compiled_core import CorePostings

PostingList = list[int | float | bytes]
"""Document number, weight and value of every posting of a term, flattened, in document order."""

BLOCK_SIZE = 128
"""Postings in a block, as in Whoosh."""
INLINE_LIMIT = 3
"""Terms with up to this number of postings store them inline in the term file, which saves a second read."""
FRESH_INLINE_LIMIT = 32
"""The same in a new segment, whose blocks are not compressed: writing a small block takes twice as long."""
MIN_COMPRESSED_BYTES = 200
"""Blocks with fewer bytes are not compressed, because it takes more time than it saves space.

Only merging compresses: new segments are soon merged, and compression takes a fifth of all indexing time.
"""

_PROTOCOL_SMALL = 3
_PROTOCOL_LARGE = 4
"""Pickle protocols, the faster ones for few and for many values.

Readers accept all; the 2 of Whoosh's own writer has no bytes type and encodes them as a text and a call, which takes
twice the space and ten to twenty times as long in both directions.
"""
_ONE_POSTING_LENGTH = 3
"""Length of a `PostingList` with one posting."""
_MAGIC = b"W3Bl"
_CRC32 = 1
_pack_term_info = Struct("!BfIBBfII").pack
_pack_extent = Struct("!qi").pack
_pack_sizes = Struct("!ii").pack
_pack_int = Struct("!i").pack
_pack_field = Struct("!H").pack

FieldLengths = bytearray
"""The length byte of a field in each document, rising with the length; 0 for none."""


class FastCodec(W3Codec):  # type: ignore[misc]  # Whoosh has no types
    """The W3 codec with the fast field writer; segments are marked as plain W3, which can read them."""

    def per_document_writer(self, storage: Storage, segment: W3Segment) -> W3PerDocWriter:
        """Return the writer of columns; the stored fields are there for Whoosh, and empty."""
        writer = super().per_document_writer(storage, segment)
        writer._get_column("_stored")
        return writer

    def field_writer(self, storage: Storage, segment: W3Segment) -> FastFieldWriter:
        """Return the writer of the segment's term and postings files."""
        return FastFieldWriter(self, storage, segment)

    def new_segment(self, storage: Storage, indexname: str) -> W3Segment:
        """Return a segment that names the plain codec, because the index pickles the segment."""
        return W3Segment(W3Codec(), indexname)


class FastFieldWriter(W3FieldWriter):  # type: ignore[misc]  # Whoosh has no types
    """Writes the terms of a segment; call `add_terms` in the order of fields and terms, or `add_pool`, then `close`."""

    def __init__(self, codec: W3Codec, storage: Storage, segment: W3Segment) -> None:
        super().__init__(codec, storage, segment)
        self._tindex.__class__ = _TermHashWriter
        self._tindex.begin()
        self._write = self._postfile.write
        self._offset = 0
        self._current = ""
        self._prefix = b""
        self._value_size: int | None = None
        self.compress = False

    def add_terms(
        self,
        schema: Schema,
        terms: Iterable[tuple[str, bytes, PostingList]],
        lengths: Mapping[str, FieldLengths],
    ) -> None:
        """Write terms with their postings; `lengths` are those of the fields that have any."""
        for fieldname, term, postings in terms:
            self._add_term(schema, fieldname, term, postings, lengths.get(fieldname))

    def add_pool(self, pool: CorePostings, lengths: Mapping[str, FieldLengths]) -> None:
        """Write all terms that the core has collected, in the same layout, and empty its pool."""
        names = pool.fields()
        self._fieldmap.update((name, number) for number, name in enumerate(names))
        self._tindex.adopt(
            *pool.write(
                [bytes(lengths.get(name, b"")) for name in names],
                self._tindex.position, self._tindex.dbfile.write, self._write,
            )
        )  # fmt: skip

    def _add_term(
        self, schema: Schema, fieldname: str, term: bytes, postings: PostingList, lengths: FieldLengths | None
    ) -> None:
        """Write one term with all its postings; `lengths` are those of its field, None if it has none."""
        if fieldname != self._current:
            self._start_field(fieldname, schema[fieldname].format.fixed_value_size())
        if len(postings) == _ONE_POSTING_LENGTH:
            self._tindex.append(self._prefix + term, _one_posting_info(postings, lengths))
            return
        ids: list[int] = postings[0::3]  # type: ignore[assignment]  # document numbers
        weights: list[float] = postings[1::3]  # type: ignore[assignment]  # weights
        values: list[bytes] = postings[2::3]  # type: ignore[assignment]  # values
        length_bytes = [lengths[docnum] for docnum in ids] if lengths else []
        inline = len(ids) <= (INLINE_LIMIT if self.compress else FRESH_INLINE_LIMIT)
        info = _pack_term_info(
            inline, sum(weights), len(ids),
            min(length_bytes, default=0), max(length_bytes, default=0), max(weights), ids[0], ids[-1],
        )  # fmt: skip
        if inline:
            where = dumps((tuple(ids), tuple(weights), tuple(values)), _PROTOCOL_SMALL)
        else:
            where = self._write_blocks(ids, weights, values, length_bytes)
        self._tindex.append(self._prefix + term, info + where)

    def _start_field(self, fieldname: str, value_size: int | None) -> None:
        self._current = fieldname
        self._value_size = value_size
        number = self._fieldmap.setdefault(fieldname, len(self._fieldmap))
        self._prefix = _pack_field(number)

    def _write_blocks(
        self, ids: list[int], weights: list[float], values: list[bytes], length_bytes: list[int]
    ) -> bytes:
        """Write all blocks of a term and return their position and length."""
        pieces = [_MAGIC]
        level = 1 if self.compress else 0
        for start in range(0, len(ids), BLOCK_SIZE):
            part = slice(start, start + BLOCK_SIZE)
            block = _block(
                ids[part], weights[part], self._small_values(values[part]), length_bytes[part], level
            )
            size = len(block)
            pieces += [_pack_int(size if start + BLOCK_SIZE < len(ids) else -size), block]
        data = b"".join(pieces)
        offset = self._offset
        self._write(data)
        self._offset += len(data)
        return _pack_extent(offset, len(data))

    def _small_values(self, values: list[bytes]) -> bytes | tuple[bytes, ...] | None:
        """Return the values in Whoosh's compact form: none, one bytes object if all have equal lengths, or a tuple."""
        if self._value_size == 0:
            return None
        return b"".join(values) if self._value_size else tuple(values)


def _one_posting_info(posting: PostingList, lengths: FieldLengths | None) -> bytes:
    """Return the term info of a term with one posting, as most have, in a third of the time."""
    docnum, weight, value = posting
    length = lengths[docnum] if lengths else 0  # type: ignore[index]  # a document number
    info = _pack_term_info(True, weight, 1, length, length, weight, docnum, docnum)
    return info + dumps(((docnum,), (weight,), (value,)), _PROTOCOL_SMALL)


def _block(
    ids: list[int],
    weights: list[float],
    values: bytes | tuple[bytes, ...] | None,
    length_bytes: list[int],
    level: int,
) -> bytes:
    """Return one block: the header by which a reader may skip it, and the postings."""
    differences = tuple(map(sub, ids, chain((0,), ids)))
    heaviest = max(weights)
    small = _small_weights(weights, heaviest)
    data = dumps((differences, small, values), _PROTOCOL_LARGE)
    if len(data) < MIN_COMPRESSED_BYTES:
        level = 0
    if level:
        data = zlib.compress(data, level)
    shortest, longest = min(length_bytes, default=0), max(length_bytes, default=0)
    return dumps((len(ids), ids[-1], heaviest, level, shortest, longest), 2) + data


def _small_weights(weights: list[float], heaviest: float) -> float | tuple[float, ...] | None:
    """Return the weights in Whoosh's compact form: None if all are 1, one number if all are equal."""
    if heaviest == min(weights):
        return None if heaviest == 1.0 else float(heaviest)
    return tuple(array("f", weights))


class _TermHashWriter(OrderedHashWriter):  # type: ignore[misc]  # Whoosh has no types
    """Whoosh's hash file with CRC-32 in place of MD5 (the file header says which), and batched writes."""

    def begin(self) -> None:
        """Rewrite the file header with the other hash function."""
        self.hashtype = _CRC32
        self.dbfile.seek(self.startoffset + 4)
        self.dbfile.write_byte(_CRC32)
        self.dbfile.seek(0, 2)
        self.position = self.dbfile.tell()
        self._positions: list[int] = []
        self._pieces: list[bytes] = []

    def append(self, key: bytes, value: bytes) -> None:
        """Add an entry; keys must be in rising order."""
        position = self.position
        self._positions.append(position)
        checksum = zlib.crc32(key)
        self.buckets[checksum & 255].append((checksum, position))
        self._pieces += (_pack_sizes(len(key), len(value)), key, value)
        self.position = position + 8 + len(key) + len(value)
        if len(self._pieces) > 3000:
            self._flush()

    def close(self) -> int:
        """Write the remaining entries, the hash tables and the index of positions."""
        self._flush()
        self.index = GrowableArray()
        self.index.array = array("i" if self.position < 2**31 else "q", self._positions)
        size: int = super().close()
        return size

    def _flush(self) -> None:
        self.dbfile.write(b"".join(self._pieces))
        self._pieces.clear()

    def adopt(self, directory: list[tuple[int, int]], positions: bytes) -> None:
        """Take over what the core wrote: position and slots of the hash tables, and the position of each entry."""
        self.directory = directory
        self.position = directory[0][0]
        self._positions = array("q", positions).tolist()

    def _write_hashes(self) -> None:
        if self.directory:
            return  # the core wrote them
        position = self.position
        for entries in self.buckets:
            slots = 2 * len(entries)
            self.directory.append((position, slots))
            if slots:
                self.dbfile.write(_hash_table(entries, slots))
            position += slots * 12


def _hash_table(entries: Iterable[tuple[int, int]], slots: int) -> bytes:
    """Return an open-addressing hash table of checksums and positions; 0, 0 is a free slot."""
    table = [0] * (2 * slots)
    for checksum, position in entries:
        slot = (checksum >> 8) % slots
        while table[2 * slot + 1]:
            slot = (slot + 1) % slots
        table[2 * slot] = checksum
        table[2 * slot + 1] = position
    return pack("!" + "Iq" * slots, *table)
