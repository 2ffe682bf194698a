"""Properties and links of OLE compound files, the formats of Office before 2007."""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime

import olefile

from ultracrawl.content.charset.encodings import FALLBACK, codec_of
from ultracrawl.content.converters.conversion import ConversionError, Sink
from ultracrawl.model.dates import iso_date

_TEXTS = {
    "author": "author",
    "subject": "subject",
    "comments": "description",
    "last_saved_by": "last_modified_by",
    "creating_application": "application",
    "company": "company",
    "manager": "manager",
    "category": "category",
}
_BROKEN = (OSError, ValueError, IndexError, TypeError, AttributeError, struct.error)
_OF_SECOND_STREAM = frozenset({"company", "manager", "category"})
_FILE_PASS = 0x2F
"""The record of an encrypted workbook ([MS-XLS] 2.4.117); it is among the first ones."""
_FIRST_RECORDS = 20


def read_ole(body: bytes, sink: Sink) -> None:
    """Add properties and links. Raises `ConversionError` for an encrypted file or one that is no compound file."""
    try:
        with closing(olefile.OleFileIO(io.BytesIO(body))) as file:
            if _is_encrypted(file):
                raise ConversionError("the document is encrypted")
            metadata = file.get_metadata()
            _read_links(file, sink)
    except ConversionError:
        raise
    except _BROKEN as error:
        raise ConversionError(f"broken compound file: {error}") from None
    _add_metadata(metadata, sink)


def _is_encrypted(file: olefile.OleFileIO) -> bool:
    """Return whether a document is encrypted ([MS-DOC] 2.2.6, [MS-PPT] 2.2, [MS-XLS] 2.2.10)."""
    if file.exists("EncryptedPackage") or file.exists("EncryptedSummary"):
        return True
    if file.exists("WordDocument"):
        with file.openstream("WordDocument") as stream:
            head = stream.read(12)
        return len(head) == 12 and bool(struct.unpack_from("<H", head, 10)[0] & 0x100)
    return any(file.exists(name) and _has_file_pass(file, name) for name in ("Workbook", "Book"))


def _has_file_pass(file: olefile.OleFileIO, name: str) -> bool:
    with file.openstream(name) as stream:
        for _ in range(_FIRST_RECORDS):
            head = stream.read(4)
            if len(head) < 4:
                return False
            kind, size = struct.unpack("<HH", head)
            if kind == _FILE_PASS:
                return True
            stream.seek(size, io.SEEK_CUR)
    return False


def _read_links(file: olefile.OleFileIO, sink: Sink) -> None:
    for name, find_links in STREAMS.items():
        if file.exists(name):
            with file.openstream(name) as stream:
                for link in find_links(stream.read()):
                    sink.link(link)


def _add_metadata(metadata: olefile.OleMetadata, sink: Sink) -> None:
    codec, second = _codec(metadata.codepage), _codec(metadata.codepage_doc or metadata.codepage)
    sink.set_title(_text(metadata.title, codec))
    sink.keywords(_text(metadata.keywords, codec))
    for name, our_name in _TEXTS.items():
        value = getattr(metadata, name, None)
        sink.meta(our_name, _text(value, second if name in _OF_SECOND_STREAM else codec))
    for name, our_name in (("create_time", "created"), ("last_saved_time", "modified")):
        moment = getattr(metadata, name, None)
        if isinstance(moment, datetime) and moment.year > 1601:
            sink.meta(our_name, iso_date(moment))
    for name, our_name in (("num_pages", "pages"), ("slides", "pages"), ("num_words", "words")):
        number = getattr(metadata, name, None)
        if isinstance(number, int) and number > 0:
            sink.meta(our_name, str(number))


def _codec(codepage: object) -> str:
    """Return the codec of a code page, which the library parses as a signed number."""
    number = codepage & 0xFFFF if isinstance(codepage, int) else 0
    match number:
        case 1200:
            return "utf-16-le"
        case 65001:
            return "utf-8"
        case _:
            return codec_of(f"cp{number}") or FALLBACK


def _text(value: object, codec: str) -> str:
    if isinstance(value, bytes):
        return value.decode(codec, "replace")
    return value if isinstance(value, str) else ""


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
