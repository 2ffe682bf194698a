"""Writes workbooks as Excel did before 2007 ([MS-XLS]), with what tests look for in them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

from support.compound import Tree, compound

Cell = str | float


def old_workbook(
    sheets: Mapping[str, Iterable[tuple[int, int, Cell, int]]],
    formats: Iterable[str] = (),
    *,
    more: bytes = b"",
    name: str = "Workbook",
    beside: Tree | None = None,
) -> bytes:
    """Return a workbook; a cell is row, column, value and the number of its format, from 1 on; 0: General.

    `more` are records at the end of each sheet; `beside` is what else is in the compound file.
    """
    codes = ["General", *formats]
    head = _bof(5) + record(0x42, struct.pack("<H", 1200))
    head += b"".join(
        record(0x41E, struct.pack("<H", 164 + number) + long_text(code)) for number, code in enumerate(codes)
    )
    head += b"".join(
        record(0xE0, struct.pack("<HH16x", 0, 164 + number if number else 0)) for number in range(len(codes))
    )
    bodies = [_sheet(cells, more) for cells in sheets.values()]
    titles = [bytes([len(title)]) + _characters(title) for title in sheets]
    start = len(head) + sum(len(record(0x85, bytes(6) + title)) for title in titles) + 4
    for title, body in zip(titles, bodies, strict=True):
        head += record(0x85, struct.pack("<IH", start, 0) + title)
        start += len(body)
    stream = head + record(0x0A) + b"".join(bodies)
    return compound({name: stream.ljust(4096, b"\0"), **(beside or {})})


def _sheet(cells: Iterable[tuple[int, int, Cell, int]], more: bytes) -> bytes:
    rows = b""
    for row, column, value, style in cells:
        place = struct.pack("<HHH", row, column, style)
        if isinstance(value, str):
            rows += record(0x0204, place + long_text(value))
        elif value == int(value) and abs(value) < 1 << 28:
            rows += record(0x027E, place + struct.pack("<I", (int(value) << 2 | 2) & 0xFFFFFFFF))
        else:
            rows += record(0x0203, place + struct.pack("<d", value))
    return _bof(0x10) + record(0x200, struct.pack("<IIHHH", 0, 100, 0, 50, 0)) + rows + more + record(0x0A)


def many_numbers(row: int, column: int, values: Iterable[tuple[int, int]]) -> bytes:
    """Return the record of cells side by side: whole numbers and their formats."""
    known = list(values)
    data = b"".join(struct.pack("<HI", style, value << 2 | 2) for value, style in known)
    return record(0xBD, struct.pack("<HH", row, column) + data + struct.pack("<H", column + len(known) - 1))


def text_box(*parts: str) -> bytes:
    """Return the records of a text box or comment, whose text is in several records."""
    size = sum(map(len, parts))
    box = record(0x1B6, struct.pack("<10xHHI", size, 16, 0))
    return box + b"".join(record(0x3C, _characters(part)) for part in parts) + record(0x3C, bytes(16))


def chart(*words: str) -> bytes:
    """Return a chart with such words."""
    texts = (record(0x100D, struct.pack("<HB", 0, len(word)) + _characters(word)) for word in words)
    return _bof(0x20) + b"".join(texts) + record(0x0A)


def header(text: str) -> bytes:
    """Return the record of a header."""
    return record(0x14, long_text(text))


def footer(text: str) -> bytes:
    """Return the record of a footer."""
    return record(0x15, long_text(text))


def record(kind: int, data: bytes = b"") -> bytes:
    """Return a record."""
    return struct.pack("<HH", kind, len(data)) + data


def long_text(text: str) -> bytes:
    """Return a text behind its length."""
    return struct.pack("<H", len(text)) + _characters(text)


def _characters(text: str) -> bytes:
    """Return a text behind a byte that tells how wide its characters are."""
    return b"\1" + text.encode("utf-16-le") if not text.isascii() else b"\0" + text.encode()


def _bof(kind: int) -> bytes:
    return record(0x0809, struct.pack("<HHHHII", 0x600, kind, 0xDBB, 0x7CC, 0, 6))
