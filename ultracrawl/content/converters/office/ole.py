"""Properties and links of documents in OLE compound files: the formats of Office before 2007."""

from __future__ import annotations

import io
import struct
from contextlib import closing
from datetime import datetime

import olefile

from ultracrawl.content.charset.encodings import FALLBACK, codec_of
from ultracrawl.content.converters.conversion import ConversionError, Sink
from ultracrawl.content.converters.office.olelinks import STREAMS
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
"""The record of a workbook that says how it is encrypted ([MS-XLS] 2.4.117); it stands near the beginning."""
_FIRST_RECORDS = 20


def read_ole(body: bytes, sink: Sink) -> None:
    """Read summary streams and links. Raises `ConversionError` for a file that is no compound file or encrypted."""
    try:
        with closing(olefile.OleFileIO(io.BytesIO(body))) as file:
            if _is_encrypted(file):
                raise ConversionError("the document is encrypted")
            found = file.get_metadata()
            _read_links(file, sink)
    except ConversionError:
        raise
    except _BROKEN as error:
        raise ConversionError(f"broken compound file: {error}") from None
    _take(found, sink)


def _is_encrypted(file: olefile.OleFileIO) -> bool:
    """Return whether a document says that it needs a password ([MS-DOC] 2.2.6, [MS-PPT] 2.2, [MS-XLS] 2.2.10)."""
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
    for name, links_in in STREAMS.items():
        if file.exists(name):
            with file.openstream(name) as stream:
                for link in links_in(stream.read()):
                    sink.link(link)


def _take(found: olefile.OleMetadata, sink: Sink) -> None:
    codec, second = _codec(found.codepage), _codec(found.codepage_doc or found.codepage)
    sink.set_title(_text(found.title, codec))
    sink.keywords(_text(found.keywords, codec))
    for name, ours in _TEXTS.items():
        sink.meta(ours, _text(getattr(found, name, None), second if name in _OF_SECOND_STREAM else codec))
    for name, ours in (("create_time", "created"), ("last_saved_time", "modified")):
        moment = getattr(found, name, None)
        if isinstance(moment, datetime) and moment.year > 1601:
            sink.meta(ours, iso_date(moment))
    for name, ours in (("num_pages", "pages"), ("slides", "pages"), ("num_words", "words")):
        number = getattr(found, name, None)
        if isinstance(number, int) and number > 0:
            sink.meta(ours, str(number))


def _codec(codepage: object) -> str:
    """Return the codec of a code page, which the library reads as a number with a sign."""
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
