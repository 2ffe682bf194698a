"""7z archives, read with py7zr: unfolded into memory within the budget of the conversion, nothing is written."""

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
    """Read the files of an archive in their order; those that were whole before a limit is reached."""
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
    except LimitReachedError as reached:
        memory.files.popitem()
        sink.note(str(reached))
    except _BROKEN as error:
        raise ConversionError(f"broken 7z archive: {error}") from None
    read_members(((name, file.content) for name, file in memory.files.items()), sink)


class _File(Py7zIO):
    """Keeps what is written to a file of the archive."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._pieces: list[bytes] = []

    @property
    def content(self) -> bytes:
        """All that was written."""
        return b"".join(self._pieces)

    def write(self, s: bytes | bytearray) -> int:
        """Take a piece. Raises `LimitReachedError`."""
        self._budget.take_unpacked(len(s))
        self._budget.check_time()
        self._pieces.append(bytes(s))
        return len(s)

    def read(self, size: int | None = None) -> bytes:
        """Return nothing: py7zr never asks."""
        return b""

    def seek(self, offset: int, whence: int = 0) -> int:
        """Stay: py7zr goes back to the beginning of a file that is complete."""
        return 0

    def flush(self) -> None: ...

    def size(self) -> int:
        """Return how many bytes were written."""
        return sum(map(len, self._pieces))


class _Memory(WriterFactory):
    """Makes the files, and keeps them in the order of the archive."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.files: dict[str, _File] = {}

    def create(self, filename: str) -> Py7zIO:
        """Return the file of a name, which is a label and no path."""
        file = self.files[filename] = _File(self._budget)
        return file
