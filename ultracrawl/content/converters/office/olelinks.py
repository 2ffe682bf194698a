"""Finds links in the streams of OLE compound files by their signatures, because no library extracts them."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator

_FIELD = re.compile(rb'HYPERLINK\s+"([^"\x00-\x1f]{1,4000})"')
_MONIKER = b"\xe0\xc9\xea\x79\xf9\xba\xce\x11\x8c\x82\x00\xaa\x00\x4b\xa9\x0b"
"""The class id of a URL moniker ([MS-OSHARED] 2.3.7.6), followed by the length in bytes and the URL."""
_HYPERLINK = b"\x0f\x00\xd7\x0f"
"""The head of an ExHyperlinkContainer ([MS-PPT] 2.10.16)."""
_TARGET = b"\x10\x00\xba\x0f"
"""The head of its TargetAtom."""
_MAX_LINK_BYTES = 8192


def _word_links(stream: bytes) -> Iterator[str]:
    """Yield the targets of fields ([MS-DOC]); without zeros, two-byte text is like single-byte text."""
    for match in _FIELD.finditer(stream.replace(b"\0", b"")):
        yield match[1].decode("latin-1").replace("\\\\", "\\")


def _workbook_links(stream: bytes) -> Iterator[str]:
    """Yield the URLs of monikers in HLINK records ([MS-XLS])."""
    return _after(stream, _MONIKER)


def _slide_links(stream: bytes) -> Iterator[str]:
    """Yield the targets of hyperlinks of a presentation."""
    at = stream.find(_HYPERLINK)
    while at >= 0 and at + 8 <= len(stream):
        size = min(_length(stream, at + 4), _MAX_LINK_BYTES)
        yield from _after(stream[at + 8 : at + 8 + size], _TARGET)
        at = stream.find(_HYPERLINK, at + 8)


def _after(stream: bytes, mark: bytes) -> Iterator[str]:
    """Yield the UTF-16 texts that follow a signature and their length in bytes."""
    at = stream.find(mark)
    while at >= 0 and at + len(mark) + 4 <= len(stream):
        start = at + len(mark) + 4
        size = _length(stream, start - 4)
        if 2 <= size <= _MAX_LINK_BYTES:
            text = stream[start : start + size].decode("utf-16-le", "replace")
            yield text.partition("\0")[0]
        at = stream.find(mark, start)


def _length(stream: bytes, at: int) -> int:
    return int(struct.unpack_from("<I", stream, at)[0])


STREAMS: dict[str, Callable[[bytes], Iterator[str]]] = {
    "WordDocument": _word_links,
    "Workbook": _workbook_links,
    "PowerPoint Document": _slide_links,
}
"""The streams with links, each with the function that finds them."""
