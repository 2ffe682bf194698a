"""Files inside OLE compound files: what a program embedded in a document of Office ([MS-OLEDS], [MS-DOC] 2.1.10)."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from contextlib import closing, suppress

import olefile

from ultracrawl.content.charset.encodings import FALLBACK

_NATIVE = "\x01ole10native"
"""The stream of a file that was dropped into a document."""
_FILES = frozenset({"package", "contents", "embeddedodf"})
"""Streams that are a file as it is: of Office 2007 and later, of PDF, of LibreOffice."""
_BROKEN = (OSError, ValueError, IndexError, TypeError, AttributeError, struct.error)
_MAX_STREAMS = 10_000
_MAX_NAME = 1024


def objects_in(body: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the files in a compound file, at any depth; without those that are broken.

    A name is empty where nobody gave one.
    """
    try:
        file = olefile.OleFileIO(io.BytesIO(body))
        paths = file.listdir()[:_MAX_STREAMS]
    except _BROKEN:
        return
    with closing(file):
        for path in paths:
            with suppress(*_BROKEN):
                last = path[-1].lower()
                if last == _NATIVE:
                    yield _native(file.openstream(path).read())
                elif last in _FILES:
                    yield "", file.openstream(path).read()


def _native(data: bytes) -> tuple[str, bytes]:
    """Return the name and content of an Ole10Native stream ([MS-OLEDS] 2.3.6, and what the packager writes into it).

    Raises `ValueError` or `struct.error` for a broken one.
    """
    at = 6  # the size of the rest, and a number that is always 2
    label, at = _name(data, at)
    _, at = _name(data, at)
    _, size = struct.unpack_from("<II", data, at)
    at += 8 + size  # the path that it was copied to
    (size,) = struct.unpack_from("<I", data, at)
    content = data[at + 4 : at + 4 + size]
    return label.rpartition("\\")[2].rpartition("/")[2], content


def _name(data: bytes, at: int) -> tuple[str, int]:
    end = data.index(0, at, at + _MAX_NAME)
    return data[at:end].decode(FALLBACK, "replace"), end + 1
