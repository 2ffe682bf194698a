"""Reads whole posting lists of a segment, not posting by posting."""

from __future__ import annotations

import pickle
import struct
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from itertools import accumulate
from pickle import load, loads
from struct import Struct
from typing import NamedTuple, Protocol

from whoosh.codec.whoosh3 import LENGTHS_COLUMN, W3TermInfo
from whoosh.filedb.filetables import FileFormatError
from whoosh.index import IndexError as WhooshError
from whoosh.reading import SegmentReader

DAMAGE = (
    EOFError, ValueError, KeyError, IndexError, AttributeError, AssertionError, TypeError, FileNotFoundError,
    WhooshError, pickle.PickleError, struct.error, zlib.error, MemoryError, OverflowError, ImportError,
    FileFormatError,
)  # fmt: skip
"""Errors that Whoosh, struct, zlib and pickle raise for damaged files."""


_unpack_int = Struct("!i").unpack
_pack_field = Struct("!H").pack
_slot, _slot_size = Struct("!Iq").unpack_from, 12
_sizes, _sizes_size = Struct("!ii").unpack_from, 8
_frequency_in = Struct("!BfI").unpack_from
_MAGIC_SIZE = 4


class Postings(NamedTuple):
    """The postings of one term by rising document number; `values` are encoded positions, None if it has none."""

    ids: Sequence[int]
    weights: Sequence[float]
    values: Sequence[bytes] | None


class _File(Protocol):
    def get(self, position: int, length: int) -> bytes: ...


def find_term(reader: SegmentReader, fieldname: str, term: bytes) -> W3TermInfo | None:
    """Return the term info of a term in one segment, or None if it does not occur."""
    data = _encoded_info(reader, fieldname, term)
    return None if data is None else W3TermInfo.from_bytes(data)


def frequency_of(reader: SegmentReader, fieldname: str, term: bytes) -> int:
    """Return the document frequency of a term in one segment, deleted documents included."""
    data = _encoded_info(reader, fieldname, term)
    return 0 if data is None else _frequency_in(data)[2]


def _encoded_info(reader: SegmentReader, fieldname: str, term: bytes) -> bytes | None:
    """Return the encoded term info of a term; several times as fast as Whoosh's own look-up."""
    terms = reader._terms
    number = terms._fieldmap.get(fieldname)
    if number is None:
        return None
    key, table = _pack_field(number) + term, terms._tindex
    view: memoryview | None = getattr(table.dbfile, "_buf", None)
    if view is None:
        found: bytes | None = table.get(key)
        return found
    checksum: int = table.hashfn(key)
    start, slots = table.tables[checksum & 255]
    slot = (checksum >> 8) % slots if slots else 0
    for _ in range(slots):
        hashed, at = _slot(view, start + slot * _slot_size)
        if not at:
            return None
        if hashed == checksum:
            key_size, size = _sizes(view, at)
            at += _sizes_size
            if view[at : at + key_size] == key:
                return bytes(view[at + key_size : at + key_size + size])
        slot = (slot + 1) % slots
    return None


def read_postings(reader: SegmentReader, info: W3TermInfo) -> Postings:
    """Return all postings of a term, deleted documents included."""
    if info.is_inlined():
        ids, weights, values = info.inlined_postings()
        return Postings(ids, weights, values)
    blocks = list(_blocks(reader._terms._postfile, info.extent()[0]))
    if len(blocks) == 1:
        return blocks[0]
    ids = [docnum for block in blocks for docnum in block.ids]
    weights = [weight for block in blocks for weight in block.weights]
    if blocks[0].values is None:
        return Postings(ids, weights, None)
    return Postings(ids, weights, [value for block in blocks for value in block.values or ()])


def decode_positions(value: bytes) -> list[int]:
    """Return the positions of a word in a document."""
    return list(accumulate(loads(value[4:])))  # noqa: S301 - Whoosh's format; the index is our own file


def decode_differences(values: Iterable[bytes]) -> list[list[int]]:
    """Return, for each of many documents, the first position of a word and the differences to the next ones.

    The pickles are joined into one pickle of a list, which takes a third of the time of loading each by itself.
    """
    body = b"".join([value[6:-1] for value in values])
    found: list[list[int]] = loads(b"\x80\x02](" + body + b"e.")  # noqa: S301 - as above
    return found


def length_bytes(reader: SegmentReader, fieldname: str) -> bytes:
    """Return the field length of every document as Whoosh's length byte; 0 for none."""
    name = f"_{fieldname}_len"
    documents: int = reader.doc_count_all()
    if not reader._perdoc.has_column(name):
        return bytes(documents)
    column = reader._perdoc.column_reader(name, LENGTHS_COLUMN)
    data = bytes(column._dbfile.get(column._basepos, column._count))
    return data.ljust(documents, b"\0")


def _blocks(file: _File, offset: int) -> Iterator[Postings]:
    position = offset + _MAGIC_SIZE
    last = False
    while not last:
        size = _unpack_int(file.get(position, 4))[0]
        last, size = size < 0, abs(size)
        stream = BytesIO(file.get(position + 4, size))
        count, _, _, compression, _, _ = load(stream)  # noqa: S301 - as above
        data = stream.read()
        yield _postings(count, loads(zlib.decompress(data) if compression else data))  # noqa: S301 - as above
        position += 4 + size


def _postings(
    count: int, data: tuple[Sequence[int], float | Sequence[float] | None, Sequence[bytes] | bytes | None]
) -> Postings:
    differences, weights, values = data
    if weights is None or isinstance(weights, float):
        weights = array("f", [1.0 if weights is None else weights]) * count
    if isinstance(values, bytes):
        size = len(values) // count
        values = [values[at : at + size] for at in range(0, len(values), size)]
    return Postings(list(accumulate(differences)), weights, values)
