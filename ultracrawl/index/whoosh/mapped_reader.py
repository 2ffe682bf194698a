"""Opens segments as memory maps; Whoosh itself also copies each file into memory.

Opening a reader is thus cheap, and its pages belong to the page cache of the system.
"""

from __future__ import annotations

import errno
import os

from whoosh.codec.whoosh3 import W3Segment
from whoosh.fields import Schema
from whoosh.filedb.compound import CompoundStorage
from whoosh.filedb.filestore import OverlayStorage
from whoosh.reading import SegmentReader

from ultracrawl.index.whoosh.pickles import CheckedBuffer, CheckedStorage


class MappedReader(SegmentReader):  # type: ignore[misc]  # Whoosh has no types
    """A `SegmentReader` over a memory map of the compound file of a segment."""

    def __init__(self, storage: CheckedStorage, schema: Schema, segment: W3Segment) -> None:
        if not segment.is_compound():
            super().__init__(storage, schema, segment)
            return
        self.schema = schema
        self.is_closed = False
        self._segment = segment
        self._segid = segment.segment_id()
        self._gen = None
        self._codec = segment.codec()
        file = storage.open_file(segment.make_filename(segment.COMPOUND_EXT))
        try:
            self._storage = OverlayStorage(_MappedStorage(file), storage)
            self._terms = self._codec.terms_reader(self._storage, segment)
            self._perdoc = self._codec.per_document_reader(self._storage, segment)
        except BaseException as error:
            if not file.is_closed:
                file.close()
            if isinstance(error, OSError) and error.errno == errno.EINVAL:
                raise EOFError("it refers to an offset outside of the file") from error
            raise


class _MappedStorage(CompoundStorage):  # type: ignore[misc]  # Whoosh has no types
    """The files of a compound file, as views of its map."""

    def open_file(self, name: str, *args: object, **kwargs: object) -> CheckedBuffer:
        """Open one of the files for reading."""
        if not self._source:
            return _MappedFile(memoryview(super().open_file(name, *args, **kwargs).read()), name)
        offset, length = self.range(name)
        return _MappedFile(memoryview(self._source)[offset : offset + length], name)


class _MappedFile(CheckedBuffer):
    """A view of a map with the methods of Whoosh's files."""

    def __init__(self, view: memoryview, name: str) -> None:
        self._buf = view
        self._name = name
        self.file = _Cursor(view)
        self.onclose = None
        self.is_real = False
        self.is_closed = False


class _Cursor:
    """A read-only file object over a view, without the copy of `BytesIO`."""

    def __init__(self, view: memoryview) -> None:
        self._window = view
        self._position = 0

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes, or all that are left."""
        end = len(self._window) if size < 0 else self._position + size
        data = bytes(self._window[self._position : end])
        self._position += len(data)
        return data

    def readline(self) -> bytes:
        """Return the bytes up to the next line end; unpickling needs it."""
        start = self._position
        data = b""
        while not data.endswith(b"\n") and (more := self.read(1)):
            data += more
        self._position = start + len(data)
        return data

    def seek(self, position: int, whence: int = os.SEEK_SET) -> int:
        """Set the position."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: len(self._window)}[whence]
        self._position = base + position
        return self._position

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def close(self) -> None:
        """Close the map."""
        self._window.release()
