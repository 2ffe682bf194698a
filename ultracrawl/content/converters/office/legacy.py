"""Converter for Word and PowerPoint documents of before 2007, with kreuzberg.

Kreuzberg gives the text of the body and of the slides. What stands beside it is read here.
"""

from __future__ import annotations

import io
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import count

import kreuzberg
import olefile

from ultracrawl.content.charset.encodings import FALLBACK
from ultracrawl.content.converters.conversion import ConversionError, Sink, Source
from ultracrawl.content.converters.office.embedded import add_files, add_object
from ultracrawl.content.converters.office.ole import read_ole

_BROKEN = (OSError, ValueError, IndexError, TypeError, AttributeError, struct.error, zlib.error)

_WORD_97 = 0x00C1
"""The first version whose text is in pieces ([MS-DOC] 2.5.1)."""
_SECOND_TABLE = 0x0200
_SINGLE_BYTE = 0x40000000
_FIELD_CODE = re.compile(r"\x13[^\x13-\x15]{0,2000}\x14|[\x13-\x15]")
_LINE_ENDS = re.compile(r"[\r\x0b\x0c]")
_SIGNS = {7: " ", 0x1E: "-", **dict.fromkeys((1, 2, 3, 4, 5, 8, 0x1F))}
"""What stands for a cell, a hyphen, and for pictures and references to notes."""

_MASTER, _HEADERS, _COMMENT = 0x03F8, 0x0FD9, 0x2EE0
_KIND_OF_TEXT, _TEXT, _BYTES, _STRING, _OBJECT = 0x0F9F, 0x0FA0, 0x0FA8, 0x0FBA, 0x1011
_OTHER_TEXT = 4
"""The kind of a text that is in no place which slides fill ([MS-PPT] 2.13.33)."""
_COMMENT_TEXT = 1
"""The instance of the string that is what a comment says; the others are its author."""
_RECORDS_PER_CHECK = 20_000


def convert(source: Source, sink: Sink) -> None:
    """Convert properties, links and text, then notes, comments, boxes, headers, masters, and what is embedded."""
    read_ole(source.body, sink)
    config = kreuzberg.ExtractionConfig(use_cache=False)
    try:
        result = kreuzberg.extract_bytes_sync(source.body, source.media_type, config=config)
    except kreuzberg.KreuzbergError as error:
        raise ConversionError(f"this is not a document that can be read: {error}") from None
    sink.add(result.content)
    streams = _streams(source.body)
    for text in dict.fromkeys(_word_notes(streams)):
        sink.add(text)
    objects = list[bytes]()
    slides = streams.get("PowerPoint Document", b"")
    for text in dict.fromkeys(_slide_notes(slides, objects, sink.budget.check_time)):
        sink.add(text)
    for packed in dict.fromkeys(objects):
        add_object(_unpacked(packed, sink), sink)
    add_files(source.body, sink)


def _streams(body: bytes) -> dict[str, bytes]:
    """Return the streams that text is in; those that are broken are left out."""
    found: dict[str, bytes] = {}
    with suppress(*_BROKEN), closing(olefile.OleFileIO(io.BytesIO(body))) as file:
        for name in ("WordDocument", "0Table", "1Table", "PowerPoint Document"):
            if file.exists(name):
                with suppress(*_BROKEN):
                    found[name] = file.openstream(name).read()
    return found


def _word_notes(streams: dict[str, bytes]) -> Iterator[str]:
    """Yield the paragraphs behind the body: notes, headers, comments, text boxes ([MS-DOC] 2.4.1)."""
    document = streams.get("WordDocument", b"")
    with suppress(*_BROKEN):
        version, flags = struct.unpack_from("<H", document, 2)[0], struct.unpack_from("<H", document, 0x0A)[0]
        sizes = struct.unpack_from("<8i", document, 0x4C)
        table = streams.get("1Table" if flags & _SECOND_TABLE else "0Table", b"")
        if version < _WORD_97 or min(sizes) < 0 or not any(sizes[1:]):
            return
        start, size = struct.unpack_from("<II", document, 0x1A2)
        text = "".join(_pieces(document, table[start : start + size], sizes[0], sum(sizes)))
        for line in _LINE_ENDS.split(_FIELD_CODE.sub("", text)):
            if folded := " ".join(line.translate(_SIGNS).split()):
                yield folded


def _pieces(document: bytes, table: bytes, start: int, end: int) -> Iterator[str]:
    """Yield the text between two places ([MS-DOC] 2.9.38, 2.9.177)."""
    at = 0
    while table[at] == 1:  # changes of formats
        at += 3 + struct.unpack_from("<H", table, at + 1)[0]
    (size,) = struct.unpack_from("<I", table, at + 1)
    number = min(size - 4, len(table) - at - 9) // 12
    places = struct.unpack_from(f"<{number + 1}I", table, at + 5)
    for index in range(number):
        first, last = max(places[index], start), min(places[index + 1], end)
        if first >= last:
            continue
        (place,) = struct.unpack_from("<I", table, at + 5 + 4 * (number + 1) + 8 * index + 2)
        skipped = first - places[index]
        if place & _SINGLE_BYTE:
            begin = (place & ~_SINGLE_BYTE) // 2 + skipped
            yield document[begin : begin + last - first].decode(FALLBACK, "replace")
        else:
            begin = place + 2 * skipped
            yield document[begin : begin + 2 * (last - first)].decode("utf-16-le", "replace")


def _slide_notes(stream: bytes, objects: list[bytes], check_time: Callable[[], None]) -> Iterator[str]:
    """Yield texts of masters, headers, footers and comments, and add embedded objects ([MS-PPT] 2.3)."""
    at, ends, kind_of_text = 0, dict.fromkeys((_MASTER, _HEADERS, _COMMENT), 0), _OTHER_TEXT
    for number in count(1):
        if at + 8 > len(stream):
            return
        if number % _RECORDS_PER_CHECK == 0:
            check_time()
        head, kind, size = struct.unpack_from("<HHI", stream, at)
        at += 8
        if head & 0xF == 0xF:  # it has records in it
            if kind in ends:
                ends[kind] = at + size
            continue
        if kind == _KIND_OF_TEXT:
            kind_of_text = int.from_bytes(stream[at : at + 4], "little")
        elif kind in (_TEXT, _BYTES):
            if at < ends[_MASTER] and kind_of_text == _OTHER_TEXT:
                yield _slide_text(stream[at : at + size], "utf-16-le" if kind == _TEXT else FALLBACK)
        elif kind == _STRING:
            if at < ends[_HEADERS] or (at < ends[_COMMENT] and head >> 4 == _COMMENT_TEXT):
                yield _slide_text(stream[at : at + size], "utf-16-le")
        elif kind == _OBJECT:
            objects.append(bytes([head >> 4 & 1]) + stream[at : at + size])
        at += size


def _slide_text(data: bytes, codec: str) -> str:
    """Return a text; a single `*` stands for the number of the slide or a date."""
    text = data.decode(codec, "replace").replace("\x0b", " ")
    return "" if text.strip() == "*" else text


def _unpacked(packed: bytes, sink: Sink) -> bytes:
    """Return an embedded object, of which the first byte tells whether it is compressed ([MS-PPT] 2.10.34)."""
    if not packed[0]:
        return packed[1:]
    with suppress(zlib.error):
        body = zlib.decompressobj().decompress(packed[5:], sink.budget.unpacked_left + 1)
        sink.budget.take_unpacked(len(body))
        return body
    sink.note("an embedded object is broken")
    return b""
