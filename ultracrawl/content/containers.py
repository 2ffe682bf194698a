"""What a zip file or an OLE compound file is: many formats are made of one of them."""

from __future__ import annotations

import re

_OOXML = "application/vnd.openxmlformats-officedocument"
_MIMETYPE_ENTRY = re.compile(rb"application/[a-z0-9.+-]{1,100}")
_NAMES = (
    (b"word/document", f"{_OOXML}.wordprocessingml.document"),
    (b"xl/workbook.bin", "application/vnd.ms-excel.sheet.binary.macroenabled.12"),
    (b"xl/workbook", f"{_OOXML}.spreadsheetml.sheet"),
    (b"ppt/presentation", f"{_OOXML}.presentationml.presentation"),
)
_STREAMS = (
    ("WordDocument", "application/msword"),
    ("PowerPoint Document", "application/vnd.ms-powerpoint"),
    ("Workbook", "application/vnd.ms-excel"),
    ("Book", "application/vnd.ms-excel"),
    ("__properties_version1.0", "application/vnd.ms-outlook"),
)
_CENTRAL_DIRECTORY = 1 << 20
"""How much of the end of a zip file is looked through for names."""


def zip_type(body: bytes) -> str:
    """Return the media type of a zip file: Office, OpenDocument and EPUB by what is in them, else plain zip."""
    if body[30:38] == b"mimetype" and (found := _MIMETYPE_ENTRY.match(body, 38)):
        size = int.from_bytes(body[22:26], "little")
        return found[0][:size].decode() if size else found[0].decode().partition("PK")[0]
    if (
        b"[Content_Types].xml" in body[:_CENTRAL_DIRECTORY]
        or b"[Content_Types].xml" in body[-_CENTRAL_DIRECTORY:]
    ):
        tail = body[-_CENTRAL_DIRECTORY:]
        return next((name for member, name in _NAMES if member in tail), "application/zip")
    return (
        "application/epub+zip"
        if b"META-INF/container.xml" in body[-_CENTRAL_DIRECTORY:]
        else "application/zip"
    )


def ole_type(body: bytes) -> str:
    """Return the media type of an OLE compound file by the names of its streams; the generic one if none is known."""
    return next(
        (name for stream, name in _STREAMS if _entry(stream) in body),
        "application/x-ole-storage",
    )


def _entry(name: str) -> bytes:
    """Return the name as a directory entry has it: padded with zeros, before its length."""
    return name.encode("utf-16-le") + b"\0\0"


def is_tar(head: bytes) -> bool:
    """Return whether a file is a tar archive of POSIX or GNU."""
    return head[257:262] == b"ustar"
