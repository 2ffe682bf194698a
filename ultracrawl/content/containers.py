"""Media types of formats that are zip files or OLE compound files."""

from __future__ import annotations

import re
import struct

_OOXML = "application/vnd.openxmlformats-officedocument"
_MIMETYPE_ENTRY = re.compile(rb"application/[a-z0-9.+-]{1,100}")
"""What the member `mimetype` holds; what follows it in the file begins with `PK`."""
_NAMES = (
    (b"word/document", f"{_OOXML}.wordprocessingml.document"),
    (b"xl/workbook.bin", "application/vnd.ms-excel.sheet.binary.macroenabled.12"),
    (b"xl/workbook", f"{_OOXML}.spreadsheetml.sheet"),
    (b"ppt/presentation", f"{_OOXML}.presentationml.presentation"),
)
_WORD, _EXCEL = "application/msword", "application/vnd.ms-excel"
_SLIDES, _OUTLOOK = "application/vnd.ms-powerpoint", "application/vnd.ms-outlook"
_STREAMS = (
    ("__properties_version1.0", _OUTLOOK),
    ("WordDocument", _WORD),
    ("PowerPoint Document", _SLIDES),
    ("Workbook", _EXCEL),
    ("WORKBOOK", _EXCEL),
    ("Book", _EXCEL),
)
_CLASS_END = bytes.fromhex("0000 0000 C000 0000 0000 0046")
_CLASSES = {
    b"\x06\x09\x02\x00" + _CLASS_END: _WORD,
    b"\x00\x09\x02\x00" + _CLASS_END: _WORD,
    b"\x20\x08\x02\x00" + _CLASS_END: _EXCEL,
    b"\x10\x08\x02\x00" + _CLASS_END: _EXCEL,
    b"\x0b\x0d\x02\x00" + _CLASS_END: _OUTLOOK,
    bytes.fromhex("108D8164 9B4F CF11 86EA 00AA00B929E8"): _SLIDES,
}
"""Class ids that programs write into the root of a compound file."""
_MAX_SECTOR_EXPONENT = 12
"""Sectors have 512 or 4,096 bytes ([MS-CFB] 2.2)."""
_MAX_DIRECTORY_BYTES = 1 << 20
"""Maximum bytes of a zip file that are searched for names."""
_END_MARK, _END = b"PK\x05\x06", struct.Struct("<4s4H2LH")
"""The end of central directory record of a zip file."""
_MAX_END_BYTES = _END.size + 0xFFFF


def zip_type(body: bytes) -> str:
    """Return the media type of a zip file: Office, OpenDocument and EPUB by their members, else plain zip."""
    if body[30:38] == b"mimetype" and (match := _MIMETYPE_ENTRY.match(body, 38)):
        return match[0].decode()
    names = _directory(body)
    if b"[Content_Types].xml" in names or b"[Content_Types].xml" in body[:_MAX_DIRECTORY_BYTES]:
        return next((name for member, name in _NAMES if member in names), "application/zip")
    return "application/epub+zip" if b"META-INF/container.xml" in names else "application/zip"


def _directory(body: bytes) -> bytes:
    """Return the central directory of a zip file, or the end of the file if its record is invalid.

    Other parts are not searched, since members may be zip files, such as the workbook of a chart in a presentation.
    """
    at = body.rfind(_END_MARK, max(0, len(body) - _MAX_END_BYTES))
    if at >= 0 and len(body) - at >= _END.size:
        size = _END.unpack_from(body, at)[5]
        if 0 < size <= at:
            return body[at - size : at][:_MAX_DIRECTORY_BYTES]
    return body[-_MAX_DIRECTORY_BYTES:]


def ole_type(body: bytes) -> str:
    """Return the media type of an OLE compound file by its root class, else by its stream names, else the generic one.

    Stream names are searched in the whole file, and may be those of an embedded document, so the class comes first.
    """
    by_class = _CLASSES.get(_root_class(body), "")
    return by_class or next(
        (name for stream, name in _STREAMS if _entry(stream) in body), "application/x-ole-storage"
    )


def _root_class(body: bytes) -> bytes:
    """Return the class id in the root of a compound file, the first entry of its directory."""
    if len(body) < 512:
        return b""
    exponent, first = int.from_bytes(body[30:32], "little"), int.from_bytes(body[48:52], "little")
    if exponent > _MAX_SECTOR_EXPONENT:
        return b""
    root = (first + 1) << exponent
    return body[root + 80 : root + 96]


def _entry(name: str) -> bytes:
    """Return the bytes of a name in a directory entry."""
    return name.encode("utf-16-le") + b"\0\0"


def is_tar(head: bytes) -> bool:
    """Return whether a file is a POSIX or GNU tar archive."""
    return head[257:262] == b"ustar"
