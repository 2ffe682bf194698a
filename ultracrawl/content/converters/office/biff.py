"""The sheets of an Excel workbook of before 2007 ([MS-XLS]): what calamine does not tell of them.

These are the number formats of cells, headers and footers, text boxes, comments, and the words of charts.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from itertools import count

import olefile

from ultracrawl.content.charset.encodings import FALLBACK, codec_of
from ultracrawl.content.converters.office.formats import (
    BUILT_IN,
    CellFormat,
    NumberFormat,
    header_text,
    number_format,
)

_HEAD = struct.Struct("<HH")
_BROKEN = (OSError, ValueError, IndexError, TypeError, AttributeError, struct.error)
_BOF, _EOF, _CONTINUE, _CODEPAGE = 0x0809, 0x000A, 0x003C, 0x0042
_SHEET, _FORMAT, _XF = 0x0085, 0x041E, 0x00E0
_HEADER, _FOOTER, _TEXT_BOX, _CHART_TEXT = 0x0014, 0x0015, 0x01B6, 0x100D
_MANY_NUMBERS = 0x00BD
_NUMBERS = frozenset({0x0203, 0x027E, 0x0006, _MANY_NUMBERS})
"""Records of cells with a number: NUMBER, RK, FORMULA, MULRK."""
_CAPITAL, _USUAL = (f"{name}\0".encode("utf-16-le") for name in ("WORKBOOK", "Workbook"))
"""A name that some programs write as they like; names in compound files have no case."""
_VERSION_8 = 0x0600
_MAX_FORMATS = 65_536
_RECORDS_PER_CHECK = 20_000
_LABEL_BYTES = range(9, 80)
"""Sizes of the cells with a text of their own that are skipped; longer ones are few."""
_CELLS = (
    rb"\xfd\0\x0a\0.{10}|\x01\x02\x06\0.{6}|\x08\x02\x10\0.{16}",
    rb"|\x04\x02(?:%b)"
    % b"|".join(rb"%b\0.{%d}" % (re.escape(bytes([size])), size) for size in _LABEL_BYTES),
)
_OF_TEXT, _PLAIN = (
    re.compile(rb"(?:%b)*+" % (b"".join(_CELLS) + numbers), re.DOTALL)
    for numbers in (b"", rb"|\x7e\x02\x0a\0.{10}|\x03\x02\x0e\0.{14}")
)
"""Rows and cells with a text or nothing, and also those with a number: what most of a sheet is made of."""


class OldSheets:
    """The sheets of a workbook; what is broken of it is left out. `check_time` may raise, and nothing else does."""

    def __init__(self, body: bytes, check_time: Callable[[], None]) -> None:
        self.body = body.replace(_CAPITAL, _USUAL) if _CAPITAL in body and _USUAL not in body else body
        """The workbook under the name that calamine looks for."""
        self._check_time = check_time
        self._stream = b""
        self._codec = FALLBACK
        self._is_8 = True
        self._starts: dict[str, int] = {}
        self._formats: dict[int, NumberFormat] = {}
        self.texts: dict[str, None] = {}
        """Headers, footers, text boxes, comments and words of charts of the sheets read so far, each once."""
        with suppress(*_BROKEN), closing(olefile.OleFileIO(io.BytesIO(body))) as file:
            name = next((name for name in ("Workbook", "Book") if file.exists(name)), "")
            self._stream = file.openstream(name).read() if name else b""
        with suppress(*_BROKEN):
            self._read_globals()
        self._unread = dict(self._starts)

    def cells(self, sheet: str) -> Iterator[CellFormat]:
        """Yield the cells of a sheet that show their value otherwise than it is; its texts are known at the end."""
        start = self._starts.get(sheet)
        if start is not None:
            with suppress(*_BROKEN):
                yield from self._read_sheet(start)
                self._unread.pop(sheet, None)

    def read_others(self) -> None:
        """Read the texts of the sheets that were not read to their end, such as those that are charts."""
        for sheet in list(self._unread):
            for _ in self.cells(sheet):
                continue

    def _read_globals(self) -> None:
        codes = dict(BUILT_IN)
        styles: list[int] = []
        for kind, at, size in self._records(0):
            data = self._stream[at : at + size]
            if kind == _BOF:
                self._is_8 = _HEAD.unpack_from(data)[0] >= _VERSION_8
            elif kind == _EOF:
                break
            elif kind == _CODEPAGE:
                self._codec = codec_of(f"cp{int.from_bytes(data[:2], 'little')}") or FALLBACK
            elif kind == _SHEET:
                self._starts[self._text(data, 7, data[6])] = int.from_bytes(data[:4], "little")
            elif kind == _FORMAT and len(codes) < _MAX_FORMATS:
                codes[int.from_bytes(data[:2], "little")] = self._long_text(data[2:])
            elif kind == _XF and len(styles) < _MAX_FORMATS:
                styles.append(int.from_bytes(data[2:4], "little"))
        made = ((number, number_format(codes.get(identity, ""))) for number, identity in enumerate(styles))
        self._formats = {number: known for number, known in made if known is not None}

    def _read_sheet(self, start: int) -> Iterator[CellFormat]:
        depth = 0
        formats = self._formats
        for kind, at, size in self._records(start, _OF_TEXT if formats else _PLAIN):
            if kind in _NUMBERS:
                if depth == 1:
                    yield from self._formatted(kind, at, size)
            elif kind == _BOF:
                depth += 1
            elif kind == _EOF:
                depth -= 1
                if depth <= 0:
                    return
            elif kind in (_HEADER, _FOOTER):
                self._add(header_text(self._long_text(self._stream[at : at + size])))
            elif kind == _CHART_TEXT:
                self._add(self._text(self._stream[at : at + size], 3, self._stream[at + 2]))
            elif kind == _TEXT_BOX:
                self._add(self._box(at, size))

    def _formatted(self, kind: int, at: int, size: int) -> Iterator[CellFormat]:
        row, column, style = struct.unpack_from("<HHH", self._stream, at)
        if kind != _MANY_NUMBERS:
            if style in self._formats:
                yield CellFormat(row, column, self._formats[style])
            return
        for number in range((size - 6) // 6):
            (style,) = struct.unpack_from("<H", self._stream, at + 4 + 6 * number)
            if style in self._formats:
                yield CellFormat(row, column + number, self._formats[style])

    def _records(self, at: int, skipped: re.Pattern[bytes] | None = None) -> Iterator[tuple[int, int, int]]:
        """Yield kind, start and size of the records from a place on; those that are `skipped` are left out."""
        stream, end, unpack = self._stream, len(self._stream) - 4, _HEAD.unpack_from
        for number in count(1):
            if number % _RECORDS_PER_CHECK == 0:
                self._check_time()
            if skipped is not None:
                at = skipped.match(stream, at).end()  # type: ignore[union-attr]  # always matches
            if not 0 <= at <= end:
                return
            kind, size = unpack(stream, at)
            yield kind, at + 4, size
            at += 4 + size

    def _add(self, text: str) -> None:
        if folded := " ".join(text.split()):
            self.texts[folded] = None

    def _long_text(self, data: bytes) -> str:
        """Return a text that its length stands before."""
        if not data:
            return ""
        return (
            self._text(data, 2, int.from_bytes(data[:2], "little"))
            if self._is_8
            else self._text(data, 1, data[0])
        )

    def _text(self, data: bytes, at: int, size: int) -> str:
        """Return a text of so many characters; since version 8 a byte before it tells how wide they are."""
        if not self._is_8:
            return data[at : at + size].decode(self._codec, "replace")
        return _decoded(data[at : at + 1 + 2 * size], size)

    def _box(self, at: int, size: int) -> str:
        """Return the text of a box, which is in the records that continue it."""
        (left,) = struct.unpack_from("<H", self._stream, at + 10)
        parts = list[str]()
        for kind, start, length in self._records(at + size):
            if kind != _CONTINUE or left <= 0:
                break
            parts.append(_decoded(self._stream[start : start + length], left))
            left -= len(parts[-1])
        return "".join(parts)


def _decoded(data: bytes, size: int) -> str:
    """Return up to so many characters, which a byte with their width stands before."""
    if not data:
        return ""
    if data[0] & 1:
        return data[1 : 1 + 2 * size].decode("utf-16-le", "replace")
    return data[1 : 1 + size].decode("latin-1")
