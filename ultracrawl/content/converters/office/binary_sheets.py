"""The records of a binary workbook of Excel ([MS-XLSB]): number formats, headers and footers, shared texts."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from ultracrawl.content.converters.office.formats import CellFormat, NumberFormat

_ROW, _TEXT, _FORMAT, _STYLE, _PROPERTIES, _SHEET = 0, 19, 44, 47, 153, 156
_BEGIN_STYLES, _END_STYLES = 617, 618
_NUMBERS = frozenset({2, 5, 9})
"""Records of cells with a number: a short one, a long one, and that of a formula."""
_HEADER_HEAD = b"\xdf\x03"
"""How the record of headers and footers begins; it comes after the cells, which may have these bytes, too."""
_MAX_TRIED = 1000
_HEADERS = 6
_MAX_HEADER_BYTES = 10_000
"""Bytes of that record; Excel has at most 255 characters in each."""
_NO_TEXT = 0xFFFFFFFF
_MAX_FORMATS = 65_536
_MAX_STYLES_SKIPPED = 256
_RECORDS_PER_CHECK = 20_000


def shared_texts(data: bytes) -> Iterator[str]:
    """Yield the texts in the table of a workbook (2.1.7.50)."""
    for _, record in _records_of(data, _TEXT):
        with suppress(struct.error):
            yield _text(record, 1)[0]


def read_styles(data: bytes) -> tuple[dict[int, str], list[int]]:
    """Return the codes of formats by their numbers, and the number of the format of each style of cells (2.1.7.51)."""
    codes: dict[int, str] = {}
    styles: list[int] = []
    are_of_cells = False
    for kind, record in _records_of(data, _FORMAT, _STYLE, _BEGIN_STYLES, _END_STYLES):
        if kind == _FORMAT and len(codes) < _MAX_FORMATS:
            with suppress(struct.error):
                codes[int.from_bytes(record[:2], "little")] = _text(record, 2)[0]
        elif kind in (_BEGIN_STYLES, _END_STYLES):
            are_of_cells = kind == _BEGIN_STYLES
        elif are_of_cells and len(styles) < _MAX_FORMATS:
            styles.append(int.from_bytes(record[2:4], "little"))
    return codes, styles


def sheet_relations(data: bytes) -> dict[str, str]:
    """Return the ids of the relations of a workbook to its sheets, by the names of these (2.1.7.61)."""
    found: dict[str, str] = {}
    for _, record in _records_of(data, _SHEET):
        with suppress(struct.error):
            relation, end = _text(record, 8)
            found[_text(record, end)[0]] = relation
    return found


def counts_from_1904(data: bytes) -> bool:
    """Return whether the days of a workbook are counted from 1904 on (2.4.822)."""
    return any(record[:1] and record[0] & 1 for _, record in _records_of(data, _PROPERTIES))


def headers_of(sheet: bytes) -> list[str]:
    """Return the headers and footers of a sheet with their codes; empty if it has none."""
    head = len(sheet)
    for _ in range(_MAX_TRIED):
        head = sheet.rfind(_HEADER_HEAD, 0, head)
        if head < 0:
            break
        size, at = _variable(sheet, head + len(_HEADER_HEAD))
        if size > _MAX_HEADER_BYTES:
            continue
        record, texts, end = sheet[at : at + size], list[str](), 2
        with suppress(struct.error):
            while end < size:
                text, end = _text(record, end)
                texts.append(text)
        if end == size and len(texts) == _HEADERS:
            return texts
    return []


def formatted_cells(
    sheet: bytes, formats: Mapping[int, NumberFormat], check_time: Callable[[], None]
) -> Iterator[CellFormat]:
    """Yield the cells whose number has a format, in the order of the sheet; `check_time` may raise."""
    row, skipped = 0, _others(formats)
    for number, (kind, at, size) in enumerate(_records(sheet, skipped), 1):
        if number % _RECORDS_PER_CHECK == 0:
            check_time()
        if kind == _ROW:
            row = int.from_bytes(sheet[at : at + 4], "little")
        elif kind in _NUMBERS and size >= 8:
            known = formats.get(int.from_bytes(sheet[at + 4 : at + 7], "little"))
            if known is not None:
                yield CellFormat(row, int.from_bytes(sheet[at : at + 4], "little"), known)


def _others(formats: Mapping[int, NumberFormat]) -> re.Pattern[bytes]:
    """Return what matches cells with a text, with no value, and with a number that no format shows."""
    cells = rb"\x07\x0c.{12}|\x01\x08.{8}|[\x03\x04]\x09.{9}"
    if 0 < len(formats) <= _MAX_STYLES_SKIPPED:
        styles = b"|".join(re.escape(number.to_bytes(3, "little")) for number in formats)
        cells += rb"|\x02\x0c.{4}(?!%b).{8}|\x05\x10.{4}(?!%b).{12}" % (styles, styles)
    return re.compile(rb"(?:%b)*+" % cells, re.DOTALL)


def _records_of(data: bytes, *kinds: int) -> Iterator[tuple[int, bytes]]:
    """Yield kind and bytes of the records of some kinds."""
    for kind, at, size in _records(data):
        if kind in kinds:
            yield kind, data[at : at + size]


def _records(data: bytes, skipped: re.Pattern[bytes] | None = None) -> Iterator[tuple[int, int, int]]:
    """Yield kind, start and size of the records; those that are `skipped` are left out."""
    at, end = 0, len(data)
    while True:
        if skipped is not None:
            at = skipped.match(data, at).end()  # type: ignore[union-attr]  # always matches
        if at >= end:
            return
        kind, at = _variable(data, at)
        size, at = _variable(data, at)
        yield kind, at, size
        at += size


def _variable(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of up to four bytes, whose highest bits tell whether another follows, and where it ends."""
    number = 0
    for place, byte in enumerate(data[at : at + 4]):
        number |= (byte & 0x7F) << 7 * place
        if not byte & 0x80:
            return number, at + place + 1
    return number, at + 4


def _text(record: bytes, at: int) -> tuple[str, int]:
    """Return a text behind its length, and where it ends. Raises `struct.error` where there is none."""
    (size,) = struct.unpack_from("<I", record, at)
    if size == _NO_TEXT:
        return "", at + 4
    end = at + 4 + 2 * size
    return record[at + 4 : end].decode("utf-16-le", "replace"), end
