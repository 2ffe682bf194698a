"""Reads the pickles of an index without ever running code that they name.

Whoosh pickles the table of contents, the directories of its files, and postings. The first consists of a few classes of
Whoosh, all others of plain data: numbers, texts, bytes, tuples, lists, dictionaries. Whatever names something else is a
forgery, or not an index of ours.
"""

from __future__ import annotations

import os
import pickle
from contextlib import closing
from io import BytesIO
from typing import Any, BinaryIO

from whoosh.codec.whoosh3 import W3Segment
from whoosh.fields import Schema
from whoosh.filedb.filestore import FileStorage
from whoosh.filedb.structfile import BufferFile, StructFile
from whoosh.index import _CURRENT_TOC_VERSION, TOC, EmptyIndexError, FileIndex, IndexVersionError
from whoosh.system import _FLOAT_SIZE, _INT_SIZE, _LONG_SIZE

_BYTE_ORDER = -12345
_CLASSES = {
    "builtins": {"int", "float", "frozenset", "set"},
    "__builtin__": {"long", "int", "float", "frozenset", "set"},
    "collections": {"defaultdict"},
    "re": {"_compile"},
    "whoosh.analysis.analyzers": {"CompositeAnalyzer"},
    "whoosh.analysis.filters": {"CharsetFilter", "LowercaseFilter", "StopFilter"},
    "whoosh.analysis.tokenizers": {"IDTokenizer", "RegexTokenizer"},
    "whoosh.codec.whoosh3": {"W3Codec", "W3Segment"},
    "whoosh.columns": {"NumericColumn", "VarBytesColumn"},
    "whoosh.fields": {"COLUMN", "DATETIME", "ID", "KEYWORD", "NUMERIC", "STORED", "Schema", "TEXT"},
    "whoosh.formats": {"Existence", "Frequency", "Positions"},
}
"""What a table of contents of any version consists of, by module."""


class ForeignPickleError(pickle.UnpicklingError):
    """A file of an index names a class or function that no index contains."""


def _bytes(text: str = "", encoding: str = "latin1") -> bytes:
    """Stand for the two functions that make bytes in protocols without them, as Whoosh itself uses."""
    if encoding != "latin1":
        raise ForeignPickleError(f"it names the encoding {encoding}, which no index contains")
    return text.encode("latin-1")


_BYTES = {("_codecs", "encode"), ("__builtin__", "bytes"), ("builtins", "bytes")}


class _PlainUnpickler(pickle.Unpickler):
    """Loads plain data only."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        """Refuse every class and function, except to make bytes. Raises `ForeignPickleError`."""
        if (module_name, global_name) in _BYTES:
            return _bytes
        raise ForeignPickleError(f"it names {module_name}.{global_name}, which no index contains")


class _ContentsUnpickler(_PlainUnpickler):
    """Loads the parts of a table of contents."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        """Return one of the known classes. Raises `ForeignPickleError` for others."""
        if global_name not in _CLASSES.get(module_name, ()):
            return super().find_class(module_name, global_name)
        return pickle.Unpickler.find_class(self, module_name, global_name)


def load_plain(data: bytes) -> Any:
    """Return what is pickled. Raises `ForeignPickleError` unless it is plain data."""
    return _PlainUnpickler(BytesIO(data)).load()


def load_plain_from(stream: BinaryIO) -> Any:
    """Return what is pickled at the position of a file, which is moved behind it; see `load_plain`."""
    return _PlainUnpickler(stream).load()


class _Checked:
    """The part of Whoosh's files that reads pickles."""

    file: Any

    def read_pickle(self) -> Any:
        """See `load_plain_from`."""
        return load_plain_from(self.file)


class _CheckedFile(_Checked, StructFile):  # type: ignore[misc]  # Whoosh has no types
    """A file of an index."""


class CheckedBuffer(_Checked, BufferFile):  # type: ignore[misc]  # Whoosh has no types
    """A file of an index in memory."""


class CheckedStorage(FileStorage):  # type: ignore[misc]  # Whoosh has no types
    """The folder of an index; one that cannot be listed is an error, and not empty."""

    def list(self) -> list[str]:
        """Return the names of its files; none if there is no folder. Raises `OSError`."""
        try:
            return os.listdir(self.folder)
        except FileNotFoundError:
            return []

    def open_file(self, name: str, **options: Any) -> _CheckedFile:
        """Open a file for reading."""
        return _CheckedFile(open(self._fpath(name), "rb"), name=name, **options)


class CheckedIndex(FileIndex):  # type: ignore[misc]  # Whoosh has no types
    """A Whoosh index whose table of contents is checked."""

    def __init__(self, storage: CheckedStorage, indexname: str) -> None:
        self.storage = storage
        self.indexname = indexname
        self._schema = None
        self._read_toc()

    def _read_toc(self) -> TOC:
        return read_contents(self.storage, self.indexname, self.latest_generation())


def read_contents(storage: CheckedStorage, name: str, generation: int) -> TOC:
    """Return the table of contents of one generation of an index, as Whoosh's `TOC.read` does."""
    if generation < 0:
        raise EmptyIndexError(f"there is no index in {storage}")
    with closing(storage.open_file(TOC._filename(name, generation))) as file:
        sizes = [file.read_varint() for _ in range(3)]
        order, version = file.read_int(), file.read_int()
        release = tuple(file.read_varint() for _ in range(3))
        if sizes != [_INT_SIZE, _LONG_SIZE, _FLOAT_SIZE] or order != _BYTE_ORDER:
            raise ValueError("it was written on a machine of another architecture")
        if version != _CURRENT_TOC_VERSION:
            raise IndexVersionError(f"its table of contents has version {version}", version)
        schema = _ContentsUnpickler(BytesIO(file.read_string())).load()
        number, _ = file.read_int(), file.read_int()
        segments = _ContentsUnpickler(file.file).load()
    if number != generation or type(schema) is not Schema or {type(one) for one in segments} - {W3Segment}:
        raise ValueError("its table of contents is not one of this program")
    return TOC(schema, segments, generation, version, release)
