"""Writes binary workbooks of Excel ([MS-XLSB]), with what tests look for in them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping

from support.files import zipped

_NAMESPACE = "http://schemas.openxmlformats.org/package/2006/relationships"
_KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

Cell = tuple[int, int, str | float, int]
"""Row, column, value and the number of its format, from 1 on; 0: General."""


def binary_workbook(
    sheets: Mapping[str, Iterable[Cell]],
    formats: Iterable[str] = (),
    headers: Iterable[str] = (),
    *,
    more: bytes = b"",
    flags: int = 0,
) -> bytes:
    """Return a workbook with these flags; `headers` are those of each sheet, and `more` are records at their end."""
    codes = list(formats)
    styles = record(615, struct.pack("<I", len(codes)))
    styles += b"".join(record(44, struct.pack("<H", 164 + at) + text(code)) for at, code in enumerate(codes))
    styles += record(616) + record(626, struct.pack("<I", 1)) + _style(9) + record(627)
    numbers = [0, *(164 + at for at in range(len(codes)))]
    styles += record(617, struct.pack("<I", len(numbers))) + b"".join(map(_style, numbers)) + record(618)
    book = b"".join(
        record(156, struct.pack("<II", 0, at) + text(f"rId{at}") + text(name))
        for at, name in enumerate(sheets, 1)
    )
    parts = {
        f"xl/worksheets/sheet{at}.bin": _sheet(cells, headers, more)
        for at, cells in enumerate(sheets.values(), 1)
    }
    relations = "".join(
        f'<Relationship Id="rId{at}" Type="{_KINDS}/worksheet" Target="worksheets/sheet{at}.bin"/>'
        for at in range(1, len(parts) + 1)
    )
    return zipped(
        {
            "[Content_Types].xml": '<Types><Default Extension="bin" '
            'ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/></Types>',
            "xl/workbook.bin": record(131)
            + record(153, struct.pack("<I", flags))
            + record(143)
            + book
            + record(144)
            + record(132),
            "xl/_rels/workbook.bin.rels": f'<Relationships xmlns="{_NAMESPACE}">{relations}</Relationships>',
            "xl/styles.bin": styles,
            **parts,
        }
    )


def _sheet(cells: Iterable[Cell], headers: Iterable[str], more: bytes) -> bytes:
    known = sorted(cells)
    last_row, last_column = (max((cell[at] for cell in known), default=0) for at in (0, 1))
    rows, last = b"", -1
    for row, column, value, style in known:
        if row != last:
            rows += record(0, struct.pack("<I13x", row))
            last = row
        place = struct.pack("<II", column, style)
        if isinstance(value, str):
            rows += record(6, place + text(value))
        elif value == int(value) and abs(value) < 1 << 28:
            rows += record(2, place + struct.pack("<I", (int(value) << 2 | 2) & 0xFFFFFFFF))
        else:
            rows += record(5, place + struct.pack("<d", value))
    head = b"".join(text(one) for one in headers)
    pages = record(479, b"\0\0" + head) + record(480) if head else b""
    size = record(148, struct.pack("<IIII", 0, last_row, 0, last_column))
    return record(129) + size + record(145) + rows + record(146) + pages + more + record(130)


def _style(number: int) -> bytes:
    return record(47, struct.pack("<HH12x", 0, number))


def record(kind: int, data: bytes = b"") -> bytes:
    """Return a record."""
    return _variable(kind) + _variable(len(data)) + data


def text(characters: str) -> bytes:
    """Return a text behind its length."""
    return struct.pack("<I", len(characters)) + characters.encode("utf-16-le")


def _variable(number: int) -> bytes:
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])
