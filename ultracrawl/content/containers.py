"""What a zip file or an OLE compound file is: many formats are made of one of them."""

from __future__ import annotations

import re
import struct

_OOXML = "application/vnd.openxmlformats-officedocument"
_MIMETYPE_ENTRY = re.compile(rb"application/[a-z0-9.+-]{1,100}")
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
"""What programs write into the root of a compound file."""
_LARGEST_SECTOR = 12
"""The exponent of its size; such files have sectors of 512 or 4,096 bytes ([MS-CFB] 2.2)."""
_CENTRAL_DIRECTORY = 1 << 20
"""How much of a zip file is looked through for names."""
_END_MARK, _END = b"PK\x05\x06", struct.Struct("<4s4H2LH")
"""The record at the very end of a zip file, which says where its directory stands."""
_LONGEST_END = _END.size + 0xFFFF


def zip_type(body: bytes) -> str:
    """Return the media type of a zip file: Office, OpenDocument and EPUB by what is in them, else plain zip."""
    if body[30:38] == b"mimetype" and (found := _MIMETYPE_ENTRY.match(body, 38)):
        size = int.from_bytes(body[22:26], "little")
        return found[0][:size].decode() if size else found[0].decode().partition("PK")[0]
    names = _directory(body)
    if b"[Content_Types].xml" in names or b"[Content_Types].xml" in body[:_CENTRAL_DIRECTORY]:
        return next((name for member, name in _NAMES if member in names), "application/zip")
    return "application/epub+zip" if b"META-INF/container.xml" in names else "application/zip"


def _directory(body: bytes) -> bytes:
    """Return the directory of a zip file, which has the names of its members; its end if that cannot be told.

    What stands before the directory may be whole zip files, such as the workbook of a chart in a presentation.
    """
    at = body.rfind(_END_MARK, max(0, len(body) - _LONGEST_END))
    if at >= 0 and len(body) - at >= _END.size:
        size = _END.unpack_from(body, at)[5]
        if 0 < size <= at:
            return body[at - size : at][:_CENTRAL_DIRECTORY]
    return body[-_CENTRAL_DIRECTORY:]


def ole_type(body: bytes) -> str:
    """Return the media type of an OLE compound file by its class, else by its streams; the generic one without either.

    Streams are looked for anywhere, and may be those of a document inside, so the class of the root counts first.
    """
    by_class = _CLASSES.get(_root_class(body), "")
    return by_class or next(
        (name for stream, name in _STREAMS if _entry(stream) in body), "application/x-ole-storage"
    )


def _root_class(body: bytes) -> bytes:
    """Return the class in the root of a compound file, which is the first entry of its directory."""
    if len(body) < 512:
        return b""
    exponent, first = int.from_bytes(body[30:32], "little"), int.from_bytes(body[48:52], "little")
    if exponent > _LARGEST_SECTOR:
        return b""
    root = (first + 1) << exponent
    return body[root + 80 : root + 96]


def _entry(name: str) -> bytes:
    """Return the name as a directory entry has it: padded with zeros, before its length."""
    return name.encode("utf-16-le") + b"\0\0"


def is_tar(head: bytes) -> bool:
    """Return whether a file is a tar archive of POSIX or GNU."""
    return head[257:262] == b"ustar"
