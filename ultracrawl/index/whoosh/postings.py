"""Reads whole posting lists of a segment, not posting by posting."""

from __future__ import annotations

import pickle
import struct
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from itertools import accumulate
from struct import Struct
from typing import Any, NamedTuple, Protocol

from whoosh.codec.whoosh3 import LENGTHS_COLUMN
from whoosh.columns import CompressedBytesColumn
from whoosh.filedb.filetables import FileFormatError
from whoosh.formats import Positions
from whoosh.index import IndexError as WhooshError
from whoosh.reading import SegmentReader

from ultracrawl.index.whoosh.pickles import ForeignPickleError, load_plain, load_plain_from

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
_info, _info_size = Struct("!BfIBBfII").unpack_from, 23
_frequency_in = Struct("!BfI").unpack_from
_offset_in = Struct("!q").unpack_from
_MAGIC_SIZE = 4


class Postings(NamedTuple):
    """The postings of one term by rising document number; `values` are encoded positions, None if it has none."""

    ids: Sequence[int]
    weights: Sequence[float]
    values: Sequence[bytes] | None


class TermInfo(NamedTuple):
    """Document frequency of a term in one segment, and its postings, or the offset where they are in their file."""

    documents: int
    postings: Postings | int


class _File(Protocol):
    def get(self, position: int, length: int) -> bytes: ...


def find_term(reader: SegmentReader, fieldname: str, term: bytes) -> TermInfo | None:
    """Return the term info of a term in one segment, or None if it does not occur."""
    data = _encoded_info(reader, fieldname, term)
    return None if data is None else _term_info(data)


def terms_of(
    reader: SegmentReader, fieldname: str = "", start: bytes = b""
) -> Iterator[tuple[str, bytes, TermInfo]]:
    """Yield the terms of a segment in order; those of a field and the ones after it, from a term on, if it is given."""
    terms = reader._terms
    entries = (
        terms._tindex.items_from(terms._keycoder(fieldname, start)) if fieldname else terms._tindex.items()
    )
    for key, data in entries:
        name, term = terms._keydecoder(key)
        yield name, term, _term_info(data)


def frequencies_of(reader: SegmentReader, fieldname: str, prefix: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield the terms of a field with a prefix in order, each with its document frequency, deleted documents included.

    Their postings are not read, which takes most of the time of `terms_of`.
    """
    number = reader._terms._fieldmap.get(fieldname)
    if number is None:
        return
    field = _pack_field(number)
    start = field + prefix
    for key, data in reader._terms._tindex.items_from(start):
        if not key.startswith(start):
            return
        yield key[len(field) :], _frequency_in(data)[2]


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


def _term_info(data: bytes) -> TermInfo:
    is_inline, _, documents, *_ = _info(data)
    if is_inline:
        return TermInfo(documents, Postings(*load_plain(data[_info_size:])))
    return TermInfo(documents, _offset_in(data, _info_size)[0])


def read_postings(reader: SegmentReader, info: TermInfo) -> Postings:
    """Return all postings of a term, deleted documents included."""
    if isinstance(info.postings, Postings):
        return info.postings
    blocks = list(_blocks(reader._terms._postfile, info.postings))
    if len(blocks) == 1:
        return blocks[0]
    ids = [docnum for block in blocks for docnum in block.ids]
    weights = [weight for block in blocks for weight in block.weights]
    if blocks[0].values is None:
        return Postings(ids, weights, None)
    return Postings(ids, weights, [value for block in blocks for value in block.values or ()])


def refuse_foreign_pickles(reader: SegmentReader) -> None:
    """Load all pickles of a segment, as far as they can be read. Raises `ForeignPickleError`."""
    documents, schema, terms = reader._perdoc, reader.schema, reader._terms

    def load_stored(docnum: int) -> None:
        if data := stored[docnum]:
            load_plain(data)

    def load_entry(entry: tuple[bytes, bytes]) -> None:
        key, data = entry
        values = read_postings(reader, _term_info(data)).values
        name, _ = terms._keydecoder(key)
        if values and name in schema and type(schema[name].format) is Positions:
            decode_differences(values)

    if documents.has_column("_stored"):
        stored = documents.column_reader("_stored", CompressedBytesColumn())
        _load_each(load_stored, range(reader.doc_count_all()))
    _load_each(load_entry, terms._tindex.items())


def _load_each(load: Callable[[Any], None], items: Iterable[object]) -> None:
    for item in items:
        try:
            load(item)
        except ForeignPickleError:
            raise
        except DAMAGE:
            continue


def decode_positions(value: bytes) -> list[int]:
    """Return the positions of a word in a document."""
    return list(accumulate(load_plain(value[4:])))


def decode_differences(values: Iterable[bytes]) -> list[list[int]]:
    """Return, for each of many documents, the first position of a word and the differences to the next ones.

    The pickles are joined into one pickle of a list, which takes a third of the time of loading each by itself.
    """
    body = b"".join([value[6:-1] for value in values])
    found: list[list[int]] = load_plain(b"\x80\x02](" + body + b"e.")
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
        count, _, _, compression, _, _ = load_plain_from(stream)
        data = stream.read()
        yield _postings(count, load_plain(zlib.decompress(data) if compression else data))
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
