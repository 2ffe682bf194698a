"""The CRC-32 of files that are written once: of all but their ends, which hold it."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from struct import Struct
from typing import BinaryIO

_CHUNK = 1 << 20
_FOOTER = Struct("<4sI")
_MAGIC = b"CRC\n"


def crc32_of(stream: BinaryIO, size: int) -> int:
    """Return the CRC-32 of the first `size` bytes of a file, or of all that there are. Raises `OSError`."""
    stream.seek(0)
    checksum = 0
    while chunk := stream.read(min(size, _CHUNK)):
        checksum = zlib.crc32(chunk, checksum)
        size -= len(chunk)
    return checksum


def add_checksum(path: Path) -> None:
    """Append a footer of eight bytes: a mark, and the CRC-32 of what stands before, little-endian. Raises `OSError`."""
    with path.open("r+b") as stream:
        checksum = crc32_of(stream, path.stat().st_size)
        stream.seek(0, os.SEEK_END)
        stream.write(_FOOTER.pack(_MAGIC, checksum))


def is_as_written(path: Path) -> bool:
    """Return whether a file is as it was when `add_checksum` ended it; true without a footer. Raises `OSError`."""
    with path.open("rb") as stream:
        size = max(0, path.stat().st_size - _FOOTER.size)
        stream.seek(size)
        footer = stream.read()
        if len(footer) < _FOOTER.size:
            return True
        magic, checksum = _FOOTER.unpack(footer)
        return magic != _MAGIC or bool(checksum == crc32_of(stream, size))
