"""Converter for 7z archives with py7zr: decompresses into memory within the budget, and writes no files."""

from __future__ import annotations

import io
import lzma

import py7zr
from py7zr.exceptions import ArchiveError, PasswordRequired
from py7zr.io import Py7zIO, WriterFactory

from ultracrawl.content.converters.archives.archives import read_members
from ultracrawl.content.converters.conversion import Budget, ConversionError, LimitReachedError, Sink, Source

_BROKEN = (
    ArchiveError, lzma.LZMAError, EOFError, OSError, ValueError, RuntimeError, LookupError, TypeError, AssertionError
)  # fmt: skip


def convert(source: Source, sink: Sink) -> None:
    """Convert the files of an archive in order, up to the last complete one before a limit."""
    memory = _Memory(sink.budget)
    try:
        with py7zr.SevenZipFile(io.BytesIO(source.body)) as archive:
            if archive.needs_password():
                raise ConversionError("the archive is encrypted")
            archive.extractall(factory=memory)
    except ConversionError:
        raise
    except PasswordRequired:
        raise ConversionError("the archive is encrypted") from None
    except LimitReachedError as limit:
        memory.files.popitem()
        sink.note(str(limit))
    except _BROKEN as error:
        raise ConversionError(f"broken 7z archive: {error}") from None
    read_members(((name, file.content) for name, file in memory.files.items()), sink)


class _File(Py7zIO):
    """A file of the archive in memory."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._chunks: list[bytes] = []

    @property
    def content(self) -> bytes:
        """All data written."""
        return b"".join(self._chunks)

    def write(self, s: bytes | bytearray) -> int:
        """Append data. Raises `LimitReachedError`."""
        self._budget.take_unpacked(len(s))
        self._budget.check_time()
        self._chunks.append(bytes(s))
        return len(s)

    def read(self, size: int | None = None) -> bytes:
        """Return nothing: py7zr does not call it."""
        return b""

    def seek(self, offset: int, whence: int = 0) -> int:
        """Do nothing: py7zr only seeks to the start of a complete file."""
        return 0

    def flush(self) -> None: ...

    def size(self) -> int:
        """Return the number of bytes written."""
        return sum(map(len, self._chunks))


class _Memory(WriterFactory):
    """Creates the files, and keeps them in the order of the archive."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.files: dict[str, _File] = {}

    def create(self, filename: str) -> Py7zIO:
        """Create the file for a name, which is not used as a path."""
        file = self.files[filename] = _File(self._budget)
        return file
